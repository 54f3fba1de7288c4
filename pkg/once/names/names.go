// Package names is the rules of generated names: how Kubernetes makes one from
// metadata.generateName, how a name is taken apart again, and which names the
// plugin tries for one object. It is pure and never talks to a cluster.
//
// The server's rules are those of k8s.io/apiserver/pkg/storage/names
// (SimpleNameGenerator) and k8s.io/apimachinery/pkg/util/rand (String), which
// are the same in Kubernetes 1.27 to 1.37 and for every kind, custom resources
// included; IPAddress of networking.k8s.io alone generates nothing.
package names

import "strings"

const (
	// Alphabet holds the characters of a suffix: no vowels and no characters
	// that look like them, so that no words come out.
	Alphabet = "bcdfghjklmnpqrstvwxz2456789"
	// SuffixLength is the number of random characters, each one of Alphabet.
	SuffixLength = 5
	// MaxLength is the length in bytes that a generated name never exceeds.
	MaxLength = 63
	// MaxPrefixLength is the number of bytes of generateName that are kept.
	MaxPrefixLength = MaxLength - SuffixLength
)

// EffectivePrefix returns the start of each name that is generated from generateName:
// its first MaxPrefixLength (58) bytes. Prefixes with the same effective prefix share one name pool.
func EffectivePrefix(generateName string) string {
	return generateName[:min(len(generateName), MaxPrefixLength)]
}

// Split takes a name apart into the effective prefix and the suffix that it
// would have if it was generated. ok is false if the name does not end in five
// characters of Alphabet, has nothing before them, or is longer than a
// generated name can be. True does not mean that the name was generated.
func Split(name string) (prefix, suffix string, ok bool) {
	cut := len(name) - SuffixLength
	if cut < 1 || len(name) > MaxLength {
		return "", "", false
	}
	for i := cut; i < len(name); i++ {
		if !inAlphabet[name[i]] {
			return "", "", false
		}
	}
	return name[:cut], name[cut:], true
}

// GeneratedFrom reports whether a server can have made name from generateName:
// whether nothing but characters of Alphabet follows the effective prefix, at
// least one and however many, so that a server that generates longer suffixes is
// understood.
func GeneratedFrom(name, generateName string) bool {
	suffix, ok := strings.CutPrefix(name, EffectivePrefix(generateName))
	return ok && suffix != "" && strings.Trim(suffix, Alphabet) == ""
}

// inAlphabet has true for each character of Alphabet.
var inAlphabet = func() (table [256]bool) {
	for i := range len(Alphabet) {
		table[Alphabet[i]] = true
	}
	return table
}()

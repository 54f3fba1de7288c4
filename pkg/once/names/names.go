// Package names is the rules of generated names: how Kubernetes makes one from
// metadata.generateName, how a name is taken apart again, and which names the
// plugin tries for one object. It is pure and never talks to a cluster.
//
// The server's rules are those of k8s.io/apiserver/pkg/storage/names
// (SimpleNameGenerator) and k8s.io/apimachinery/pkg/util/rand (String), which
// are the same in Kubernetes 1.27 to 1.37 and for every kind, custom resources
// included; IPAddress of networking.k8s.io alone generates nothing.
package names

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

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
// whether one or more characters of Alphabet, and nothing else, follow the effective
// prefix. So longer suffixes are accepted, too.
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

// candidateDomain separates these hashes from all others, and versions them: a
// change of the derivation is a new version.
const candidateDomain = "genname.dev/candidate/v1\x00"

// Candidate returns a name as the server generates it: the first MaxPrefixLength bytes of
// generateName, and SuffixLength characters of Alphabet that follow from seed and attempt. If
// the cut splits a character of several bytes, the rest of the character is dropped, because
// JSON can't carry it. Names of RBAC's kinds can have such characters. Over seeds, every
// suffix is equally likely.
//
// The suffix is read from SHA-256(domain ‖ attempt ‖ block ‖ seed) for block 0,
// 1, …, with attempt and block as 32-bit big-endian integers: of each byte
// below 243 = 9·27 the remainder modulo 27 is an index into Alphabet, other
// bytes are passed over, which leaves no bias.
func Candidate(generateName, seed string, attempt uint32) string {
	name := make([]byte, 0, MaxLength)
	name = append(name, strings.ToValidUTF8(EffectivePrefix(generateName), "")...)
	want := len(name) + SuffixLength
	for block := uint32(0); ; block++ {
		for _, b := range candidateBlock(seed, attempt, block) {
			if int(b) >= 256/len(Alphabet)*len(Alphabet) {
				continue
			}
			name = append(name, Alphabet[int(b)%len(Alphabet)])
			if len(name) == want {
				return string(name)
			}
		}
	}
}

// candidateBlock returns one block of the bytes that a suffix is read from.
func candidateBlock(seed string, attempt, block uint32) [sha256.Size]byte {
	data := make([]byte, 0, len(candidateDomain)+8+len(seed))
	data = append(data, candidateDomain...)
	data = binary.BigEndian.AppendUint32(data, attempt)
	data = binary.BigEndian.AppendUint32(data, block)
	return sha256.Sum256(append(data, seed...))
}

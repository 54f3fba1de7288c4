// Package names has the rules of generated names. The package computes how Kubernetes generates a name from
// metadata.generateName, splits a name into prefix and suffix, and computes the names that the plugin sends for one
// object. The package never talks to a cluster.
//
// The server's rules are in k8s.io/apiserver/pkg/storage/names (SimpleNameGenerator) and
// k8s.io/apimachinery/pkg/util/rand (String). The server's rules are the same in Kubernetes 1.27 to 1.37, and for all
// kinds, including custom resources. The only exception is the kind IPAddress of networking.k8s.io, for which the
// server generates no names.
package names

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

const (
	// Alphabet has the characters of a suffix. Alphabet has no vowels, and no characters that look like vowels, so that
	// a suffix is never a word.
	Alphabet = "bcdfghjklmnpqrstvwxz2456789"
	// DefaultAttempts is the number of names that kubectl genname create tries for an object.
	DefaultAttempts = 16
	// SuffixLength is the number of random characters of Alphabet that the server appends.
	SuffixLength = 5
	// MaxLength is the largest length of a generated name in bytes.
	MaxLength = 63
	// MaxPrefixLength is the number of bytes that the server keeps of a generateName.
	MaxPrefixLength = MaxLength - SuffixLength
)

// EffectivePrefix returns the beginning of all names that are generated from generateName: its first
// MaxPrefixLength (58) bytes. Prefixes with the same effective prefix share one name pool.
func EffectivePrefix(generateName string) string {
	return generateName[:min(len(generateName), MaxPrefixLength)]
}

// Split splits a name into the effective prefix and the suffix that it would have if it was generated. ok is false
// if the name can't be generated: it doesn't end in five characters of Alphabet, has nothing before them, or is
// too long. If ok is true, the name can still be a fixed name.
func Split(name string) (prefix, suffix string, ok bool) {
	cut := len(name) - SuffixLength
	if cut < 1 || len(name) > MaxLength {
		return "", "", false
	}
	for _, symbol := range []byte(name[cut:]) {
		if strings.IndexByte(Alphabet, symbol) < 0 {
			return "", "", false
		}
	}
	return name[:cut], name[cut:], true
}

// candidateDomain is a part of the input of each hash of Candidate, so that no other hash is equal. It contains the
// version of the derivation.
const candidateDomain = "genname.dev/candidate/v1\x00"

// Candidate returns a name in the server's format: the first MaxPrefixLength bytes of generateName, and
// SuffixLength characters of Alphabet that are derived from seed and attempt. For a random seed, all suffixes have
// the same probability. If the cut splits a character of several bytes, Candidate drops the rest of that
// character, because JSON can't contain it. Names of RBAC objects can have such characters.
//
// The suffix is derived from the bytes of SHA-256(domain ‖ attempt ‖ block ‖ seed) for block 0, 1, …, where
// attempt and block are 32-bit big-endian integers. A byte below 243 = 9·27 gives the character of Alphabet with
// the index byte mod 27. Other bytes are skipped, so there is no bias.
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

func candidateBlock(seed string, attempt, block uint32) [sha256.Size]byte {
	data := make([]byte, 0, len(candidateDomain)+8+len(seed))
	data = append(data, candidateDomain...)
	data = binary.BigEndian.AppendUint32(data, attempt)
	data = binary.BigEndian.AppendUint32(data, block)
	return sha256.Sum256(append(data, seed...))
}

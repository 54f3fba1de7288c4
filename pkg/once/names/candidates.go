package names

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// candidateDomain separates these hashes from all others, and versions them: a
// change of the derivation is a new version.
const candidateDomain = "genname.dev/candidate/v1\x00"

// MaxSuffixLength is the length of the longest suffix of a Candidate.
const MaxSuffixLength = 11

// Candidate returns the name to try for the object with the given creation id in
// its attempt-th attempt (0, 1, …): the first MaxLength-length bytes of
// generateName, and length characters of Alphabet (SuffixLength as the server
// does it, from 1 to MaxSuffixLength). If the cut splits a character of several
// bytes, the rest of the character is dropped, because JSON can't carry it. Names
// of RBAC's kinds can have such characters. The same id gives the same names, in the same order,
// on every machine; over ids, every suffix is equally likely. It panics if no
// suffix has the length.
//
// The suffix is read from SHA-256(domain ‖ attempt ‖ block ‖ id) for block 0,
// 1, …, with attempt and block as 32-bit big-endian integers: of each byte
// below 243 = 9·27 the remainder modulo 27 is an index into Alphabet, other
// bytes are passed over, which leaves no bias.
func Candidate(generateName, id string, attempt uint32, length int) string {
	if length < 1 || length > MaxSuffixLength {
		panic(fmt.Sprintf("names.Candidate: a suffix has 1 to %d characters, not %d", MaxSuffixLength, length))
	}
	name := make([]byte, 0, MaxLength)
	name = append(name, strings.ToValidUTF8(generateName[:min(len(generateName), MaxLength-length)], "")...)
	want := len(name) + length
	for block := uint32(0); ; block++ {
		for _, b := range candidateBlock(id, attempt, block) {
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
func candidateBlock(id string, attempt, block uint32) [sha256.Size]byte {
	data := make([]byte, 0, len(candidateDomain)+8+len(id))
	data = append(data, candidateDomain...)
	data = binary.BigEndian.AppendUint32(data, attempt)
	data = binary.BigEndian.AppendUint32(data, block)
	return sha256.Sum256(append(data, id...))
}

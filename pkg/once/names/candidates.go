package names

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

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

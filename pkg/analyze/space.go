package analyze

import "fmt"

const (
	// AlphabetSize is the number of characters a generated suffix is made of:
	// "bcdfghjklmnpqrstvwxz2456789", that is the letters without vowels and y,
	// and the digits without 0, 1 and 3 (k8s.io/apimachinery, pkg/util/rand).
	AlphabetSize = 27

	// SuffixLength is the number of characters a kube-apiserver appends
	// (k8s.io/apiserver, pkg/storage/names).
	SuffixLength = 5

	// MaxSuffixLength is the longest suffix whose name space an int64 can
	// count.
	MaxSuffixLength = 13
)

// Space returns how many names a prefix has with a suffix of the given number
// of characters, AlphabetSize to that power. It fails unless the length is from
// 1 to MaxSuffixLength.
func Space(suffixLength int) (int64, error) {
	if suffixLength < 1 || suffixLength > MaxSuffixLength {
		return 0, fmt.Errorf("suffix length %d: must be from 1 to %d", suffixLength, MaxSuffixLength)
	}
	names := int64(1)
	for range suffixLength {
		names *= AlphabetSize
	}
	return names, nil
}

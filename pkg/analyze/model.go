package analyze

import (
	"fmt"
	"math"
)

const (
	// AlphabetSize is the number of characters in the alphabet of generated suffixes, "bcdfghjklmnpqrstvwxz2456789".
	// AlphabetSize has the letters without vowels and y, and the digits without 0, 1 and 3 (k8s.io/apimachinery,
	// pkg/util/rand).
	AlphabetSize = 27

	// SuffixLength is the number of characters a kube-apiserver appends
	// (k8s.io/apiserver, pkg/storage/names).
	SuffixLength = 5

	// MaxSuffixLength is the longest suffix whose name pool an int64 can count.
	MaxSuffixLength = 13
)

// NamePoolSize returns the number of names of a prefix with a suffix of the given length, AlphabetSize to that power.
// NamePoolSize fails unless the length is from 1 to MaxSuffixLength.
func NamePoolSize(suffixLength int) (int64, error) {
	if suffixLength < 1 || suffixLength > MaxSuffixLength {
		return 0, fmt.Errorf("suffix length %d: must be from 1 to %d", suffixLength, MaxSuffixLength)
	}
	names := int64(1)
	for range suffixLength {
		names *= AlphabetSize
	}
	return names, nil
}

// MaxAttempts is the largest number of attempts a Model accepts.
const MaxAttempts = 1 << 20

// Model is a name pool and the number of attempts of a create in it. Use NewModel. The zero Model
// has one name and one attempt. A Model is immutable, comparable, and safe for concurrent use.
type Model struct {
	names    int64
	attempts int
}

// NewModel returns the model of a pool of names (at least 1, see NamePoolSize) in which every
// create makes up to attempts attempts (1 to MaxAttempts). A kube-apiserver makes 1 attempt without
// the feature RetryGenerateName, and 8 with it. A client that sends r requests for a create
// multiplies the server's attempts by r.
func NewModel(names int64, attempts int) (Model, error) {
	if names < 1 {
		return Model{}, fmt.Errorf("name pool of %d names: must have at least 1", names)
	}
	if attempts < 1 || attempts > MaxAttempts {
		return Model{}, fmt.Errorf("%d attempts per create: must be from 1 to %d", attempts, MaxAttempts)
	}
	return Model{names: names, attempts: attempts}, nil
}

// Names returns the size N of the name pool.
func (m Model) Names() int64 { return max(m.names, 1) }

// Attempts returns the number t of names that one create tries.
func (m Model) Attempts() int { return max(m.attempts, 1) }

// NextFails returns the probability that the next create fails when existing names exist: (k/N)^t (KEP-4420), and 1
// if the pool is full. The result is 0 if the probability is below the float64 range. AnyFails(existing, 1) then
// still has its logarithm.
func (m Model) NextFails(existing int64) float64 {
	return math.Exp(m.lnNextFails(m.clamp(existing)))
}

func (m Model) lnNextFails(existing int64) float64 {
	share := float64(existing) / float64(m.Names())
	if share > 0.5 {
		return float64(m.Attempts()) * math.Log1p(-float64(m.Names()-existing)/float64(m.Names()))
	}
	return float64(m.Attempts()) * math.Log(share)
}

func (m Model) clamp(existing int64) int64 {
	return min(max(existing, 0), m.Names())
}

// split divides creates into those that still find a free name on the path without failures, and
// those that come after the last name is taken and fail for certain.
func (m Model) split(existing, creates int64) (possible, certain int64) {
	creates = max(creates, 0)
	possible = min(creates, m.Names()-existing)
	return possible, creates - possible
}

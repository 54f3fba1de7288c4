package live

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// fewDeleted is up to how many names that were deleted are a set, which takes a
	// megabyte then; more are bits, which take 1.8 MB.
	fewDeleted = 1 << 16
	// poolSize is the size of a name pool, 27^5, with the suffixes of a server.
	poolSize     = 14_348_907
	suffixLength = names.SuffixLength
)

// reuse counts the creates under names that have been deleted since it began.
type reuse struct {
	few   map[uint32]bool // the names that were deleted, if they are few
	many  []uint64        // else a bit for each name of a name pool
	count int64
}

// index is the number of a suffix among those of a server.
func index(name string) int {
	n := 0
	for i := len(name) - names.SuffixLength; i < len(name); i++ {
		n = n*len(names.Alphabet) + strings.IndexByte(names.Alphabet, name[i])
	}
	return n
}

func (r *reuse) created(name string) {
	n := index(name)
	if r.few[uint32(n)] || r.many != nil && r.many[n/64]&(1<<(n%64)) != 0 {
		r.count++
	}
}

func (r *reuse) removed(name string) {
	n := index(name)
	if r.many != nil {
		r.many[n/64] |= 1 << (n % 64)
		return
	}
	if r.few == nil {
		r.few = map[uint32]bool{}
	}
	r.few[uint32(n)] = true
	if len(r.few) < fewDeleted {
		return
	}
	r.many = make([]uint64, (poolSize+63)/64)
	for n := range r.few {
		r.many[n/64] |= 1 << (n % 64)
	}
	r.few = nil
}

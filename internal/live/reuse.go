package live

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// maxReuse is of how many spaces the re-use of names is counted: each takes 1.8 MB.
const maxReuse = 20

// space is the number of names of a prefix, 27^5, by suffixes of a server.
const (
	space        = 14_348_907
	suffixLength = names.SuffixLength
)

// reuse counts the creates under names that have been deleted since it began: a bit
// for each name of a space.
type reuse struct {
	deleted []uint64 // nil until a name is
	count   int64
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
	if n := index(name); r.deleted != nil && r.deleted[n/64]&(1<<(n%64)) != 0 {
		r.count++
	}
}

func (r *reuse) removed(name string) {
	if r.deleted == nil {
		r.deleted = make([]uint64, (space+63)/64)
	}
	n := index(name)
	r.deleted[n/64] |= 1 << (n % 64)
}

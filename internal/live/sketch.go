package live

import (
	"hash/maphash"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// A Count-Min sketch (Cormode and Muthukrishnan, "An improved data stream summary:
// the count-min sketch and its applications", Journal of Algorithms 55, 2005): each
// key is counted in one cell of each row, and the least of them is never below the
// truth, because others can only add to a cell. Deletes are counted, too: what is
// deleted has been added. Columns come from one hash by double hashing (Kirsch and
// Mitzenmacher, "Less hashing, same performance", 2008).
const (
	sketchRows = 4
	// leastWidth and mostWidth are how many cells a row has: 16 KiB and 8 MiB in all.
	leastWidth = 1 << 10
	mostWidth  = 1 << 19
)

// sketch counts the names of all spaces of a type, in bounded memory.
type sketch struct {
	rows  [sketchRows][]int32
	total int64
}

func newSketch() *sketch {
	s := &sketch{}
	for i := range s.rows {
		s.rows[i] = make([]int32, leastWidth)
	}
	return s
}

// hashSeed is that of all sketches of the process.
var hashSeed = maphash.MakeSeed()

// cell is the column of a key in a row.
func (s *sketch) cell(hash uint64, row int) uint64 {
	step := hash>>32 | 1
	return (hash + uint64(row)*step) & uint64(len(s.rows[0])-1)
}

// add counts n names more of a space, or fewer.
func (s *sketch) add(id spaces.ID, n int64) {
	hash := maphash.Comparable(hashSeed, id)
	for i := range s.rows {
		s.rows[i][s.cell(hash, i)] += int32(n)
	}
	s.total += n
	if width := int64(len(s.rows[0])); s.total > width && width < mostWidth {
		s.grow()
	}
}

// estimate returns how many names a space has, or more.
func (s *sketch) estimate(id spaces.ID) int64 {
	hash := maphash.Comparable(hashSeed, id)
	least := s.rows[0][s.cell(hash, 0)]
	for i := range s.rows {
		least = min(least, s.rows[i][s.cell(hash, i)])
	}
	return int64(least)
}

// grow doubles the rows. A key's new column is its old one, or that of the same
// place in the other half: with both halves the same, no count is below the truth.
func (s *sketch) grow() {
	for i, row := range s.rows {
		s.rows[i] = append(make([]int32, 0, 2*len(row)), row...)
		s.rows[i] = append(s.rows[i], row...)
	}
}

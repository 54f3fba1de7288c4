package exporter

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// ranked is a row and the value that it is ranked by.
type ranked struct {
	value float64
	row   pools.Row
}

// ranking keeps the rows with the largest values. If it must drop rows, a namespace keeps at most half of the places.
// So the prefixes of one namespace can't displace all prefixes of other namespaces.
type ranking struct {
	most  int
	rows  []ranked // up to twice as many as are kept
	least *ranked  // last row that is kept; nil while there is room
	// of has the number of ranked rows of each namespace. isShared reports whether rows of a namespace above its
	// half were dropped. Until then, each row of another namespace is kept, even if it is small.
	of       map[string]int
	isShared bool
}

// half returns the number of rows that a namespace keeps if others need the places.
func (k *ranking) half() int { return (k.most + 1) / 2 }

// offer adds a row if it might be among the first.
func (k *ranking) offer(r ranked) {
	if k.least != nil && compareRanked(r, *k.least) > 0 && (k.isShared || k.of[r.row.Pool.Namespace] >= k.half()) {
		return
	}
	if k.rows = append(k.rows, r); len(k.rows) >= 2*k.most {
		k.first()
	}
}

// first drops all rows but the first, and returns them.
func (k *ranking) first() []ranked {
	slices.SortFunc(k.rows, compareRanked)
	if len(k.rows) > k.most {
		k.of = map[string]int{}
		var kept, surplus []ranked
		for _, r := range k.rows {
			if k.of[r.row.Pool.Namespace]++; k.of[r.row.Pool.Namespace] > k.half() {
				surplus = append(surplus, r)
			} else {
				kept = append(kept, r)
			}
		}
		k.isShared = len(kept) >= k.most
		k.rows = slices.Concat(kept, surplus)[:k.most]
		slices.SortFunc(k.rows, compareRanked)
		least := k.rows[k.most-1]
		k.least = &least
	}
	return k.rows
}

// compareRanked compares two rows. The largest value comes first. Equal values are compared by their labels, so
// that the choice doesn't change between snapshots.
func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), a.row.Pool.Compare(b.row.Pool.Key))
}

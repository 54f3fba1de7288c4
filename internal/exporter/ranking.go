package exporter

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
)

// ranked is a row and the value that it is ranked by.
type ranked struct {
	value float64
	pool  Pool
	row   live.Row
}

// ranking keeps the rows with the largest values. If it has to drop rows, a namespace keeps at most
// half of them, so that its prefixes can't push out those of others.
type ranking struct {
	most  int
	rows  []ranked // up to twice as many as are kept
	floor *ranked  // the least row that is kept, nil while there is room
}

// offer takes a row if it may be among the first.
func (k *ranking) offer(r ranked) {
	if k.floor != nil && compareRanked(r, *k.floor) > 0 {
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
		of := map[string]int{}
		var kept, surplus []ranked
		for _, r := range k.rows {
			if of[r.pool.Namespace]++; of[r.pool.Namespace] > (k.most+1)/2 {
				surplus = append(surplus, r)
			} else {
				kept = append(kept, r)
			}
		}
		k.rows = slices.Concat(kept, surplus)[:k.most]
		slices.SortFunc(k.rows, compareRanked)
		floor := k.rows[k.most-1]
		k.floor = &floor
	}
	return k.rows
}

// compareRanked orders rows, the largest value first. Equal values rank by their labels, so that the
// choice doesn't change between snapshots.
func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), ComparePools(a.pool, b.pool))
}

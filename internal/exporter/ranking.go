package exporter

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
)

// ranked is a row and the value that it is ranked by.
type ranked struct {
	value float64
	row   live.Row
}

// ranking keeps the rows with the largest values. If it has to drop rows, a namespace keeps at most
// half of them, so that its prefixes can't push out those of others.
type ranking struct {
	most  int
	rows  []ranked // up to twice as many as are kept
	least *ranked  // of the rows that were kept last, nil while there is room
	// of are how many rows of each namespace were ranked last. isShared is whether those above its half
	// were dropped. Until then, a row of another namespace is kept, however small it is.
	of       map[string]int
	isShared bool
}

// half is how many rows a namespace keeps if others need the rest.
func (k *ranking) half() int { return (k.most + 1) / 2 }

// offer takes a row if it may be among the first.
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

// compareRanked orders rows, the largest value first. Equal values rank by their labels, so that the
// choice doesn't change between snapshots.
func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), a.row.Pool.Compare(b.row.Pool.Key))
}

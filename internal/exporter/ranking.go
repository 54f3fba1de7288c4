package exporter

import (
	"cmp"
	"container/heap"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
)

// ranked is a row and the value that it is ranked by.
type ranked struct {
	value float64
	pool  Pool
	row   live.Row
}

// ranking keeps the rows with the largest values, in a heap whose first is the least.
type ranking struct {
	most int
	rows []ranked
}

// offer takes a row if it is among the first.
func (k *ranking) offer(r ranked) {
	switch {
	case len(k.rows) < k.most:
		heap.Push(k, r)
	case before(k.rows[0], r):
		k.rows[0] = r
		heap.Fix(k, 0)
	}
}

// before reports whether a ranks behind b. Equal values rank by their labels, so that the
// choice doesn't change between snapshots.
func before(a, b ranked) bool {
	return cmp.Or(cmp.Compare(a.value, b.value), ComparePools(b.pool, a.pool)) < 0
}

// Len implements heap.Interface.
func (k *ranking) Len() int { return len(k.rows) }

// Less implements heap.Interface.
func (k *ranking) Less(i, j int) bool { return before(k.rows[i], k.rows[j]) }

// Swap implements heap.Interface.
func (k *ranking) Swap(i, j int) { k.rows[i], k.rows[j] = k.rows[j], k.rows[i] }

// Push implements heap.Interface.
func (k *ranking) Push(r any) { k.rows = append(k.rows, r.(ranked)) }

// Pop implements heap.Interface. Nothing is ever taken out.
func (k *ranking) Pop() any { return nil }

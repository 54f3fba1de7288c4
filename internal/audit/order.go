package audit

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// NextFails returns the chance that the next create fails with the attempts in force.
// Unknown attempts count as one.
func NextFails(item v1alpha1.AuditItem) float64 {
	if item.NextCreate.ServerRetry != nil {
		return *item.NextCreate.ServerRetry
	}
	return item.NextCreate.NoRetry
}

// Order is a way to sort the rows of a report.
type Order string

const (
	// ByNames begins with the most names.
	ByNames Order = "names"
	// ByLast10m begins with the most objects of the last ten minutes.
	ByLast10m Order = "last-10m"
	// ByLast24h begins with the most objects of the last 24 hours.
	ByLast24h Order = "last-24h"
	// ByPrefix is alphabetical. It breaks the ties of the others.
	ByPrefix Order = "prefix"
	// ByRate begins with the prefix that grows fastest while it is watched.
	ByRate Order = "rate"
)

// Orders are those of an audit without a watch.
var Orders = []Order{ByNames, ByLast10m, ByLast24h, ByPrefix}

// Of returns the number by which the order sorts a prefix or a fold first: its names, unless the
// order is by recent objects.
func (o Order) Of(names, last10m, last24h int64) int64 {
	switch o {
	case ByLast10m:
		return last10m
	case ByLast24h:
		return last24h
	default:
		return names
	}
}

// rank returns the number by which the order sorts a row, before its names and its prefix.
func (o Order) rank(r *row) float64 {
	switch o {
	case ByLast10m, ByLast24h:
		return float64(o.Of(r.Pool.Names, last(&r.Pool, Last10m), last(&r.Pool, Last24h)))
	case ByRate:
		if m := measured(&r.Row); m != nil && m.RatePerDay != nil {
			return *m.RatePerDay
		}
	case ByNames, ByPrefix:
	}
	return 0
}

// compare orders two rows that a report may show.
func (o Order) compare(a, b *row) int {
	if o == ByPrefix {
		return byPrefix(a, b)
	}
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.Pool.Names, a.Pool.Names), byPrefix(a, b))
}

// byPrefix orders name pools by the fields that tell them apart.
func byPrefix(a, b *row) int {
	x, y := &a.Pool, &b.Pool
	return cmp.Or(
		cmp.Compare(x.Prefix, y.Prefix), cmp.Compare(x.Namespace, y.Namespace),
		cmp.Compare(x.Resource.Group, y.Resource.Group), cmp.Compare(x.Resource.Resource, y.Resource.Resource))
}

// top has the first rows of an order.
type top struct {
	order Order
	limit int // 0 for none
	rows  []*row
}

// add takes a row, and returns rows that are certainly not among the first.
func (t *top) add(r *row) (below []*row) {
	r.rank = t.order.rank(r)
	if t.limit > 0 && len(t.rows) >= t.limit && len(t.rows)/2 >= t.limit {
		below = t.trim()
	}
	t.rows = append(t.rows, r)
	return below
}

// trim sorts the rows, and returns those that are not among the first.
func (t *top) trim() (below []*row) {
	slices.SortFunc(t.rows, t.order.compare)
	if t.limit == 0 || len(t.rows) <= t.limit {
		return nil
	}
	below = slices.Clone(t.rows[t.limit:])
	clear(t.rows[t.limit:])
	t.rows = t.rows[:t.limit]
	return below
}

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
	// ByPrefix is alphabetical. In other orders, it decides between equal values.
	ByPrefix Order = "prefix"
	// ByRate begins with the prefix that grows fastest while it is watched.
	ByRate Order = "rate"
)

// Orders are the orders of an audit without a watch.
var Orders = []Order{ByNames, ByLast10m, ByLast24h, ByPrefix}

// Of returns the number by which the order sorts a prefix or a fold. The number is the number of names, unless the
// order uses recent objects or the rate. Both of these can be unknown.
func (o Order) Of(names int64, last10m, last24h *int64, watched *v1alpha1.Measured) float64 {
	switch {
	case o == ByLast10m && last10m != nil:
		return float64(*last10m)
	case o == ByLast24h && last24h != nil:
		return float64(*last24h)
	case o == ByRate && watched != nil && watched.RatePerDay != nil:
		return *watched.RatePerDay
	case o == ByRate:
		return 0
	default:
		return float64(names)
	}
}

// OfFold returns the number by which the order sorts a fold first.
func (o Order) OfFold(f v1alpha1.AuditFolded) float64 {
	return o.Of(f.Names, f.Last10m, f.Last24h, f.Measured)
}

// rank returns the number by which the order sorts a row. Of rows with equal numbers, those with more names are first.
func (o Order) rank(r *row) float64 {
	switch o {
	case ByLast10m, ByLast24h:
		return o.Of(r.Pool.Names, new(last(&r.Pool, Last10m)), new(last(&r.Pool, Last24h)), nil)
	case ByRate:
		return o.Of(0, nil, nil, measured(&r.Row))
	case ByNames, ByPrefix:
	}
	return 0
}

// compare compares two rows that a report might show.
func (o Order) compare(a, b *row) int {
	if o == ByPrefix {
		return byPrefix(a, b)
	}
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.Pool.Names, a.Pool.Names), byPrefix(a, b))
}

// byPrefix orders name pools by the fields that tell them apart.
func byPrefix(a, b *row) int {
	return cmp.Or(cmp.Compare(a.Pool.Prefix, b.Pool.Prefix), a.Pool.Compare(b.Pool.Key))
}

// top keeps the first limit of many values. Its memory grows with the limit, not with the number of values.
type top[T any] struct {
	limit   int // 0 for none
	compare func(a, b T) int
	values  []T  // up to twice the limit
	isFull  bool // values was cut to limit at least once, so a value after values[limit-1] isn't among the first
}

// takes reports whether a value might be among the first.
func (t *top[T]) takes(value T) bool {
	return !t.isFull || t.compare(value, t.values[t.limit-1]) <= 0
}

// add adds a value if it might be among the first.
func (t *top[T]) add(value T) {
	if !t.takes(value) {
		return
	}
	if t.values = append(t.values, value); t.limit > 0 && len(t.values) >= 2*t.limit {
		t.first()
	}
}

// first returns the first values in order, and drops all others.
func (t *top[T]) first() []T {
	slices.SortFunc(t.values, t.compare)
	if t.limit > 0 && len(t.values) >= t.limit {
		clear(t.values[t.limit:])
		t.values, t.isFull = t.values[:t.limit], true
	}
	return t.values
}

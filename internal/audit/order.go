package audit

import (
	"cmp"

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

// setRank sets the number by which the order sorts a row, before its names and its prefix.
func (c *Collector) setRank(r *row) {
	switch o := &c.options; o.Order {
	case ByLast10m, ByLast24h:
		r.rank = float64(o.Order.Of(r.Names, last(&r.NamePool, Last10m), last(&r.NamePool, Last24h)))
	case ByRate:
		r.rank = 0
		if m := r.measured; m != nil && m.RatePerDay != nil {
			r.rank = *m.RatePerDay
		}
	case ByNames, ByPrefix:
	}
}

// compare orders two rows that a report may show.
func (o Order) compare(a, b *row) int {
	if o == ByPrefix {
		return byPrefix(a, b)
	}
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.Names, a.Names), byPrefix(a, b))
}

// byPrefix orders name pools by the fields that tell them apart.
func byPrefix(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		cmp.Compare(a.SuffixLength, b.SuffixLength))
}

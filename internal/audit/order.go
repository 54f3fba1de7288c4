package audit

import (
	"cmp"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Risk returns the chance that the next create conflicts with the attempts in
// force; unknown attempts count as one.
func Risk(item v1alpha1.AuditItem) float64 {
	if item.NextCreate.ServerRetry != nil {
		return *item.NextCreate.ServerRetry
	}
	return item.NextCreate.NoRetry
}

// Order is a way to sort the spaces of a report.
type Order string

const (
	// ByRisk begins with the highest chance that the next create conflicts.
	ByRisk Order = "risk"
	// ByCount begins with the most names.
	ByCount Order = "count"
	// ByRate begins with the most recent creations.
	ByRate Order = "rate"
	// ByPrefix is alphabetical. It breaks the ties of the others.
	ByPrefix Order = "prefix"
)

// Orders are all of them.
var Orders = []Order{ByRisk, ByCount, ByRate, ByPrefix}

// compare orders two spaces that a report may show.
func (o Order) compare(a, b *row) int {
	switch o {
	case ByRisk:
		return cmp.Or(cmp.Compare(b.risk, a.risk), cmp.Compare(b.Names, a.Names), byPrefix(a, b))
	case ByCount:
		return cmp.Or(cmp.Compare(b.Names, a.Names), byPrefix(a, b))
	case ByRate:
		return cmp.Or(cmp.Compare(b.Recent[0], a.Recent[0]), byPrefix(a, b))
	}
	return byPrefix(a, b)
}

// byPrefix orders spaces by prefix, namespace and resource, which no two share.
func byPrefix(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
}

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

// Order compares two spaces that a report may show.
type Order func(a, b *row) int

// Orders are the ways to sort a report: by "risk", the chance that the next create
// conflicts, by "count", the number of names, and by "rate", the number of recent
// creations, each with the largest first; and by "prefix", which breaks the ties of
// the others.
var Orders = map[string]Order{
	"risk": func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.risk, a.risk), cmp.Compare(b.Names, a.Names), byPrefix(a, b))
	},
	"count":  func(a, b *row) int { return cmp.Or(cmp.Compare(b.Names, a.Names), byPrefix(a, b)) },
	"rate":   func(a, b *row) int { return cmp.Or(cmp.Compare(b.Recent, a.Recent), byPrefix(a, b)) },
	"prefix": byPrefix,
}

// byPrefix orders spaces by prefix, namespace and resource, which no two share.
func byPrefix(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
}

package audit

import (
	"cmp"
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// NextFails returns the chance that the next create fails with the attempts in
// force; unknown attempts count as one.
func NextFails(item v1alpha1.AuditItem) float64 {
	if item.NextCreate.ServerRetry != nil {
		return *item.NextCreate.ServerRetry
	}
	return item.NextCreate.NoRetry
}

// Order is a way to sort the spaces of a report.
type Order string

const (
	// ByRisk begins with the spaces that hurt lists and etcd whatever their odds,
	// and goes on with the highest chance that a create fails within the forecast.
	ByRisk Order = "risk"
	// ByCount begins with the most names.
	ByCount Order = "count"
	// ByRate begins with the highest rate of creation.
	ByRate Order = "rate"
	// ByPrefix is alphabetical. It breaks the ties of the others.
	ByPrefix Order = "prefix"
)

// Orders are all of them.
var Orders = []Order{ByRisk, ByCount, ByRate, ByPrefix}

// manyNames is how many names make a space rank first: no odds must hide those.
const manyNames = 100_000

// rank is what a space is sorted by, beside its names and its prefix.
type rank struct {
	known        bool
	risk, perDay float64
}

// setRank works out the rank of a row, as far as the order needs it.
func (c *Collector) setRank(r *row) (err error) {
	r.rank.known = true
	switch c.options.Order {
	case ByRisk:
		r.rank.risk, err = c.risk(r)
	case ByRate:
		r.rank.perDay, err = c.perDay(r)
	case ByCount, ByPrefix:
	}
	return err
}

// risk returns what the order of risks goes by.
func (c *Collector) risk(r *row) (float64, error) {
	if r.Names >= manyNames {
		return math.Inf(1), nil
	}
	perDay, err := c.perDay(r)
	if err != nil {
		return 0, err
	}
	return c.estimate.risk(r.NamePool, c.attemptsInForce(r.NamePool), perDay)
}

// perDay returns the rate of creation that counts.
func (c *Collector) perDay(r *row) (float64, error) {
	seen, err := c.estimate.rate(r.Recent)
	creates := seen.creates()
	creates.Measured = r.measured
	perDay, _ := creates.RatePerDay()
	return perDay, err
}

// compare orders two spaces that a report may show.
func (o Order) compare(a, b *row) int {
	if o == ByPrefix {
		return byPrefix(a, b)
	}
	return cmp.Or(
		cmp.Compare(b.rank.risk, a.rank.risk), cmp.Compare(b.rank.perDay, a.rank.perDay),
		cmp.Compare(b.Names, a.Names), byPrefix(a, b))
}

// byPrefix orders spaces by what no two share all of.
func byPrefix(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		cmp.Compare(a.SuffixLength, b.SuffixLength))
}

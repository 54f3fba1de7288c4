package audit

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const day = 24 * time.Hour

// Options are the scope of an audit, the rows that it shows, and the limits of its gate.
type Options struct {
	// Watched is true for the rows of a watch. Its report has no verdict.
	Watched bool
	// Fullest is the number of the fullest name pools that a Result has.
	Fullest int
	// Namespace is the only one that is counted; empty for all.
	Namespace string
	// LabelSelector is that of the scan, for the report to say; empty for none.
	LabelSelector string
	// Began is when the audit began, and AsOf the time of the counts, if it has gone on
	// since; zero for Began.
	Began, AsOf time.Time
	// TypesNamed is true if the user named the types to count. A type that may
	// not be listed then makes the report incomplete; where all types are
	// counted, it does so only if there is a gate, and AllowUnlisted is false.
	TypesNamed    bool
	AllowUnlisted bool
	// Prefixes, if any, are the only effective prefixes that are taken, and
	// PrefixesOf, if any, those of a type.
	Prefixes   []string
	PrefixesOf map[schema.GroupResource][]string

	// Old is the audit to compare with, or nil.
	Old *v1alpha1.AuditReport

	// MinCount hides prefixes with fewer names. Top, if not 0, keeps only so
	// many items, the first by Order.
	MinCount int64
	Top      int
	Order    Order

	// FailAbove is the largest chance that the next create fails, FailAboveCount
	// the largest number of names, and FailAboveGrowth the largest growth per day
	// since Old, that pass the gate; nil for no limit.
	FailAbove       *float64
	FailAboveCount  *int64
	FailAboveGrowth *float64
}

// countedAt returns the time of the counts.
func (o *Options) countedAt() time.Time {
	if o.AsOf.IsZero() {
		return o.Began
	}
	return o.AsOf
}

// The times of the columns LAST-10M and LAST-24H.
const (
	Last10m = 10 * time.Minute
	Last24h = 24 * time.Hour
)

// Recent are the times over which the census counts recent creations: those of the columns.
var Recent = []time.Duration{Last10m, Last24h}

// last returns how many names of a name pool were created in one of these times.
func last(pool *pools.Pool, length time.Duration) int64 {
	return pool.Recent[slices.Index(Recent, length)]
}

// Gated reports whether there is a gate, which checks every row.
func (o *Options) Gated() bool {
	return o.FailAbove != nil || o.FailAboveCount != nil || o.FailAboveGrowth != nil
}

// CountsFrom returns from how many names on the audit has to know a prefix: from fewer
// than MinCount, which it hides, where it was named, a gate checks it, or Old may have
// it.
func (o *Options) CountsFrom() int64 {
	from := o.MinCount
	if o.FailAboveCount != nil {
		from = min(from, *o.FailAboveCount+1)
	}
	if o.FailAbove != nil { // no chance is above that of one attempt with the shortest suffix
		size, _ := analyze.NamePoolSize(names.SuffixLength)
		from = min(from, int64(*o.FailAbove*float64(size)))
	}
	if len(o.Prefixes) > 0 || o.FailAboveGrowth != nil || o.Old != nil {
		from = 1
	}
	return max(from, 1)
}

// Takes reports whether a prefix of a type is one of those that the audit is about.
func (o *Options) Takes(resource schema.GroupResource, prefix string) bool {
	if o.PrefixesOf != nil {
		return slices.Contains(o.PrefixesOf[resource], prefix)
	}
	return len(o.Prefixes) == 0 || slices.Contains(o.Prefixes, prefix)
}

// asNamed returns a prefix of a type as the user named it, if at all: PREFIX or TYPE/PREFIX.
func (o *Options) asNamed(resource schema.GroupResource, prefix string) string {
	if o.PrefixesOf == nil {
		return prefix
	}
	return resource.String() + "/" + prefix
}

// named returns the prefixes that the user named.
func (o *Options) named() (all []string) {
	if o.PrefixesOf == nil {
		return o.Prefixes
	}
	for resource, prefixes := range o.PrefixesOf {
		for _, prefix := range prefixes {
			all = append(all, o.asNamed(resource, prefix))
		}
	}
	slices.Sort(all)
	return all
}

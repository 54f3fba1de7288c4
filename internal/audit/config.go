package audit

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const day = 24 * time.Hour

// Config is the scope of an audit, the rows that it shows, and the limits of its gate.
type Config struct {
	// Watched is true for the rows of a watch. The report of a watch has no verdict.
	Watched bool
	// Namespace is the counted namespace, or empty for all.
	Namespace string
	// LabelSelector is the selector of the scan, which the report contains. LabelSelector can be empty.
	LabelSelector string
	// Began is the start of the audit. AsOf is the time of the counts of a watch. If AsOf is zero, it is Began.
	Began, AsOf time.Time
	// TypesNamed means that the user named the types to count. If TypesNamed is true, each type that the user can't
	// list makes the report incomplete. If TypesNamed is false, such a type makes the report incomplete only if there
	// is a gate and AllowUnlisted is false.
	TypesNamed    bool
	AllowUnlisted bool
	// Prefixes are the effective prefixes and the stems to count, and PrefixesOf those to count of single types. A long
	// prefix is in the list truncated and untruncated, because servers don't truncate stems. If both are empty, all
	// prefixes count.
	Prefixes   []string
	PrefixesOf map[schema.GroupResource][]string

	// Old is the audit to compare with, or nil.
	Old *v1alpha1.AuditReport

	// MinCount hides prefixes with fewer names. Top limits the number of items to the first by Order. With 0,
	// there is no limit. MinStem hides stems with fewer names.
	MinCount int64
	MinStem  int64
	Top      int
	Order    Order

	// FailAbove is the gate for the chance that the next create fails, FailAboveCount for the number of names, and
	// FailAboveGrowth for the growth per day since Old. Values above them exceed the gate. With nil, there is no
	// gate.
	FailAbove       *float64
	FailAboveCount  *int64
	FailAboveGrowth *float64
}

func (c *Config) countedAt() time.Time {
	if c.AsOf.IsZero() {
		return c.Began
	}
	return c.AsOf
}

// The times of the columns LAST-10M and LAST-24H.
const (
	Last10m = 10 * time.Minute
	Last24h = 24 * time.Hour
)

// Recent are the times for which the census counts recent creations. The table has a column for each.
var Recent = []time.Duration{Last10m, Last24h}

// last returns the number of names of a name pool that were created in the given time, which is one of Recent.
func last(pool *pools.Pool, length time.Duration) int64 {
	return pool.Recent[slices.Index(Recent, length)]
}

// Gated reports whether there is a gate that checks each row.
func (c *Config) Gated() bool {
	return c.FailAbove != nil || c.FailAboveCount != nil || c.FailAboveGrowth != nil
}

// least returns the number of names from which on the report shows a name pool.
func (c *Config) least(pool *pools.Pool) int64 {
	if pool.Naming == object.ByStem {
		return c.MinStem
	}
	return c.MinCount
}

// StemsFrom is CountsFrom for stems.
func (c *Config) StemsFrom() int64 { return c.countsFrom(c.MinStem) }

// CountsFrom returns the smallest number of names for which the census must return a prefix. The number is below
// MinCount if the audit also needs prefixes without a row, because of named prefixes, a gate, or a comparison with Old.
func (c *Config) CountsFrom() int64 {
	from := c.countsFrom(c.MinCount)
	if c.FailAbove != nil { // the chance of a failure is largest with one attempt
		size, _ := analyze.NamePoolSize(names.SuffixLength)
		from = min(from, int64(*c.FailAbove*float64(size)))
	}
	return max(from, 1)
}

func (c *Config) countsFrom(from int64) int64 {
	if c.FailAboveCount != nil {
		from = min(from, *c.FailAboveCount+1)
	}
	if len(c.Prefixes) > 0 || c.FailAboveGrowth != nil || c.Old != nil {
		from = 1
	}
	return max(from, 1)
}

// Takes reports whether the audit counts a prefix of a type.
func (c *Config) Takes(resource schema.GroupResource, prefix string) bool {
	if c.PrefixesOf != nil {
		return slices.Contains(c.PrefixesOf[resource], prefix)
	}
	return len(c.Prefixes) == 0 || slices.Contains(c.Prefixes, prefix)
}

// asNamed returns a prefix of a type in the notation of the user, PREFIX or TYPE/PREFIX. It replaces a long
// prefix by its effective prefix.
func (c *Config) asNamed(resource schema.GroupResource, prefix string) string {
	if prefix = names.EffectivePrefix(prefix); c.PrefixesOf == nil {
		return prefix
	}
	return resource.String() + "/" + prefix
}

func (c *Config) named() (all []string) {
	if c.PrefixesOf == nil {
		isLong := func(prefix string) bool { return len(prefix) > names.MaxPrefixLength } // Prefixes has it twice
		return slices.DeleteFunc(slices.Clone(c.Prefixes), isLong)
	}
	for resource, prefixes := range c.PrefixesOf {
		for _, prefix := range prefixes {
			all = append(all, c.asNamed(resource, prefix))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nearest has the most similar prefixes, by the prefixes that the user named.
type nearest map[string]pools.Near

// add compares a name pool with all named prefixes.
func (n nearest) add(config *Config, pool *pools.Pool) {
	named := config.Prefixes
	if config.PrefixesOf != nil {
		named = config.PrefixesOf[pool.GroupResource]
	}
	for _, prefix := range named {
		key := config.asNamed(pool.GroupResource, prefix)
		near := n[key]
		if near.Offer(prefix, pool.Prefix, pool.Names); near.Prefix != "" {
			n[key] = near
		}
	}
}

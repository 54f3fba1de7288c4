package audit

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Options are the scope of an audit, the rows that it shows, and the limits of its gate.
type Options struct {
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
func last(pool *census.NamePool, length time.Duration) int64 {
	return pool.Recent[slices.Index(Recent, length)]
}

// FoldBelow returns below how many names the census reads all controllers of a name pool.
func (o *Options) FoldBelow() int64 {
	if len(o.Prefixes) > 0 {
		return 0
	}
	return o.MinCount
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

// RetriesOf returns the attempts per create in one API, and a note about them that may be
// empty. Several goroutines may call it at once.
type RetriesOf func(schema.GroupVersion) (retries v1alpha1.Retries, note string)

// Collector takes the name pools of a census as they come, and keeps the rows that a report
// shows. Its memory grows with these rows, not with the number of prefixes.
type Collector struct {
	options   Options
	retriesOf RetriesOf
	estimate  *estimator
	old       *baseline // nil if there is nothing to compare with
	kept      kept
	watched   bool // it takes the rows of a watch
}

// NewCollector returns a Collector that has seen nothing. It calls retriesOf only once all is
// counted, unless there is a gate, a Top, or a MinCount above ten. It fails if the options'
// audits cannot be compared.
func NewCollector(options Options, retriesOf RetriesOf) (*Collector, error) {
	old, err := newBaseline(options.Old, &options)
	return &Collector{
		options: options, retriesOf: retriesOf, old: old, estimate: &estimator{},
	}, err
}

// Begin returns the batch of one list, as census.Scanner wants it.
func (c *Collector) Begin() census.Batch { return &batch{collector: c, into: &c.kept} }

// clientAttempts is the default of kubectl genname create for the attempts per object.
const clientAttempts = 16

// retries returns the attempts per create in a name pool, and a note about them that may be
// empty. The server doesn't retry client-generated names. kubectl genname create retries
// them itself, and other clients don't.
func (c *Collector) retries(pool census.NamePool) (retries v1alpha1.Retries, why string) {
	byClient := func(attempts int) v1alpha1.Retries {
		return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceDefault}
	}
	switch {
	case pool.ClientGenerated:
		return byClient(1), ""
	case pool.SuffixLength != names.SuffixLength, pool.Creator.HasCreationID && pool.Creators == 1:
		return byClient(clientAttempts), ""
	}
	return c.retriesOf(pool.Resource.GroupVersion())
}

// nextFails returns the chance that the next create in a name pool fails with the attempts
// in force. Unknown attempts count as one.
func (c *Collector) nextFails(pool census.NamePool) (float64, error) {
	retries, _ := c.retries(pool)
	model, err := modelOf(pool, knownAttempts(retries))
	return model.NextFails(pool.Names), err
}

// batch keeps the rows of one list until the list is complete.
type batch struct {
	collector *Collector
	into      *kept
	kept      kept
	last      *row   // of as many rows as the report shows, if there have been more
	free      []*row // that the report does not show: their memory is used again
}

// Begin implements census.Batch.
func (b *batch) Begin() census.Batch { return &batch{collector: b.collector, into: &b.kept} }

// Add implements census.Batch.
func (b *batch) Add(pool census.NamePool) { b.add(&pool, nil) }

// add takes a name pool, and its events if it was watched. There may be a million of them.
// So items are made at the end, and only of those that the report shows. A list doesn't wait
// for the server's retries, unless there is a gate or a Top.
func (b *batch) add(pool *census.NamePool, seen *live.Row) {
	options := &b.collector.options
	came := seen != nil && seen.Creates >= max(options.MinCount, 1) // however many of them are left
	if pool.Names == 0 && !came || !options.Takes(pool.Resource.GroupResource(), pool.Prefix) {
		return
	}
	b.kept.prefixes++
	if len(options.Prefixes) > 0 {
		b.kept.found.add(options.asNamed(pool.Resource.GroupResource(), pool.Prefix))
	}
	b.kept.see(b.collector.old, pool)
	b.kept.fail(b.evaluate(pool))
	if pool.Names < options.MinCount && !came {
		if pool.Names >= fewestToCompare && !b.collector.watched {
			b.kept.fail(b.collector.addToVerdict(&b.kept.verdict, pool))
		}
		b.kept.foldOrHide(pool)
		return
	}
	r := b.newRow()
	*r = row{NamePool: *pool, measured: r.measured}
	if seen != nil {
		r.measure(seen)
	}
	b.keep(r)
}

// keep keeps a row, unless the report shows only others.
func (b *batch) keep(r *row) {
	if b.last != nil {
		b.collector.setRank(r)
		if b.collector.options.Order.compare(r, b.last) > 0 {
			b.kept.hideBelowTop(b.collector, r)
			b.free = append(b.free, r)
			return
		}
	}
	b.kept.rows = append(b.kept.rows, r)
	if top := b.collector.options.Top; top > 0 && len(b.kept.rows)/2 >= top {
		b.free = append(b.free, b.kept.trim(b.collector)...)
		b.last = b.kept.rows[top-1]
	}
}

// newRow returns a row to be filled in, of the memory of one below the top if there is
// such.
func (b *batch) newRow() *row {
	last := len(b.free) - 1
	if last < 0 {
		return &row{}
	}
	r := b.free[last]
	b.free = b.free[:last]
	return r
}

// evaluate remembers the name pool if it exceeds a gate.
func (b *batch) evaluate(pool *census.NamePool) error {
	options := &b.collector.options
	if !options.Gated() {
		return nil
	}
	exceeds := options.FailAboveCount != nil && pool.Names > *options.FailAboveCount
	growth := b.collector.old.growthOf(*pool, options, v1alpha1.Retries{})
	if limit := options.FailAboveGrowth; limit != nil && growth != nil {
		switch {
		case growth.PerDay != nil && *growth.PerDay > *limit:
			exceeds = true
		case growth.PerDayMost > *limit:
			b.kept.undecided++
		}
	}
	if !exceeds && options.FailAbove == nil {
		return nil
	}
	chance, err := b.collector.nextFails(*pool)
	if err != nil || !exceeds && chance <= *options.FailAbove {
		return err
	}
	exceeded := v1alpha1.AuditExceeded{
		Resource:  pool.Resource.GroupResource().String(),
		Namespace: pool.Namespace, Prefix: textOf(pool.Prefix), Names: pool.Names, NextCreate: chance,
	}
	if growth != nil {
		exceeded.GrowthPerDay = growth.PerDay
	}
	b.kept.exceed(exceeded)
	return nil
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	b.into.merge(&b.kept)
	if b.collector.options.Top > 0 {
		clear(b.into.trim(b.collector))
	}
	b.into.trimExceeded()
}

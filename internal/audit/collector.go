package audit

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Options is what an audit counts, what it shows of that, and what its gate lets
// pass.
type Options struct {
	// Namespace is the only one that is counted; empty for all.
	Namespace string
	// LabelSelector is that of the scan, for the report to say; empty for none.
	LabelSelector string
	// TypesNamed is true if the user named the types to count. A type that may
	// not be listed then makes the report incomplete; where all types are
	// counted, it does not.
	TypesNamed bool
	// Prefixes, if any, are the only effective prefixes that are taken.
	Prefixes []string

	// Window is the time over which the census counted recent creations, above
	// 0.
	Window time.Duration
	// Forecast is the horizon of the expected conflicts.
	Forecast time.Duration

	// MinCount hides prefixes with fewer names. Top, if not 0, keeps only so
	// many items, the first by Order.
	MinCount int64
	Top      int
	Order    Order

	// FailAbove is the largest chance that the next create conflicts, and
	// FailAboveCount the largest number of names, that pass the gate; nil for no
	// limit.
	FailAbove      *float64
	FailAboveCount *int64
}

// gated reports whether the audit has a gate.
func (o *Options) gated() bool { return o.FailAbove != nil || o.FailAboveCount != nil }

// takes reports whether a prefix is one of those that the audit is about.
func (o *Options) takes(prefix string) bool {
	return len(o.Prefixes) == 0 || slices.Contains(o.Prefixes, prefix)
}

// RetriesOf returns how many names are tried per create in one API, and in words
// what else is known of that, or nothing. Several goroutines may call it at once.
type RetriesOf func(schema.GroupVersion) (retries v1alpha1.Retries, note string)

// Collector takes the spaces of a census as they come and keeps what a report
// shows: its memory grows with that, not with the number of prefixes.
type Collector struct {
	options   Options
	retriesOf RetriesOf
	kept      kept
}

// NewCollector returns a Collector that has seen nothing. It calls retriesOf
// only once all is counted, unless there is a gate or a Top.
func NewCollector(options Options, retriesOf RetriesOf) *Collector {
	return &Collector{options: options, retriesOf: retriesOf}
}

// Begin returns the batch of one list, as census.Scanner wants it.
func (c *Collector) Begin() census.Batch { return &batch{collector: c, into: &c.kept} }

// risk returns the chance that the next create in a space conflicts with the
// attempts in force; unknown attempts count as one.
func (c *Collector) risk(space census.Space) (float64, error) {
	tries := 1
	if retries, _ := c.retriesOf(space.Resource.GroupVersion()); retries.Attempts != nil {
		tries = *retries.Attempts
	}
	model, err := modelOf(tries)
	return model.NextFails(space.Names), err
}

// batch is what is kept of one list until all of it is known to be right.
type batch struct {
	collector *Collector
	into      *kept
	kept      kept
}

// Begin implements census.Batch.
func (b *batch) Begin() census.Batch { return &batch{collector: b.collector, into: &b.kept} }

// Add implements census.Batch. There may be a million spaces, so items are made
// only of those that the report shows, at the end; nor does a list wait for
// the server's retries, unless there is a gate or a Top.
func (b *batch) Add(space census.Space) {
	options := &b.collector.options
	if space.Names == 0 || !options.takes(space.Prefix) {
		return
	}
	b.kept.prefixes++
	if len(options.Prefixes) > 0 {
		b.kept.find(space.Prefix)
	}
	b.kept.fail(b.judge(space))
	if space.Names < options.MinCount {
		b.kept.hide(place{space.Resource.GroupResource(), space.Namespace}, 1, space.Names)
		return
	}
	b.kept.rows = append(b.kept.rows, &row{Space: space})
	if options.Top > 0 && len(b.kept.rows)/2 >= options.Top {
		b.kept.trim(b.collector)
	}
}

// judge remembers the space if it exceeds a gate.
func (b *batch) judge(space census.Space) error {
	options := &b.collector.options
	tooMany := options.FailAboveCount != nil && space.Names > *options.FailAboveCount
	if !tooMany && options.FailAbove == nil {
		return nil
	}
	risk, err := b.collector.risk(space)
	if err != nil || !tooMany && risk <= *options.FailAbove {
		return err
	}
	b.kept.exceed(v1alpha1.AuditExceeded{
		Resource:  space.Resource.GroupResource().String(),
		Namespace: space.Namespace, Prefix: space.Prefix, Names: space.Names, NextCreate: risk,
	})
	return nil
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	b.into.merge(&b.kept)
	if b.collector.options.Top > 0 {
		b.into.trim(b.collector)
	}
	b.into.trimExceeded()
}

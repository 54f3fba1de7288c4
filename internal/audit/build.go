// Package audit makes the AuditReport of pkg/api/v1alpha1. The package takes the name pools that internal/census or
// internal/live has counted, and calculates chances with pkg/analyze. The package talks to no cluster, reads no clock
// and prints nothing.
package audit

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Counted has the types that an audit counts, and its counts.
type Counted struct {
	Server v1alpha1.AuditServer
	// Ended is when everything was counted.
	Ended time.Time
	// Types are the types that were to be counted.
	Types []census.Resource
	// Skipped are the types that were left out before the scan.
	Skipped []census.Skipped
	// Summary is the summary of the count. Summary.Skipped has the types that could not be read.
	Summary census.Summary
	// Folds are the objects that are in no name pool that counts.
	Folds []census.TypeFold
	// Others has the objects in no name pool that counts if the types are watched. It has one row for each type.
	Others []pools.Row
	// ByNumber has the number of objects of types that are not listed.
	ByNumber []v1alpha1.TypeObjects
	// Jobs is the result of census.Counts.Jobs.
	Jobs map[uint64]bool
}

// Result is a finished report, and the facts that a command prints beside it.
type Result struct {
	Report *v1alpha1.AuditReport
	// Coverage is the part of the scope that was read.
	Coverage census.Coverage
	// NotFound are the prefixes that the user named and that no counted name has. A prefix that the user named
	// with a type is TYPE/PREFIX. Prefixes in Gone are left out.
	NotFound []string
	// Nearest has the most similar counted prefix for each entry of NotFound.
	Nearest map[string]pools.Near
	// OnlyBefore and OnlyNow are the types, as RESOURCE.GROUP, that were not
	// compared, because only the earlier audit read them, or only this one.
	OnlyBefore, OnlyNow []string
	// OnlyNamespace is set if this audit read all namespaces and the earlier audit only one. Then only this
	// namespace was compared.
	OnlyNamespace string
	// OtherCluster is true if the earlier audit is of another cluster.
	OtherCluster bool
	// OnlyPrefixes are the prefixes of the earlier audit if it was about fewer prefixes than this audit.
	// Then only these prefixes were compared.
	OnlyPrefixes []string
}

// maxExceeded limits the name pools in a report that exceed a gate.
const maxExceeded = 1000

// Build makes the report on all name pools. The function rows passes them to its argument each, and Build reads
// counted after rows returns. Memory grows with the rows that the report shows, not with the name pools. It
// fails if the audits of config can't be compared, or if pkg/analyze rejects the number of attempts.
func Build(rows func(each func(pools.Row)), counted *Counted, config Config, odds *Odds) (*Result, error) {
	old, err := newBaseline(config.Old, &config)
	if err != nil {
		return nil, err
	}
	b := &builder{
		config: &config, odds: odds, old: old, folds: map[foldKey]*fold{},
		found: map[string]bool{}, near: nearest{}, seen: map[v1alpha1.PrefixRef]bool{},
		shown:    top[*row]{limit: config.Top, compare: config.Order.compare},
		exceeded: top[v1alpha1.AuditExceeded]{limit: maxExceeded, compare: compareExceeded},
		verdict: verdict{
			unknown:     map[string]bool{},
			createdMost: top[v1alpha1.AuditMostCreated]{limit: mostCreatedShown, compare: compareCreated},
		},
	}
	var r row
	rows(func(pool pools.Row) {
		r.Row = pool
		b.add(&r)
	})
	b.addFolds(counted)
	for i := range counted.Others {
		b.addOthers(&counted.Others[i])
	}
	b.jobs = counted.Jobs
	return b.result(counted)
}

// builder collects the name pools for a report.
type builder struct {
	config *Config
	odds   *Odds
	old    *baseline // nil without an earlier audit

	shown         top[*row]
	exceeded      top[v1alpha1.AuditExceeded]
	exceededCount int64
	undecided     int64 // number of name pools whose growth might exceed a gate
	hidden        v1alpha1.AuditHidden
	folds         map[foldKey]*fold
	byNumber      []v1alpha1.TypeObjects
	verdict       verdict
	prefixes      int64
	found         map[string]bool             // prefixes that the user named and that have names
	seen          map[v1alpha1.PrefixRef]bool // name pools that the earlier audit has, by poolOf
	near          nearest
	newest        time.Time // creationTimestamp
	jobs          map[uint64]bool
	err           error // the first error
}

// row is a name pool that the report might show.
type row struct {
	pools.Row
	rank float64
}

// fail remembers the first error.
func (b *builder) fail(err error) { b.err = cmp.Or(b.err, err) }

// add adds a name pool. There can be a million name pools. So the builder makes items at the end, and only
// for the name pools that the report shows.
func (b *builder) add(r *row) {
	config, pool := b.config, &r.Pool
	isCreated := r.Followed && r.Creates >= max(config.MinCount, 1) // however many of its objects are left
	b.near.add(config, pool)
	if !config.Takes(pool.GroupResource, pool.Prefix) {
		return
	}
	if pool.Names == 0 && !isCreated {
		b.foldOrHide(r)
		return
	}
	b.prefixes++
	if pool.Newest.After(b.newest) {
		b.newest = pool.Newest
	}
	if len(config.Prefixes) > 0 {
		b.found[config.asNamed(pool.GroupResource, pool.Prefix)] = true
	}
	if of := poolOf(refOf(pool)); b.old != nil && pool.Names > 0 && b.old.names[of] > 0 {
		b.seen[of] = true
	}
	b.fail(b.evaluate(pool))
	isHidden := max(pool.Names, r.Peak) < config.least(pool) && !isCreated
	if !config.Watched && (!isHidden || pool.Names >= fewestToCompare) {
		b.fail(b.addToVerdict(pool))
	}
	if isHidden {
		b.foldOrHide(r)
		return
	}
	b.hide(pool) // unless add later shows it
	b.hidden.BelowTop++
	b.hidden.NamesBelowTop += pool.Names
	if r.rank = config.Order.rank(r); b.shown.takes(r) {
		kept := *r
		b.shown.add(&kept)
	}
}

// hide counts a name pool that the report doesn't show.
func (b *builder) hide(pool *pools.Pool) {
	b.hidden.Prefixes++
	b.hidden.Names += pool.Names
}

// evaluate remembers the name pool if it exceeds a gate.
func (b *builder) evaluate(pool *pools.Pool) error {
	config := b.config
	if !config.Gated() {
		return nil
	}
	exceeds := config.FailAboveCount != nil && pool.Names > *config.FailAboveCount
	growth := b.old.growthOf(pool, config, v1alpha1.Retries{})
	if limit := config.FailAboveGrowth; limit != nil {
		switch {
		case growth == nil:
			if !b.old.excluded[pool.GroupResource] && float64(pool.Names)/b.old.days > *limit {
				b.undecided++
			}
		case growth.PerDay != nil && *growth.PerDay > *limit:
			exceeds = true
		case growth.PerDayMost > *limit:
			b.undecided++
		}
	}
	if !exceeds && config.FailAbove == nil {
		return nil
	}
	chance, err := b.odds.nextFails(pool)
	if err != nil || !exceeds && chance <= *config.FailAbove {
		return err
	}
	exceeded := v1alpha1.AuditExceeded{
		Resource:  pool.String(),
		Namespace: pool.Namespace, Prefix: textOf(pool.Prefix), Naming: v1alpha1.Naming(pool.Naming),
		Names: pool.Names, NextCreate: chance,
	}
	if growth != nil {
		exceeded.GrowthPerDay = growth.PerDay
	}
	b.exceededCount++
	b.exceeded.add(exceeded)
	return nil
}

// compareExceeded compares name pools that exceed a gate. The worst comes first.
func compareExceeded(x, y v1alpha1.AuditExceeded) int {
	return cmp.Or(
		cmp.Compare(y.NextCreate, x.NextCreate), cmp.Compare(y.Names, x.Names), cmp.Compare(x.Prefix, y.Prefix),
		cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.Naming, y.Naming))
}

func (b *builder) result(counted *Counted) (*Result, error) {
	folded, shown := b.folded(), b.shown.first()
	items := make([]v1alpha1.AuditItem, len(shown))
	for i, r := range shown {
		b.hidden.Prefixes, b.hidden.Names = b.hidden.Prefixes-1, b.hidden.Names-r.Pool.Names
		b.hidden.BelowTop--
		b.hidden.NamesBelowTop -= r.Pool.Names
		var err error
		items[i], err = b.item(r)
		b.fail(err)
		shown[i] = nil // frees memory, because there can be many name pools
	}
	if b.err != nil {
		return nil, b.err
	}
	coverage := census.Coverage{
		Types: counted.Types, Skipped: slices.Concat(counted.Skipped, counted.Summary.Skipped),
		Namespace: b.config.Namespace, Named: b.config.TypesNamed,
		Gated: b.config.Gated(), AllowUnlisted: b.config.AllowUnlisted,
	}
	read := coverage.Read()
	report := &v1alpha1.AuditReport{
		TypeMeta: v1alpha1.TypeOf("AuditReport"),
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(b.config.countedAt())},
		Server:   counted.Server,
		Scope:    b.scope(census.Names(counted.Types)),
		Summary: v1alpha1.AuditSummary{
			ResourceTypes: len(read), Objects: counted.Summary.Objects,
			Prefixes: b.prefixes, Requests: counted.Summary.Requests,
			Seconds:      counted.Ended.Sub(b.config.Began).Seconds(),
			Inconsistent: append([]string{}, counted.Summary.Inconsistent...),
			AheadSeconds: b.aheadOf(counted.Ended),
		},
		Verdict:  b.verdictOn(folded),
		Items:    items,
		Folded:   folded,
		ByNumber: b.typeObjects(counted.ByNumber),
		Gone: b.old.gone(b.seen, func(key v1alpha1.PrefixRef) bool {
			return b.wasRead(key, read, coverage.Skipped)
		}),
		Hidden:  b.hidden,
		Skipped: append([]v1alpha1.Skipped{}, coverage.Skipped...),
		// A gate must not pass on an inconsistent list, which can miss objects.
		Complete: coverage.Complete() && (!coverage.Gated || len(counted.Summary.Inconsistent) == 0),
		Gate:     b.gate(),
	}
	result := &Result{
		Report: report, Coverage: coverage, NotFound: b.notFound(report.Gone), Nearest: b.near,
	}
	b.compared(result, read)
	return result, nil
}

// toleratedAhead is the time by which a creationTimestamp can be ahead of the server's clock without a note.
const toleratedAhead = time.Minute

// aheadOf returns the number of seconds by which the newest creationTimestamp is after the end of the audit. Such a
// timestamp was set by another API server, whose clock is ahead.
func (b *builder) aheadOf(ended time.Time) float64 {
	if ahead := b.newest.Sub(ended); !b.newest.IsZero() && ahead > toleratedAhead {
		return ahead.Truncate(time.Second).Seconds()
	}
	return 0
}

// compared records which parts of this audit were compared with the earlier audit.
func (b *builder) compared(result *Result, read []census.Resource) {
	result.OnlyBefore, result.OnlyNow = b.old.onlyIn(read)
	if b.old != nil && b.config.Namespace == "" {
		result.OnlyNamespace = b.old.report.Scope.Namespace
	}
	result.OtherCluster = b.old.isOfAnother(result.Report.Server.ClusterUID)
	result.OnlyPrefixes = b.old.onlyPrefixes(b.config.named())
}

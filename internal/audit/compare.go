package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// baseline is an earlier audit that another audit is compared with. Only types and namespaces that both audits have
// read are compared. The baseline is nil without --compare.
type baseline struct {
	report *v1alpha1.AuditReport
	hidden v1alpha1.AuditHidden          // prefixes and names that the earlier audit hid or folded
	days   float64                       // days from the earlier audit to the current one
	names  map[v1alpha1.PrefixRef]int64  // by poolOf
	types  map[schema.GroupResource]bool // types that the earlier audit read in at least one namespace
	holes  map[v1alpha1.PrefixRef]bool   // places (no prefix) or types (no namespace) that it could not read
	// excluded are the types that the earlier audit left out, because they have no generated names.
	excluded map[schema.GroupResource]bool
}

func refOf(pool *pools.Pool) v1alpha1.PrefixRef {
	return v1alpha1.PrefixRef{
		Group: pool.Group, Resource: pool.Resource, Namespace: pool.Namespace, Prefix: textOf(pool.Prefix),
		Naming: v1alpha1.Naming(pool.Naming),
	}
}

// poolOf returns the name pool of a row. Server-generated and client-generated names of a prefix are one
// pool, although its naming changes with the first object that has the generateName, and with the last.
func poolOf(row v1alpha1.PrefixRef) v1alpha1.PrefixRef {
	if row.Naming != v1alpha1.NamingStem {
		row.Naming = ""
	}
	return row
}

// newBaseline returns the baseline, or an error if the audits can't be compared. The time of a scan is its
// beginning, and the time of a watch is its end.
func newBaseline(report *v1alpha1.AuditReport, config *Config) (*baseline, error) {
	if report == nil {
		return nil, nil
	}
	age := config.countedAt().Sub(report.Metadata.CreationTimestamp.Time)
	switch scope := report.Scope; {
	case report.Metadata.CreationTimestamp.IsZero():
		return nil, errors.New("it does not say of when it is (metadata.creationTimestamp)")
	case age <= 0:
		counted := report.Metadata.CreationTimestamp.UTC().Format(time.RFC3339)
		return nil, fmt.Errorf("it is of %s, which is not before this one", counted)
	case scope.LabelSelector != config.LabelSelector:
		return nil, fmt.Errorf("its prefixes were chosen with --selector=%q, not %q",
			scope.LabelSelector, config.LabelSelector)
	case !scope.AllNamespaces && config.Namespace != "" && scope.Namespace != config.Namespace:
		return nil, fmt.Errorf("it read namespace %q, not %q", scope.Namespace, config.Namespace)
	}
	b := &baseline{
		report: report, days: age.Hours() / day.Hours(), hidden: report.Hidden,
		names: map[v1alpha1.PrefixRef]int64{}, types: map[schema.GroupResource]bool{},
		holes: map[v1alpha1.PrefixRef]bool{}, excluded: map[schema.GroupResource]bool{},
	}
	for _, name := range report.Scope.Resources {
		b.types[schema.ParseGroupResource(name)] = true
	}
	for _, s := range report.Skipped {
		b.skip(s)
	}
	for _, f := range report.Folded {
		b.hidden.Prefixes += f.Prefixes
		b.hidden.Names += f.Names
	}
	for _, i := range report.Items {
		b.names[poolOf(i.PrefixRef)] = i.Names
	}
	if len(b.types) == 0 {
		return nil, errors.New("it read no type")
	}
	return b, nil
}

// Comparable returns an error if the audits can't be compared.
func (c *Config) Comparable() error {
	_, err := newBaseline(c.Old, c)
	return err
}

// LeastAge is the smallest useful age of an earlier audit. With a shorter time, the growth per day would be
// extrapolated from a burst, or from nothing.
const LeastAge = 10 * time.Minute

// skip notes a type, or a namespace of it, that the earlier audit did not read.
func (b *baseline) skip(s v1alpha1.Skipped) {
	hole := v1alpha1.PrefixRef{Group: s.Group, Resource: s.Resource, Namespace: s.Namespace}
	if s.Namespace == "" || s.Namespace == b.report.Scope.Namespace {
		delete(b.types, hole.GroupResource())
		hole.Namespace = ""
	}
	b.holes[hole], b.excluded[hole.GroupResource()] = true, s.Reason == census.Excluded
}

// missed reports whether the earlier audit could not read the place of a name pool.
func (b *baseline) missed(key v1alpha1.PrefixRef) bool {
	hole := v1alpha1.PrefixRef{Group: key.Group, Resource: key.Resource}
	inNamespace := hole
	inNamespace.Namespace = key.Namespace
	return b.holes[hole] || b.holes[inNamespace]
}

// covers reports whether the earlier audit counted the objects of a name pool.
func (b *baseline) covers(key v1alpha1.PrefixRef) bool {
	scope := b.report.Scope
	return b.types[key.GroupResource()] && !b.missed(key) &&
		(scope.AllNamespaces || key.Namespace == scope.Namespace || key.Namespace == "") &&
		(len(scope.Prefixes) == 0 || b.isNamed(key))
}

// isNamed reports whether the user of the earlier audit named a prefix, as PREFIX or TYPE/PREFIX.
func (b *baseline) isNamed(key v1alpha1.PrefixRef) bool {
	prefix := names.EffectivePrefix(key.Prefix)
	return slices.ContainsFunc(b.report.Scope.Prefixes, func(named string) bool {
		return named == prefix || named == key.GroupResource().String()+"/"+prefix
	})
}

// before returns the smallest and the largest number of names that a name pool can have had in the earlier audit.
// least is negative if the number is unknown.
func (b *baseline) before(key v1alpha1.PrefixRef, pool *pools.Pool) (least, most int64) {
	if before, shown := b.names[poolOf(key)]; shown {
		return before, before
	}
	hidden, scope := b.hidden, b.report.Scope
	least = scope.MinCount
	switch {
	case key.Naming == v1alpha1.NamingNone && !b.isNamed(key): // only the current user named the prefix
		return -1, -1
	case pool.ClientGenerated: // with fewer names it was not evident
		most = max(scope.MinCount, pools.MinEvident) - 1
	case key.Naming == v1alpha1.NamingStem:
		if least = scope.MinStem; b.report.Verdict == nil { // a watch doesn't count smaller stems as hidden
			most = least - 1
		}
	}
	switch {
	case hidden.Names == 0:
		return 0, most
	case scope.Top > 0 && len(b.report.Items) >= scope.Top:
		return -1, -1 // --top might have removed it, however many names it had
	}
	return 0, max(most, min(least-1, hidden.Names))
}

// growthOf returns the growth of a name pool since the earlier audit, or nil if it is unknown.
func (b *baseline) growthOf(pool *pools.Pool, config *Config, retries v1alpha1.Retries) *v1alpha1.Growth {
	if b == nil {
		return nil
	}
	key := refOf(pool)
	if !b.covers(key) {
		return nil
	}
	least, most := b.before(key, pool)
	growth := &v1alpha1.Growth{
		Days: b.days, New: most == 0, PerDayMost: float64(pool.Names-max(least, 0)) / b.days,
	}
	if least >= 0 {
		grown := pool.Names - most
		growth.Names, growth.PerDay = &grown, new(float64(grown)/b.days)
		growth.DaysToGate = daysToGate(pool, config, retries, *growth.PerDay)
	}
	return growth
}

// daysToGate returns the number of days until a name pool exceeds a gate at the given growth, or nil if it never
// does.
func daysToGate(pool *pools.Pool, config *Config, retries v1alpha1.Retries, perDay float64) *float64 {
	limit := math.Inf(1)
	if config.FailAboveCount != nil {
		limit = float64(*config.FailAboveCount)
	}
	if config.FailAbove != nil {
		size, _ := analyze.NamePoolSize(names.SuffixLength)
		limit = min(limit, float64(size)*math.Pow(*config.FailAbove, 1/float64(knownAttempts(retries))))
	}
	switch left := limit - float64(pool.Names); {
	case left < 0:
		return new(float64(0))
	case perDay <= 0:
		return nil
	default:
		return v1alpha1.Finite(left / perDay)
	}
}

// gone returns the prefixes of the earlier audit that have no names now. seen are the name pools with names, and
// read reports whether a place was read.
func (b *baseline) gone(seen map[v1alpha1.PrefixRef]bool, read func(v1alpha1.PrefixRef) bool) []v1alpha1.AuditGone {
	if b == nil {
		return nil
	}
	var gone []v1alpha1.AuditGone
	for _, i := range b.report.Items {
		if i.Names > 0 && b.covers(i.PrefixRef) && !seen[poolOf(i.PrefixRef)] && read(i.PrefixRef) {
			gone = append(gone, v1alpha1.AuditGone{PrefixRef: i.PrefixRef, Names: i.Names})
		}
	}
	slices.SortFunc(gone, func(x, y v1alpha1.AuditGone) int {
		return cmp.Or(
			cmp.Compare(y.Names, x.Names), cmp.Compare(x.Prefix, y.Prefix), x.Compare(y.PrefixRef))
	})
	return gone
}

// isOfAnother reports whether the earlier audit was of another cluster. other is the UID of the current cluster.
// isOfAnother returns false if one of the UIDs is unknown.
func (b *baseline) isOfAnother(other string) bool {
	return b != nil && other != "" && b.report.Server.ClusterUID != "" && b.report.Server.ClusterUID != other
}

// onlyPrefixes returns the prefixes of the earlier audit if that audit was about fewer prefixes than the current
// one.
func (b *baseline) onlyPrefixes(now []string) []string {
	if b == nil || len(b.report.Scope.Prefixes) == 0 {
		return nil
	}
	before := b.report.Scope.Prefixes
	isOther := func(named string) bool {
		_, prefix, _ := strings.Cut(named, "/")
		return !slices.Contains(before, named) && !slices.Contains(before, prefix)
	}
	if len(now) > 0 && !slices.ContainsFunc(now, isOther) {
		return nil
	}
	return before
}

// onlyIn returns the types that only the earlier audit has read, and those that only the current audit has read,
// as sorted RESOURCE.GROUP.
func (b *baseline) onlyIn(read []census.Resource) (before, now []string) {
	if b == nil {
		return nil, nil
	}
	both := map[schema.GroupResource]bool{}
	for _, r := range read {
		if b.types[r.GroupResource()] {
			both[r.GroupResource()] = true
			continue
		}
		now = append(now, r.GroupResource().String())
	}
	for r := range b.types {
		if !both[r] {
			before = append(before, r.String())
		}
	}
	slices.Sort(before)
	slices.Sort(now)
	return before, now
}

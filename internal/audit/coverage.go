package audit

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// notFound returns the named prefixes that no counted name has. notFound leaves out gone, which had names in the
// earlier audit.
func (b *builder) notFound(gone []v1alpha1.AuditGone) (missing []string) {
	for _, g := range gone {
		b.found[b.config.asNamed(g.GroupResource(), g.Prefix)] = true
	}
	for _, n := range b.config.named() {
		if !b.found[n] {
			missing = append(missing, n)
		}
	}
	return missing
}

func (b *builder) scope(resources []string) v1alpha1.AuditScope {
	scope := v1alpha1.AuditScope{
		AllNamespaces: b.config.Namespace == "", Namespace: b.config.Namespace,
		Resources: resources, LabelSelector: b.config.LabelSelector, MinCount: b.config.MinCount,
		MinStem: b.config.MinStem, Top: b.config.Top,
	}
	for _, prefix := range b.config.named() {
		scope.Prefixes = append(scope.Prefixes, textOf(prefix))
	}
	if b.old != nil {
		scope.ComparedWith = &b.old.report.Metadata.CreationTimestamp
	}
	return scope
}

// wasRead reports whether the current audit read all names of a name pool that the earlier audit has.
func (b *builder) wasRead(key v1alpha1.PrefixRef, read []census.Resource, skipped []census.Skipped) bool {
	if b.config.Namespace != "" && key.Namespace != "" && key.Namespace != b.config.Namespace ||
		!b.config.Takes(key.GroupResource(), key.Prefix) {
		return false
	}
	hole := func(s census.Skipped) bool {
		return s.Group == key.Group && s.Resource == key.Resource && s.Namespace == key.Namespace
	}
	isType := func(r census.Resource) bool { return r.GroupResource() == key.GroupResource() }
	return slices.ContainsFunc(read, isType) && !slices.ContainsFunc(skipped, hole)
}

// typeObjects returns the types for which the report has only the number of objects. The largest type comes
// first.
func (b *builder) typeObjects(counts []v1alpha1.TypeObjects) []v1alpha1.TypeObjects {
	return slices.SortedFunc(slices.Values(slices.Concat(b.byNumber, counts)), func(x, y v1alpha1.TypeObjects) int {
		return cmp.Or(cmp.Compare(y.Objects, x.Objects),
			cmp.Compare(x.Group, y.Group), cmp.Compare(x.Resource, y.Resource))
	})
}

// gate returns the limits and the name pools that exceed them, or nil if there is no limit.
func (b *builder) gate() *v1alpha1.AuditGate {
	if !b.config.Gated() {
		return nil
	}
	return &v1alpha1.AuditGate{
		FailAbove: b.config.FailAbove, FailAboveCount: b.config.FailAboveCount,
		FailAboveGrowth: b.config.FailAboveGrowth, Undecided: b.undecided,
		ExceededCount: b.exceededCount,
		Exceeded:      append([]v1alpha1.AuditExceeded{}, b.exceeded.first()...),
	}
}

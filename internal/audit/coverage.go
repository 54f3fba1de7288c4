package audit

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// notFound returns the named prefixes that no counted name has, except those that are gone:
// they had names in the earlier audit.
func (b *builder) notFound(gone []v1alpha1.AuditGone) (missing []string) {
	for _, g := range gone {
		b.found[b.options.asNamed(schema.GroupResource{Group: g.Group, Resource: g.Resource}, g.Prefix)] = true
	}
	for _, n := range b.options.named() {
		if !b.found[n] {
			missing = append(missing, n)
		}
	}
	return missing
}

// scope returns the scope of the report.
func (b *builder) scope(resources []string) v1alpha1.AuditScope {
	scope := v1alpha1.AuditScope{
		AllNamespaces: b.options.Namespace == "", Namespace: b.options.Namespace,
		Resources: resources, LabelSelector: b.options.LabelSelector, MinCount: b.options.MinCount,
		Top: b.options.Top,
	}
	for _, prefix := range b.options.Prefixes {
		scope.Prefixes = append(scope.Prefixes, textOf(prefix))
	}
	if b.old != nil {
		scope.ComparedWith = &b.old.report.Metadata.CreationTimestamp
	}
	return scope
}

// whole returns the types of which at least a part was read.
func (b *builder) whole(coverage *Coverage) []census.Resource {
	return slices.DeleteFunc(slices.Clone(coverage.Resources), func(r census.Resource) bool {
		return slices.ContainsFunc(coverage.Summary.Skipped, func(s census.Skipped) bool {
			return s.Group == r.Group && s.Resource == r.Resource && !b.isPart(s)
		})
	})
}

// wasRead reports whether all names of a name pool of the earlier audit were read now.
func (b *builder) wasRead(key poolKey, read []census.Resource, skipped []census.Skipped) bool {
	if b.options.Namespace != "" && key.namespace != "" && key.namespace != b.options.Namespace ||
		!b.options.Takes(key.resource, key.prefix) {
		return false
	}
	hole := func(s census.Skipped) bool {
		return s.Group == key.resource.Group && s.Resource == key.resource.Resource && s.Namespace == key.namespace
	}
	isType := func(r census.Resource) bool { return r.GroupResource() == key.resource }
	return slices.ContainsFunc(read, isType) && !slices.ContainsFunc(skipped, hole)
}

// typeObjects returns numbers of objects as a report has them.
func typeObjects(counts []census.TypeCount) []v1alpha1.TypeObjects {
	var result []v1alpha1.TypeObjects
	for _, count := range counts {
		result = append(result, v1alpha1.TypeObjects{
			Group: count.Resource.Group, Resource: count.Resource.Resource, Objects: count.Objects,
		})
	}
	return result
}

// gate returns the limits and the name pools that exceed them, nil without a limit.
func (b *builder) gate() *v1alpha1.AuditGate {
	if !b.options.Gated() {
		return nil
	}
	b.trimExceeded()
	return &v1alpha1.AuditGate{
		FailAbove: b.options.FailAbove, FailAboveCount: b.options.FailAboveCount,
		FailAboveGrowth: b.options.FailAboveGrowth, Undecided: b.undecided,
		ExceededCount: b.exceededCount,
		Exceeded:      append([]v1alpha1.AuditExceeded{}, b.exceeded...),
	}
}

// complete reports whether everything in the scope was counted. A gate must not pass because
// the user can read nothing, so a scan that read no type is never complete. A gate must not
// pass on an inconsistent list either, which can miss objects.
func (b *builder) complete(coverage *Coverage, skipped []census.Skipped) bool {
	inconsistent := b.options.Gated() && len(coverage.Summary.Inconsistent) > 0
	if len(coverage.Resources) > 0 && len(b.whole(coverage)) == 0 || inconsistent {
		return false
	}
	return !slices.ContainsFunc(skipped, func(s census.Skipped) bool { return !b.mayMiss(s) })
}

// uncounted are the API groups of other servers that have no type whose objects can be
// created: measurements (k8s.io/metrics), and lists that are computed on request. A report is
// complete without them if their server is unreachable.
var uncounted = map[string]bool{
	"metrics.k8s.io":                true,
	"custom.metrics.k8s.io":         true,
	"external.metrics.k8s.io":       true,
	"packages.operators.coreos.com": true,
	"visibility.kueue.x-k8s.io":     true,
	"subresources.kubevirt.io":      true,
}

// mayMiss reports whether a report is complete without a skipped type: one that never has
// generated names or, without a gate, one that a scan of all types can't list.
func (b *builder) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Undiscovered, census.Unreachable:
		return s.Resource == "" && uncounted[s.Group]
	case census.Forbidden, census.NotListable:
		return !b.options.TypesNamed && !b.isPart(s) && (!b.options.Gated() || b.options.AllowUnlisted)
	}
	return false
}

// isPart reports whether one namespace of a type was skipped where all were to
// be counted.
func (b *builder) isPart(s census.Skipped) bool {
	return b.options.Namespace == "" && s.Namespace != ""
}

// skippedOf returns the skipped types as the report has them.
func skippedOf(skipped []census.Skipped) []v1alpha1.Skipped {
	result := make([]v1alpha1.Skipped, len(skipped))
	for i, s := range skipped {
		result[i] = v1alpha1.Skipped{
			Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Reason: string(s.Reason), Message: s.Message,
		}
	}
	return result
}

// resourceNames returns the resources as RESOURCE.GROUP.
func resourceNames(resources []census.Resource) []string {
	result := make([]string, len(resources))
	for i, r := range resources {
		result[i] = r.GroupResource().String()
	}
	return result
}

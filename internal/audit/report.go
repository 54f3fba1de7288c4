package audit

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Scan describes the scan of an audit.
type Scan struct {
	Server v1alpha1.AuditServer
	// Ended is when everything was counted.
	Ended time.Time
	// Resources are the types that were to be counted.
	Resources []census.Resource
	// Skipped are the types that were left out before the scan.
	Skipped []census.Skipped
	// Summary is that of the scan. The types that it could not read are in its Skipped.
	Summary census.Summary
}

// Result is a finished report, and the facts that a command prints beside it.
type Result struct {
	Report *v1alpha1.AuditReport
	// NotFound are those of the prefixes that were named, as TYPE/PREFIX where they were
	// named so, that no counted name has; and none that is in Gone.
	NotFound []string
	// Uncounted are the objects that have a generateName whose prefix was not counted.
	Uncounted []v1alpha1.TypeObjects
	// OnlyBefore and OnlyNow are the types, as RESOURCE.GROUP, that were not
	// compared, because only the earlier audit read them, or only this one.
	OnlyBefore, OnlyNow []string
	// OnlyNamespace is the only namespace that was compared where this audit read
	// all; else empty.
	OnlyNamespace string
	// OtherCluster is true if the earlier audit is of another cluster.
	OtherCluster bool
	// OnlyPrefixes are the only ones that were compared where this audit counted all,
	// or others; else none.
	OnlyPrefixes []string
}

// Report returns the report of all committed lists. scan has the rest of its content. It
// fails if pkg/analyze doesn't take the number of attempts.
func (c *Collector) Report(scan Scan) (*Result, error) {
	c.kept.trim(c)
	folded := c.folded()
	verdict, err := c.verdict(folded)
	if err != nil {
		return nil, err
	}
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	resources := resourceNames(scan.Resources)
	slices.Sort(resources)
	skipped := slices.Concat(scan.Skipped, scan.Summary.Skipped)
	read := c.whole(scan)
	report := &v1alpha1.AuditReport{
		TypeMeta: v1alpha1.TypeOf("AuditReport"),
		Metadata: v1alpha1.AuditMetadata{CreationTimestamp: metav1.NewTime(c.options.countedAt())},
		Server:   scan.Server,
		Scope:    c.scope(resources),
		Summary: v1alpha1.AuditSummary{
			ResourceTypes: len(read), Objects: scan.Summary.Objects,
			Prefixes: c.kept.prefixes, Requests: scan.Summary.Requests,
			Seconds:      scan.Ended.Sub(c.options.Began).Seconds(),
			Inconsistent: resourceNames(scan.Summary.Inconsistent),
		},
		Verdict:    verdict,
		Items:      items,
		Folded:     folded,
		Unprefixed: typeObjects(scan.Summary.Unprefixed),
		Gone:       c.old.gone(c.kept.seen, func(key poolKey) bool { return c.wasRead(key, read, skipped) }),
		Hidden:     c.kept.hidden,
		Skipped:    skippedOf(skipped),
		Complete:   c.complete(scan, skipped),
		Gate:       c.gate(),
	}
	result := &Result{
		Report: report, NotFound: c.notFound(report.Gone),
		Uncounted: typeObjects(scan.Summary.Uncounted),
	}
	result.OnlyBefore, result.OnlyNow = c.old.onlyIn(read)
	if c.old != nil && c.options.Namespace == "" {
		result.OnlyNamespace = c.old.report.Scope.Namespace
	}
	result.OtherCluster = c.old.isOfAnother(scan.Server.ClusterUID)
	result.OnlyPrefixes = c.old.onlyPrefixes(c.options.Prefixes)
	return result, nil
}

// notFound returns the named prefixes that no counted name has, except those that are gone:
// they had names in the earlier audit.
func (c *Collector) notFound(gone []v1alpha1.AuditGone) (missing []string) {
	for _, g := range gone {
		c.kept.found.add(c.options.asNamed(schema.GroupResource{Group: g.Group, Resource: g.Resource}, g.Prefix))
	}
	for _, n := range c.options.named() {
		if !c.kept.found[n] {
			missing = append(missing, n)
		}
	}
	return missing
}

// scope returns the scope of the report.
func (c *Collector) scope(resources []string) v1alpha1.AuditScope {
	scope := v1alpha1.AuditScope{
		AllNamespaces: c.options.Namespace == "", Namespace: c.options.Namespace,
		Resources: resources, LabelSelector: c.options.LabelSelector, MinCount: c.options.MinCount,
		Top: &c.options.Top,
	}
	for _, prefix := range c.options.Prefixes {
		scope.Prefixes = append(scope.Prefixes, textOf(prefix))
	}
	if c.old != nil {
		scope.ComparedWith = &c.old.report.Metadata.CreationTimestamp
	}
	return scope
}

// whole returns the types of which at least a part was read.
func (c *Collector) whole(scan Scan) []census.Resource {
	return slices.DeleteFunc(slices.Clone(scan.Resources), func(r census.Resource) bool {
		return slices.ContainsFunc(scan.Summary.Skipped, func(s census.Skipped) bool {
			return s.Group == r.Group && s.Resource == r.Resource && !c.isPart(s)
		})
	})
}

// wasRead reports whether all names of a name pool of the earlier audit were read now.
func (c *Collector) wasRead(key poolKey, read []census.Resource, skipped []census.Skipped) bool {
	if c.options.Namespace != "" && key.namespace != "" && key.namespace != c.options.Namespace ||
		!c.options.Takes(key.resource, key.prefix) {
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

// items returns an item for each name pool that is shown, in their order.
func (c *Collector) items() ([]v1alpha1.AuditItem, error) {
	items := make([]v1alpha1.AuditItem, len(c.kept.rows))
	for i, r := range c.kept.rows {
		var err error
		items[i], err = c.item(r)
		c.kept.fail(err)
		c.kept.rows[i] = nil // there may be very many
	}
	return items, c.kept.err
}

// gate returns the limits and the name pools that exceed them, nil without a limit.
func (c *Collector) gate() *v1alpha1.AuditGate {
	if !c.options.Gated() {
		return nil
	}
	return &v1alpha1.AuditGate{
		FailAbove: c.options.FailAbove, FailAboveCount: c.options.FailAboveCount,
		FailAboveGrowth: c.options.FailAboveGrowth, Undecided: c.kept.undecided,
		ExceededCount: c.kept.exceededCount,
		Exceeded:      append([]v1alpha1.AuditExceeded{}, c.kept.exceeded...),
	}
}

// complete reports whether everything in the scope was counted. A gate must not pass because
// the user can read nothing, so a scan that read no type is never complete. A gate must not
// pass on an inconsistent list either, which can miss objects.
func (c *Collector) complete(scan Scan, skipped []census.Skipped) bool {
	missed := len(scan.Summary.Uncounted) + len(scan.Summary.Inconsistent)
	if len(scan.Resources) > 0 && len(c.whole(scan)) == 0 || c.options.Gated() && missed > 0 {
		return false
	}
	return !slices.ContainsFunc(skipped, func(s census.Skipped) bool { return !c.mayMiss(s) })
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
func (c *Collector) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Undiscovered, census.Unreachable:
		return s.Resource == "" && uncounted[s.Group]
	case census.Forbidden, census.NotListable:
		return !c.options.TypesNamed && !c.isPart(s) && (!c.options.Gated() || c.options.AllowUnlisted)
	}
	return false
}

// isPart reports whether one namespace of a type was skipped where all were to
// be counted.
func (c *Collector) isPart(s census.Skipped) bool {
	return c.options.Namespace == "" && s.Namespace != ""
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

package audit

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Scan is what was scanned for an audit, and when.
type Scan struct {
	Server v1alpha1.AuditServer
	// Began and Ended are when the audit began, and when all was counted.
	Began, Ended time.Time
	// Resources are the types that were to be counted.
	Resources []census.Resource
	// Skipped is what was left out before the scan.
	Skipped []census.Skipped
	// Summary is what the scan did; what it could not read is in its Skipped.
	Summary census.Summary
}

// Result is a finished report, and what a command says beside it.
type Result struct {
	Report *v1alpha1.AuditReport
	// NotFound are those of Options.Prefixes that no counted name has.
	NotFound []string
	// MostHidden is where the most of the hidden names are; its zero value if
	// none is hidden.
	MostHidden Hidden
}

// Report returns the report of all lists that have been committed; scan says
// what else is in it. It fails if the tries that the server is said to make are
// no number that pkg/analyze takes.
func (c *Collector) Report(scan Scan) (*Result, error) {
	c.kept.trim(c)
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	resources := resourceNames(scan.Resources)
	slices.Sort(resources)
	skipped := slices.Concat(scan.Skipped, scan.Summary.Skipped)
	report := &v1alpha1.AuditReport{
		TypeMeta: v1alpha1.TypeOf("AuditReport"),
		Metadata: v1alpha1.AuditMetadata{CreationTimestamp: metav1.NewTime(scan.Began)},
		Server:   scan.Server,
		Scope: v1alpha1.AuditScope{
			AllNamespaces: c.options.Namespace == "", Namespace: c.options.Namespace,
			Resources: resources, LabelSelector: c.options.LabelSelector, MinCount: c.options.MinCount,
		},
		Summary: v1alpha1.AuditSummary{
			ResourceTypes: c.typesRead(scan), Objects: scan.Summary.Objects,
			Prefixes: c.kept.prefixes, Requests: scan.Summary.Requests,
			Seconds:      scan.Ended.Sub(scan.Began).Seconds(),
			Inconsistent: resourceNames(scan.Summary.Inconsistent),
		},
		Items:    items,
		Hidden:   c.kept.allHidden(),
		Skipped:  skippedOf(skipped),
		Complete: c.complete(scan, skipped),
		Gate:     c.gate(),
	}
	return &Result{
		Report: report, NotFound: c.kept.missing(c.options.Prefixes), MostHidden: c.kept.mostHidden(),
	}, nil
}

// items returns an item for each space that is shown, in their order.
func (c *Collector) items() ([]v1alpha1.AuditItem, error) {
	estimate := estimator{window: c.options.Window, forecast: c.options.Forecast}
	items := make([]v1alpha1.AuditItem, len(c.kept.rows))
	for i, r := range c.kept.rows {
		retries, note := c.retriesOf(r.Resource.GroupVersion())
		var err error
		items[i], err = estimate.item(r.Space, retries, note)
		c.kept.fail(err)
	}
	return items, c.kept.err
}

// gate returns what exceeds a gate, or nil if there is none.
func (c *Collector) gate() *v1alpha1.AuditGate {
	if !c.options.gated() {
		return nil
	}
	return &v1alpha1.AuditGate{
		FailAbove: c.options.FailAbove, FailAboveCount: c.options.FailAboveCount,
		ExceededCount: c.kept.exceededCount,
		Exceeded:      append([]v1alpha1.AuditExceeded{}, c.kept.exceeded...),
	}
}

// typesRead returns the number of types of which anything was read.
func (c *Collector) typesRead(scan Scan) int {
	types := len(scan.Resources)
	for _, s := range scan.Summary.Skipped {
		if !c.isPart(s) {
			types--
		}
	}
	return types
}

// complete reports whether everything was counted that was to be. A gate must
// not pass because nothing may be read, so a scan of no type at all is not
// complete, whatever the reasons.
func (c *Collector) complete(scan Scan, skipped []census.Skipped) bool {
	if len(scan.Resources) > 0 && c.typesRead(scan) == 0 {
		return false
	}
	return !slices.ContainsFunc(skipped, func(s census.Skipped) bool { return !c.mayMiss(s) })
}

// mayMiss reports whether a report is complete without what was skipped: what
// never holds generated names, and what a scan of all types may not list.
func (c *Collector) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Forbidden, census.NotListable:
		return !c.options.TypesNamed && !c.isPart(s)
	}
	return false
}

// isPart reports whether one namespace of a type was skipped where all were to
// be counted.
func (c *Collector) isPart(s census.Skipped) bool {
	return c.options.Namespace == "" && s.Namespace != ""
}

// skippedOf returns what was skipped as the report has it.
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

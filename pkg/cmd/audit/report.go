package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/assess"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// report is the report but for what the survey fills in.
func (o *options) report(c *cluster.Cluster, began time.Time, resources []census.Resource, summary census.Summary, skipped []census.Skipped) *v1alpha1.AuditReport {
	report := &v1alpha1.AuditReport{
		TypeMeta: v1alpha1.TypeOf("AuditReport"),
		Metadata: v1alpha1.AuditMetadata{CreationTimestamp: metav1.NewTime(began)},
		Server:   v1alpha1.AuditServer{GitVersion: c.GitVersion(), Retries: c.Retries()},
		Scope: v1alpha1.AuditScope{
			AllNamespaces: o.allNamespaces, Namespace: o.namespace, Resources: []string{},
			LabelSelector: o.labelSelector, MinCount: o.minCount,
		},
		Summary: v1alpha1.AuditSummary{
			ResourceTypes: len(resources) - o.typesSkipped(summary.Skipped), Objects: summary.Objects, Requests: summary.Requests,
			Seconds: time.Since(began).Seconds(), Inconsistent: []string{},
		},
		Skipped:  []v1alpha1.Skipped{},
		Complete: true,
	}
	for _, r := range resources {
		report.Scope.Resources = append(report.Scope.Resources, r.GroupResource().String())
	}
	slices.Sort(report.Scope.Resources)
	if len(resources) > 0 && report.Summary.ResourceTypes == 0 {
		report.Complete = false // a gate must not pass because nothing may be read
	}
	for _, s := range skipped {
		report.Skipped = append(report.Skipped, v1alpha1.Skipped{
			Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Reason: string(s.Reason), Message: s.Message,
		})
		report.Complete = report.Complete && o.mayMiss(s)
	}
	for _, r := range summary.Inconsistent {
		report.Summary.Inconsistent = append(report.Summary.Inconsistent, r.GroupResource().String())
	}
	return report
}

// typesSkipped is the number of types of which nothing was read.
func (o *options) typesSkipped(skipped []census.Skipped) (types int) {
	for _, s := range skipped {
		if !o.inPart(s) {
			types++
		}
	}
	return types
}

// inPart reports whether s is one namespace that was skipped where all are counted.
func (o *options) inPart(s census.Skipped) bool { return o.namespace == "" && s.Namespace != "" }

// mayMiss reports whether a report without what was skipped is whole: what never
// holds generated names, and what a scan of all types may not list.
func (o *options) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Forbidden, census.NotListable:
		return !o.named && !o.inPart(s)
	}
	return false
}

// explain says on stderr how much was read, and what is not shown.
func (o *options) explain(report *v1alpha1.AuditReport, survey *assess.Survey) {
	for _, s := range report.Skipped {
		if !o.quiet(s) {
			fmt.Fprintln(o.ErrOut, terminal.OneLine("Warning: skipped "+skippedName(s)+": "+s.Message))
		}
	}
	if forbidden := o.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		fmt.Fprintln(o.ErrOut, terminal.OneLine("Warning: "+forbiddenText(forbidden, report)))
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		fmt.Fprintln(o.ErrOut, terminal.OneLine("Warning: not of one instant, because a list expired or is not sorted: the counts of "+strings.Join(inconsistent, ", ")))
	}
	if report.Hidden.Prefixes > 0 {
		fmt.Fprintln(o.ErrOut, terminal.OneLine(o.hiddenText(report, survey.MostHidden())))
	}
	if none := survey.NotFound(); len(none) > 0 && report.Summary.ResourceTypes > 0 {
		fmt.Fprintln(o.ErrOut, terminal.OneLine(fmt.Sprintf("No name has the prefix %s: prefixes are matched whole; is a '-' missing?", strings.Join(none, " or "))))
	}
	s := report.Summary
	fmt.Fprintf(o.ErrOut, "Read %s of %s in %s and %.1f s: %s\n", humanize.Count(s.Objects, "object"), humanize.Count(int64(s.ResourceTypes), "type"), humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix"))
}

// hiddenText says how much is not shown and why, where the most of it is unless
// all is in one place, and how to see it where there is nothing else.
func (o *options) hiddenText(report *v1alpha1.AuditReport, most assess.Hidden) string {
	hidden := report.Hidden
	text := fmt.Sprintf("%s hidden, with %s, by --min-count=%d", humanize.Count(hidden.Prefixes, "prefix"), humanize.Count(hidden.Objects, "name"), o.minCount)
	if o.top > 0 {
		text += fmt.Sprintf(" and --top=%d", o.top)
	}
	if o.allNamespaces || len(report.Scope.Resources) > 1 {
		text += ", " + mostText(most, hidden.Objects)
	}
	if len(report.Items) == 0 {
		text += "; --min-count=1 shows them"
	}
	return text
}

// mostText says which part of the hidden names is where the most of them are.
func mostText(most assess.Hidden, hidden int64) string {
	where := most.Resource.String()
	if most.Namespace != "" {
		where += " in namespace " + most.Namespace
	}
	switch {
	case most.Names == hidden:
		return "all of them " + where
	case 2*most.Names > hidden:
		return fmt.Sprintf("most of them %s: %s", where, humanize.Count(most.Names, "name"))
	}
	return fmt.Sprintf("the most %s: %s", where, humanize.Count(most.Names, "name"))
}

// forbiddenText says which types the user may not list, and that a gate that
// was given says nothing about them.
func forbiddenText(forbidden []string, report *v1alpha1.AuditReport) string {
	types := humanize.Count(len(forbidden), "type")
	list := strings.Join(forbidden, ", ")
	switch {
	case len(forbidden) == len(report.Scope.Resources):
		return fmt.Sprintf("skipped all %s: you may list none of them (needs list)", types)
	case report.Gate != nil:
		return fmt.Sprintf("the gate was not checked for %s that you may not list (%s); name the types to make that a failure", types, list)
	}
	return fmt.Sprintf("skipped %s that you may not list (needs list): %s", types, list)
}

func skippedName(s v1alpha1.Skipped) string {
	text := s.Group
	if s.Resource != "" {
		text = schema.GroupResource{Group: s.Group, Resource: s.Resource}.String()
	}
	if s.Namespace != "" {
		text += " in " + s.Namespace
	}
	return text
}

// quiet reports whether s is not worth a warning of its own where types were not named.
func (o *options) quiet(s v1alpha1.Skipped) bool {
	return !o.named && (s.Reason == string(census.Excluded) || o.isForbiddenType(s))
}

// isForbiddenType reports whether s is a type of which the user may list nothing.
func (o *options) isForbiddenType(s v1alpha1.Skipped) bool {
	return s.Reason == string(census.Forbidden) && s.Namespace == o.namespace
}

// forbiddenTypes are what one warning is enough for.
func (o *options) forbiddenTypes(skipped []v1alpha1.Skipped) []string {
	var types []string
	for _, s := range skipped {
		if !o.named && o.isForbiddenType(s) {
			s.Namespace = ""
			types = append(types, skippedName(s))
		}
	}
	return types
}

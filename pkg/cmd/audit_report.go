package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/census"
)

// report is the report but for what the survey fills in.
func (o *auditOptions) report(c *counter, began time.Time, resources []census.Resource, summary census.Summary, skipped []census.Skipped) *v1alpha1.AuditReport {
	report := &v1alpha1.AuditReport{
		TypeMeta: v1alpha1.TypeOf("AuditReport"),
		Metadata: v1alpha1.AuditMetadata{CreationTimestamp: metav1.NewTime(began)},
		Server:   v1alpha1.AuditServer{GitVersion: c.gitVersion(), Retries: c.retries},
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
func (o *auditOptions) typesSkipped(skipped []census.Skipped) (types int) {
	for _, s := range skipped {
		if !o.inPart(s) {
			types++
		}
	}
	return types
}

// inPart tells a namespace that was skipped where all are counted.
func (o *auditOptions) inPart(s census.Skipped) bool { return o.namespace == "" && s.Namespace != "" }

// mayMiss tells whether a report without what was skipped is whole: what never
// holds generated names, and what a scan of all types may not list.
func (o *auditOptions) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Forbidden, census.NotListable:
		return !o.named && !o.inPart(s)
	}
	return false
}

// explain says on stderr how much was read, and what is not shown.
func (o *auditOptions) explain(report *v1alpha1.AuditReport) {
	for _, s := range report.Skipped {
		if !o.quiet(s) {
			fmt.Fprintln(o.ErrOut, oneLine("Warning: skipped "+skippedName(s)+": "+s.Message))
		}
	}
	if forbidden := o.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		fmt.Fprintln(o.ErrOut, oneLine(fmt.Sprintf("Warning: skipped %s that you may not list (needs list): %s", count(len(forbidden), "type"), strings.Join(forbidden, ", "))))
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		fmt.Fprintln(o.ErrOut, oneLine("Warning: not of one instant, because a list expired or is not sorted: the counts of "+strings.Join(inconsistent, ", ")))
	}
	if hidden := report.Hidden; hidden.Prefixes > 0 {
		fmt.Fprintf(o.ErrOut, "%s hidden, with %s, by --min-count=%d%s\n", count(hidden.Prefixes, "prefix"), count(hidden.Objects, "name"), o.minCount, o.topText())
	}
	s := report.Summary
	fmt.Fprintf(o.ErrOut, "Read %s of %s in %s and %.1f s: %s\n", count(s.Objects, "object"), count(int64(s.ResourceTypes), "type"), count(s.Requests, "request"), s.Seconds, count(s.Prefixes, "prefix"))
}

func (o *auditOptions) topText() string {
	if o.top == 0 {
		return ""
	}
	return fmt.Sprintf(" and --top=%d", o.top)
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

// quiet tells what is not worth a warning of its own where types were not named.
func (o *auditOptions) quiet(s v1alpha1.Skipped) bool {
	return !o.named && (s.Reason == string(census.Excluded) || o.isForbiddenType(s))
}

// isForbiddenType tells a type of which the user may list nothing.
func (o *auditOptions) isForbiddenType(s v1alpha1.Skipped) bool {
	return s.Reason == string(census.Forbidden) && s.Namespace == o.namespace
}

// forbiddenTypes are what one warning is enough for.
func (o *auditOptions) forbiddenTypes(skipped []v1alpha1.Skipped) []string {
	var types []string
	for _, s := range skipped {
		if !o.named && o.isForbiddenType(s) {
			s.Namespace = ""
			types = append(types, skippedName(s))
		}
	}
	return types
}

// judge makes the exit code: an exceeded gate is 3, also if not all could be
// read, since counts only grow; otherwise an incomplete report is a failure.
func (o *auditOptions) judge(ctx context.Context, report *v1alpha1.AuditReport) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, lines: []string{"interrupted: the counts are not complete"}}
	case report.Gate != nil && len(report.Gate.Exceeded) > 0:
		return &exitError{code: exitGate, lines: []string{fmt.Sprintf("%s above the limit: %s", count(report.Gate.ExceededCount, "prefix"), nameExceeded(report.Gate.Exceeded[0]))}}
	case !report.Complete:
		return errors.New("not everything could be read: the counts are not complete")
	}
	return nil
}

func nameExceeded(e v1alpha1.AuditExceeded) string {
	where := ""
	if e.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", e.Namespace)
	}
	return oneLine(fmt.Sprintf("%s/%s%s has %s names", e.Resource, e.Prefix, where, grouped(e.Names)))
}

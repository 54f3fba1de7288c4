package cmd

import (
	"cmp"
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
			ResourceTypes: len(resources) - len(summary.Skipped), Objects: summary.Objects, Requests: summary.Requests,
			Seconds: time.Since(began).Seconds(),
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
	return report
}

// mayMiss tells whether a report without what was skipped is whole: what never
// holds generated names, and what a scan of all types may not list.
func (o *auditOptions) mayMiss(s census.Skipped) bool {
	switch s.Reason {
	case census.Excluded:
		return true
	case census.Forbidden, census.NotListable:
		return !o.named
	}
	return false
}

// explain says on stderr how much was read, and what is not shown.
func (o *auditOptions) explain(report *v1alpha1.AuditReport) {
	for _, s := range report.Skipped {
		if o.named || (s.Reason != string(census.Excluded) && s.Reason != string(census.Forbidden)) {
			fmt.Fprintln(o.ErrOut, oneLine("Warning: skipped "+skippedName(s)+": "+s.Message))
		}
	}
	if forbidden := forbiddenTypes(report.Skipped); !o.named && len(forbidden) > 0 {
		fmt.Fprintln(o.ErrOut, oneLine(fmt.Sprintf("Warning: skipped %s that you may not list (needs list): %s", count(len(forbidden), "type"), strings.Join(forbidden, ", "))))
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

func forbiddenTypes(skipped []v1alpha1.Skipped) []string {
	var types []string
	for _, s := range skipped {
		if s.Reason == string(census.Forbidden) {
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
		return &exitError{code: exitGate, lines: []string{fmt.Sprintf("%s above the limit: %s", count(len(report.Gate.Exceeded), "prefix"), worst(report.Gate.Exceeded))}}
	case !report.Complete:
		return errors.New("not everything could be read: the counts are not complete")
	}
	return nil
}

func worst(exceeded []v1alpha1.AuditExceeded) string {
	most := slices.MaxFunc(exceeded, func(a, b v1alpha1.AuditExceeded) int {
		return cmp.Or(cmp.Compare(a.NextCreate, b.NextCreate), cmp.Compare(a.Names, b.Names))
	})
	return oneLine(fmt.Sprintf("%s/%s in namespace %q has %s names", most.Resource, most.Prefix, most.Namespace, grouped(most.Names)))
}

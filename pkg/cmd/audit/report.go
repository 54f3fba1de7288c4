package audit

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// explain says on stderr how much was read, and what is not shown.
func (o *options) explain(result *audit.Result) {
	report := result.Report
	for _, s := range report.Skipped {
		if !o.quiet(s) {
			o.say("Warning: skipped " + skippedName(s) + ": " + s.Message)
		}
	}
	if forbidden := o.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		o.say("Warning: " + forbiddenText(forbidden, report))
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		o.say("Warning: not of one instant, because a list expired or is not sorted: the counts of " +
			strings.Join(inconsistent, ", "))
	}
	if report.Hidden.Prefixes > 0 {
		o.say(o.hiddenText(report, result.MostHidden))
	}
	if none := result.NotFound; len(none) > 0 && report.Summary.ResourceTypes > 0 {
		o.say(fmt.Sprintf("No name has the prefix %s: prefixes are matched whole; is a '-' missing?",
			strings.Join(none, " or ")))
	}
	s := report.Summary
	o.say(fmt.Sprintf("Read %s of %s in %s and %.1f s: %s",
		humanize.Count(s.Objects, "object"), humanize.Count(s.ResourceTypes, "type"),
		humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix")))
}

// say writes a line on stderr.
func (o *options) say(text string) { fmt.Fprintln(o.ErrOut, terminal.OneLine(text)) }

// hiddenText returns how much is not shown and why, where the most of it is unless
// all is in one place, and how to see it where there is nothing else.
func (o *options) hiddenText(report *v1alpha1.AuditReport, most audit.Hidden) string {
	hidden := report.Hidden
	text := fmt.Sprintf("%s hidden, with %s, by --min-count=%d",
		humanize.Count(hidden.Prefixes, "prefix"), humanize.Count(hidden.Objects, "name"), o.minCount)
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

// mostText returns where the most of the hidden names are, and how many.
func mostText(most audit.Hidden, hidden int64) string {
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

// forbiddenText returns which types the user may not list, and that a gate that
// was given says nothing about them.
func forbiddenText(forbidden []string, report *v1alpha1.AuditReport) string {
	types := humanize.Count(len(forbidden), "type")
	list := strings.Join(forbidden, ", ")
	switch {
	case len(forbidden) == len(report.Scope.Resources):
		return fmt.Sprintf("skipped all %s: you may list none of them (needs list)", types)
	case report.Gate != nil:
		return fmt.Sprintf("the gate was not checked for %s that you may not list (%s); "+
			"name the types to make that a failure", types, list)
	}
	return fmt.Sprintf("skipped %s that you may not list (needs list): %s", types, list)
}

// skippedName returns the type, or the group, with its namespace if it is one's.
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

// forbiddenTypes returns the types that are named in one warning.
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

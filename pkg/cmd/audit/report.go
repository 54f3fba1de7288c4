package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// sayRead says on stderr, before anything else, how much could be read, if that is
// not all.
func (o *options) sayRead(report *v1alpha1.AuditReport) {
	if read, all := report.Summary.ResourceTypes, len(report.Scope.Resources); read < all {
		o.say(fmt.Sprintf("%s of %s could be read", humanize.Grouped(int64(read)), humanize.Count(all, "type")))
	}
}

// explain says on stderr how much was read, and what is not shown.
func (o *options) explain(result *audit.Result) {
	report := result.Report
	for _, s := range report.Skipped {
		if !o.quiet(s) {
			o.say("Warning: skipped " + skippedName(s) + ": " + s.Message)
		}
	}
	if forbidden := o.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		o.say("Warning: " + o.forbiddenText(forbidden, report))
	}
	if s := report.Summary; o.maybeNowhere && s.Objects == 0 && s.ResourceTypes > 0 {
		o.say(fmt.Sprintf("Warning: the gate has looked at nothing: namespace %s is empty, or does not exist "+
			"(needs get on namespaces to tell)", o.namespace))
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		o.say("Warning: not of one instant, because a list expired or is not sorted: the counts of " +
			strings.Join(inconsistent, ", "))
	}
	o.sayUnshown(result)
	o.sayCompared(result)
	s := report.Summary
	o.say(fmt.Sprintf("Read %s of %s in %s and %.1f s: %s",
		humanize.Count(s.Objects, "object"), humanize.Count(s.ResourceTypes, "type"),
		humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix")))
}

// sayUnshown says what is not in the table: hidden prefixes, what has no prefix, and
// prefixes that were looked for in vain.
func (o *options) sayUnshown(result *audit.Result) {
	report := result.Report
	if report.Hidden.Prefixes > 0 {
		o.say(o.hiddenText(report, result.MostHidden))
	}
	const uncounted = "say a prefix that was not counted, because there are very many such"
	if text := typesText(result.Uncounted, uncounted); text != "" {
		o.say("Warning: " + text)
	}
	if text := typesText(report.Unprefixed, "under no prefix"); text != "" && len(o.prefixes) == 0 {
		o.say(text)
	}
	if none := result.NotFound; len(none) > 0 && report.Summary.ResourceTypes > 0 {
		o.say(notFoundText(none))
	}
}

// notFoundText returns that no name has any of some prefixes, and what the reason may
// be.
func notFoundText(prefixes []string) string {
	text := fmt.Sprintf("No name has the prefix %s: ", strings.Join(prefixes, " or "))
	isPattern := func(prefix string) bool { return strings.ContainsAny(prefix, "*?[") }
	if slices.ContainsFunc(prefixes, isPattern) {
		return text + "prefixes are matched whole, and are no patterns"
	}
	return text + "prefixes are matched whole; is a '-' missing?"
}

// fewNamed is how many things a line names where there may be very many.
const fewNamed = 5

// few returns the first of some things, and how many others there are.
func few(things []string) string {
	if len(things) <= fewNamed {
		return strings.Join(things, ", ")
	}
	return fmt.Sprintf("%s and %s more",
		strings.Join(things[:fewNamed], ", "), humanize.Grouped(int64(len(things)-fewNamed)))
}

// typesText returns how many objects are like that, and of which types most of them
// are; nothing if there are none.
func typesText(types []v1alpha1.TypeObjects, what string) string {
	var all int64
	var named []string
	for _, t := range types {
		all += t.Objects
		resource := schema.GroupResource{Group: t.Group, Resource: t.Resource}
		named = append(named, fmt.Sprintf("%s (%s)", resource, humanize.Grouped(t.Objects)))
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", humanize.Count(all, "object"), what, few(named))
}

// sayCompared says what came of a comparison beside the growth of each prefix.
func (o *options) sayCompared(result *audit.Result) {
	report := result.Report
	if report.Scope.ComparedWith == nil {
		return
	}
	var gone []string
	for _, g := range report.Gone {
		resource := schema.GroupResource{Group: g.Group, Resource: g.Resource}.String()
		prefix := reference.In(resource+"/"+g.Prefix, g.Namespace)
		gone = append(gone, fmt.Sprintf("%s (%s)", prefix, humanize.Grouped(g.Names)))
	}
	if len(gone) > 0 {
		o.say(fmt.Sprintf("%s gone: %s", humanize.Count(len(gone), "prefix"), few(gone)))
	}
	if age := report.Metadata.CreationTimestamp.Sub(report.Scope.ComparedWith.Time); age < audit.LeastAge {
		o.say(fmt.Sprintf("Warning: %s is only %s old: a growth per day is that of so short a time",
			o.compare, age.Round(time.Second)))
	}
	if only := result.OnlyPrefixes; len(only) > 0 {
		o.say(fmt.Sprintf("Not compared, because %s has not counted them: prefixes other than %s",
			o.compare, strings.Join(only, ", ")))
	}
	if only := result.OnlyNamespace; only != "" {
		o.say(fmt.Sprintf("Only namespace %s was compared: %s is of that one", only, o.compare))
	}
	if before := result.OnlyBefore; len(before) > 0 {
		o.say(fmt.Sprintf("Not compared, because only %s has them: %s", o.compare, few(before)))
	}
	if now := result.OnlyNow; len(now) > 0 {
		o.say(fmt.Sprintf("Not compared, because %s has not read them: %s", o.compare, few(now)))
	}
}

// say writes a line on stderr.
func (o *options) say(text string) { fmt.Fprintln(o.ErrOut, terminal.OneLine(text)) }

// hiddenText returns how much is not shown and why, where the most of it is, if that
// is known and not all is in one place, and how to see it where there is nothing else.
func (o *options) hiddenText(report *v1alpha1.AuditReport, most audit.Hidden) string {
	hidden := report.Hidden
	text := fmt.Sprintf("%s hidden, with %s, by --min-count=%d",
		humanize.Count(hidden.Prefixes, "prefix"), humanize.Count(hidden.Names, "name"), o.minCount)
	if o.top > 0 {
		text += fmt.Sprintf(" and --top=%d", o.top)
	}
	if most.Names > 0 && (o.allNamespaces || len(report.Scope.Resources) > 1) {
		text += ", " + mostText(most, hidden.Names)
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
	names := humanize.Count(most.Names, "name")
	if !most.Exact {
		names = "at least " + names
	}
	switch {
	case most.Names == hidden:
		return "all of them " + where
	case 2*most.Names > hidden:
		return fmt.Sprintf("most of them %s: %s", where, names)
	}
	return fmt.Sprintf("the most %s: %s", where, names)
}

// forbiddenText returns which types the user may not list, and what that means for a
// gate.
func (o *options) forbiddenText(forbidden []string, report *v1alpha1.AuditReport) string {
	types := humanize.Count(len(forbidden), "type")
	list := few(forbidden)
	switch {
	case len(forbidden) == len(report.Scope.Resources):
		hint := ""
		if o.allNamespaces {
			hint = " in all namespaces; try -n NAMESPACE"
		}
		return fmt.Sprintf("skipped all %s: you may list none of them (needs list%s)", types, hint)
	case report.Gate != nil && !o.allowUnlisted:
		return fmt.Sprintf("the gate says nothing of %s that you may not list (%s); "+
			"--allow-unlisted lets it pass all the same", types, list)
	case report.Gate != nil:
		return fmt.Sprintf("the gate says nothing of %s that you may not list (%s)", types, list)
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

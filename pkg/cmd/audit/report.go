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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// sayRead prints how much could be read, if that is not everything.
func (o *options) sayRead(report *v1alpha1.AuditReport) {
	if read, all := report.Summary.ResourceTypes, len(report.Scope.Resources); read < all {
		o.tell(messages.ReadOf, humanize.Grouped(int64(read)), humanize.Count(all, "type"))
	}
}

// explain prints warnings and totals, and what the table does not show.
func (o *options) explain(result *audit.Result) {
	report := result.Report
	for _, s := range report.Skipped {
		if !o.quiet(s) {
			o.tell(messages.Skipped, skippedName(s), s.Message)
		}
	}
	if forbidden := o.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		o.sayForbidden(forbidden, report)
	}
	if s := report.Summary; o.maybeNowhere && s.Objects == 0 && s.ResourceTypes > 0 {
		o.tell(messages.GateEmptyNamespace, o.namespace)
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		o.tell(messages.Inconsistent, strings.Join(inconsistent, ", "))
	}
	o.sayUnshown(result)
	o.sayCompared(result)
	s := report.Summary
	o.tell(messages.Read,
		humanize.Count(s.Objects, "object"), humanize.Count(s.ResourceTypes, "type"),
		humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix"))
}

// sayUnshown prints what is not in the table: hidden prefixes, objects without a prefix,
// and named prefixes without names.
func (o *options) sayUnshown(result *audit.Result) {
	report := result.Report
	if report.Hidden.Prefixes > 0 {
		o.sayHidden(report, result.MostHidden)
	}
	if count, types := typesText(result.Uncounted); count != "" {
		o.tell(messages.Uncounted, count, types)
	}
	if count, types := typesText(report.Unprefixed); count != "" && len(o.prefixes) == 0 {
		o.tell(messages.Unprefixed, count, types)
	}
	if none := result.NotFound; len(none) > 0 && report.Summary.ResourceTypes > 0 {
		o.tell(notFoundText(none), strings.Join(none, " or "))
	}
}

// notFoundText returns the message for prefixes without names.
func notFoundText(prefixes []string) string {
	isPattern := func(prefix string) bool { return strings.ContainsAny(prefix, "*?[") }
	if slices.ContainsFunc(prefixes, isPattern) {
		return messages.NotFoundPattern
	}
	return messages.NotFound
}

// fewNamed is how many things a line names where there may be very many.
const fewNamed = 5

// few returns the first of some things, and how many others there are.
func few(things []string) string {
	if len(things) <= fewNamed {
		return strings.Join(things, ", ")
	}
	return fmt.Sprintf(messages.More,
		strings.Join(things[:fewNamed], ", "), humanize.Grouped(int64(len(things)-fewNamed)))
}

// typesText returns how many objects there are, and the resource types with most of them;
// nothing if there are none.
func typesText(types []v1alpha1.TypeObjects) (count, names string) {
	var all int64
	var named []string
	for _, t := range types {
		all += t.Objects
		resource := schema.GroupResource{Group: t.Group, Resource: t.Resource}
		named = append(named, fmt.Sprintf("%s (%s)", resource, humanize.Grouped(t.Objects)))
	}
	if all == 0 {
		return "", ""
	}
	return humanize.Count(all, "object"), few(named)
}

// sayCompared prints the results of a comparison other than the growth of each prefix.
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
		o.tell(messages.Gone, humanize.Count(len(gone), "prefix"), few(gone))
	}
	if age := report.Metadata.CreationTimestamp.Sub(report.Scope.ComparedWith.Time); age < audit.LeastAge {
		o.tell(messages.YoungBaseline, o.compare, age.Round(time.Second))
	}
	if result.OtherCluster {
		o.say(fmt.Sprintf("Warning: %s is an audit of another cluster", o.compare))
	}
	if only := result.OnlyPrefixes; len(only) > 0 {
		o.tell(messages.NotComparedPrefixes, o.compare, strings.Join(only, ", "))
	}
	if only := result.OnlyNamespace; only != "" {
		o.tell(messages.ComparedNamespace, only, o.compare)
	}
	if before := result.OnlyBefore; len(before) > 0 {
		o.tell(messages.NotComparedBefore, o.compare, few(before))
	}
	if now := result.OnlyNow; len(now) > 0 {
		o.tell(messages.NotComparedNow, o.compare, few(now))
	}
}

// say prints a line on stderr.
func (o *options) say(text string) { fmt.Fprintln(o.ErrOut, terminal.OneLine(text)) }

// tell prints a message on stderr.
func (o *options) tell(format string, args ...any) {
	fmt.Fprintln(o.ErrOut, terminal.Sprintf(format, args...))
}

// sayHidden prints how many names are hidden, and the place with most of them if it is
// known and not the only one.
func (o *options) sayHidden(report *v1alpha1.AuditReport, most audit.Hidden) {
	hidden, flags, where := report.Hidden, fmt.Sprintf("--min-count=%d", o.minCount), ""
	if o.top > 0 {
		flags += fmt.Sprintf(", --top=%d", o.top)
	}
	if most.Names > 0 && (o.allNamespaces || len(report.Scope.Resources) > 1) {
		where = mostText(most, hidden.Names)
	}
	if len(report.Items) == 0 {
		where += messages.HiddenEverything
	}
	o.tell(messages.Hidden,
		humanize.Count(hidden.Prefixes, "prefix"), humanize.Count(hidden.Names, "name"), flags, printable(where))
}

// printable is text that is escaped already, and keeps the space at its beginning.
type printable string

// mostText returns the place with most of the hidden names, and their number.
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
		return terminal.Sprintf(messages.HiddenAll, where)
	case 2*most.Names > hidden:
		return terminal.Sprintf(messages.HiddenMost, where, names)
	}
	return terminal.Sprintf(messages.HiddenLargest, where, names)
}

// sayForbidden prints which resource types the user can't list, and the effect on a gate.
func (o *options) sayForbidden(forbidden []string, report *v1alpha1.AuditReport) {
	types, list := humanize.Count(len(forbidden), "type"), few(forbidden)
	switch {
	case len(forbidden) == len(report.Scope.Resources) && o.allNamespaces:
		o.tell(messages.SkippedAllNamespaces, types)
	case len(forbidden) == len(report.Scope.Resources):
		o.tell(messages.SkippedAll, types)
	case report.Gate != nil && !o.allowUnlisted:
		o.tell(messages.GateForbidden, types, list)
	case report.Gate != nil:
		o.tell(messages.GateForbiddenAllowed, types, list)
	default:
		o.tell(messages.SkippedForbidden, types, list)
	}
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

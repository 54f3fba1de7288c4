package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// warn prints warnings, and the results of a comparison other than the growth of each
// prefix.
func (r *run) warn(result *audit.Result) {
	report := result.Report
	for _, s := range report.Skipped {
		if !r.isQuiet(s) {
			r.printer.printf("Warning: skipped %s: %s", humanize.Scope(s.Group, s.Resource, s.Namespace), s.Message)
		}
	}
	if forbidden := r.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		r.printForbidden(forbidden, report)
	}
	if s := report.Summary; r.maybeNowhere && s.Objects == 0 && s.ResourceTypes > 0 {
		r.printer.printf("Warning: the gate checked nothing, because namespace %s is empty or doesn't exist. To "+
			"find out which, you need permission to get namespaces", r.config.about.Namespace)
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		r.printer.printf("Warning: inconsistent counts of %s. Their lists expired or were not sorted, so objects "+
			"created or deleted during the audit might be missing or included", strings.Join(inconsistent, ", "))
	}
	if ahead := report.Summary.AheadSeconds; ahead > 0 && !r.config.watch {
		r.printer.printf("Warning: objects were created up to %s in the future by this server's clock, so LAST-10M "+
			"and LAST-24H are too high. Check the clocks of the API servers", time.Duration(ahead)*time.Second)
	}
	if report.Scope.ComparedWith != nil {
		r.printCompared(result)
	}
}

// printCompared prints the types and prefixes that could not be compared, and the prefixes
// that are gone.
func (r *run) printCompared(result *audit.Result) {
	report, file := result.Report, r.config.compare
	var gone []string
	for _, g := range report.Gone {
		prefix := reference.In(humanize.Type(g.Group, g.Resource)+"/"+g.Prefix, g.Namespace)
		gone = append(gone, fmt.Sprintf("%s (%s)", prefix, humanize.Grouped(g.Names)))
	}
	if len(gone) > 0 {
		r.printer.printf("%s gone: %s", humanize.Count(len(gone), "prefix"), humanize.Few(gone))
	}
	if age := report.Metadata.CreationTimestamp.Sub(report.Scope.ComparedWith.Time); age < audit.LeastAge {
		r.printer.printf("Warning: %s is only %s old, so the growth per day might come from a short burst",
			file, age.Round(time.Second))
	}
	if result.OtherCluster {
		r.printer.printf("Warning: %s is an audit of another cluster", file)
	}
	if only := result.OnlyPrefixes; len(only) > 0 {
		r.printer.printf("Not compared, because %s has not counted them: prefixes other than %s",
			file, strings.Join(only, ", "))
	}
	if only := result.OnlyNamespace; only != "" {
		r.printer.printf("Only namespace %s was compared, because %s has no other", only, file)
	}
	if before := result.OnlyBefore; len(before) > 0 {
		r.printer.printf("Not compared, because only %s has them: %s", file, humanize.Few(before))
	}
	if now := result.OnlyNow; len(now) > 0 {
		r.printer.printf("Not compared, because %s has not read them: %s", file, humanize.Few(now))
	}
}

// printForbidden prints which resource types the user can't list, and the effect on a gate.
func (r *run) printForbidden(forbidden []string, report *v1alpha1.AuditReport) {
	types, list := humanize.Count(len(forbidden), "type"), humanize.Few(forbidden)
	switch {
	case len(forbidden) == len(report.Scope.Resources) && report.Scope.AllNamespaces:
		r.printer.printf("Warning: skipped all %s, because you can't list any of them in all namespaces (needs "+
			"list). Try one namespace:\n  kubectl genname audit -n NAMESPACE", types)
	case len(forbidden) == len(report.Scope.Resources):
		r.printer.printf("Warning: skipped all %s, because you can't list any of them (needs list)", types)
	case report.Gate != nil && !r.config.about.AllowUnlisted:
		r.printer.printf("Warning: the gate can't check %s that you can't list (needs list): %s. To let the gate "+
			"pass without them, add:\n  --allow-unlisted", types, list)
	case report.Gate != nil:
		r.printer.printf("Warning: the gate can't check %s that you can't list (needs list): %s", types, list)
	default:
		r.printer.printf("Warning: skipped %s that you can't list (needs list): %s", types, list)
	}
}

// isQuiet reports whether s is not worth a warning of its own where types were not named.
func (r *run) isQuiet(s v1alpha1.Skipped) bool {
	return !r.config.named() && (s.Reason == string(census.Excluded) || r.isForbiddenType(s))
}

// isForbiddenType reports whether s is a type of which the user can't list any object.
func (r *run) isForbiddenType(s v1alpha1.Skipped) bool {
	return s.Reason == string(census.Forbidden) && s.Namespace == r.config.about.Namespace
}

// forbiddenTypes returns the types that are named in one warning.
func (r *run) forbiddenTypes(skipped []v1alpha1.Skipped) []string {
	var types []string
	for _, s := range skipped {
		if !r.config.named() && r.isForbiddenType(s) {
			types = append(types, humanize.Scope(s.Group, s.Resource, ""))
		}
	}
	return types
}

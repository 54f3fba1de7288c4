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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
)

// warn prints warnings, and the results of a comparison other than the growth of each
// prefix.
func (r *run) warn(result *audit.Result) {
	report := result.Report
	for _, s := range report.Skipped {
		if !r.isQuiet(s) {
			r.printer.printf(messages.Skipped, humanize.Scope(s.Group, s.Resource, s.Namespace), s.Message)
		}
	}
	if forbidden := r.forbiddenTypes(report.Skipped); len(forbidden) > 0 {
		r.printForbidden(forbidden, report)
	}
	if s := report.Summary; r.maybeNowhere && s.Objects == 0 && s.ResourceTypes > 0 {
		r.printer.printf(messages.GateEmptyNamespace, r.config.about.Namespace)
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		r.printer.printf(messages.Inconsistent, strings.Join(inconsistent, ", "))
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
		r.printer.printf(messages.Gone, humanize.Count(len(gone), "prefix"), humanize.Few(gone))
	}
	if age := report.Metadata.CreationTimestamp.Sub(report.Scope.ComparedWith.Time); age < audit.LeastAge {
		r.printer.printf(messages.YoungBaseline, file, age.Round(time.Second))
	}
	if result.OtherCluster {
		r.printer.printf(messages.OtherCluster, file)
	}
	if only := result.OnlyPrefixes; len(only) > 0 {
		r.printer.printf(messages.NotComparedPrefixes, file, strings.Join(only, ", "))
	}
	if only := result.OnlyNamespace; only != "" {
		r.printer.printf(messages.ComparedNamespace, only, file)
	}
	if before := result.OnlyBefore; len(before) > 0 {
		r.printer.printf(messages.NotComparedBefore, file, humanize.Few(before))
	}
	if now := result.OnlyNow; len(now) > 0 {
		r.printer.printf(messages.NotComparedNow, file, humanize.Few(now))
	}
}

// printForbidden prints which resource types the user can't list, and the effect on a gate.
func (r *run) printForbidden(forbidden []string, report *v1alpha1.AuditReport) {
	types, list := humanize.Count(len(forbidden), "type"), humanize.Few(forbidden)
	switch {
	case len(forbidden) == len(report.Scope.Resources) && report.Scope.AllNamespaces:
		r.printer.printf(messages.SkippedAllNamespaces, types)
	case len(forbidden) == len(report.Scope.Resources):
		r.printer.printf(messages.SkippedAll, types)
	case report.Gate != nil && !r.config.about.AllowUnlisted:
		r.printer.printf(messages.GateForbidden, types, list)
	case report.Gate != nil:
		r.printer.printf(messages.GateForbiddenAllowed, types, list)
	default:
		r.printer.printf(messages.SkippedForbidden, types, list)
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

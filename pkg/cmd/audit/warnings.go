package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// warnings returns the warnings about a result, and all results of a comparison except the growth of each prefix.
func (r *run) warnings(result *audit.Result) (lines []string) {
	report := result.Report
	if s := report.Summary; r.namespaceUnverified && s.Objects == 0 && s.ResourceTypes > 0 {
		lines = append(lines, terminal.Warningf("the gate checked nothing, because namespace %s is empty or doesn't "+
			"exist. To find out which, you need permission to get namespaces", r.config.Namespace))
	}
	if inconsistent := report.Summary.Inconsistent; len(inconsistent) > 0 {
		lines = append(lines, terminal.Warningf("inconsistent counts of %s. Their lists expired, so objects "+
			"created or deleted during the audit might be missing or included",
			strings.Join(inconsistent, ", ")))
	}
	if ahead := report.Summary.AheadSeconds; ahead > 0 && !r.watch {
		lines = append(lines, terminal.Warningf("objects were created up to %s in the future by this server's clock, "+
			"so LAST-10M and LAST-24H are too high. Check the clocks of the API servers",
			time.Duration(ahead)*time.Second))
	}
	if report.Scope.ComparedWith != nil {
		lines = append(lines, r.compared(result)...)
	}
	return lines
}

// reportRest returns a function that prints the pause of a polite scan.
func reportRest(line func(text string)) func(time.Duration) {
	return func(pause time.Duration) {
		line(terminal.Sprintf("Pausing for %s, nine times as long as the last request took (--polite)",
			pause.Round(time.Second)))
	}
}

// compared returns lines about the types and prefixes that could not be compared, and about prefixes that have no
// names now.
func (r *run) compared(result *audit.Result) (lines []string) {
	report, file := result.Report, r.compare
	add := func(format string, args ...any) { lines = append(lines, terminal.Sprintf(format, args...)) }
	var gone []string
	for _, g := range report.Gone {
		prefix := g.Argument()
		gone = append(gone, fmt.Sprintf("%s (%s)", prefix, humanize.Grouped(g.Names)))
	}
	if len(gone) > 0 {
		add("%s gone: %s", humanize.Count(len(gone), "prefix"), humanize.Few(gone))
	}
	if age := report.Metadata.CreationTimestamp.Sub(report.Scope.ComparedWith.Time); age < audit.LeastAge {
		lines = append(lines, terminal.Warningf(
			"%s is only %s old, so the growth per day might come from a short burst", file, age.Round(time.Second)))
	}
	if result.OtherCluster {
		lines = append(lines, terminal.Warningf("%s is an audit of another cluster", file))
	}
	if only := result.OnlyPrefixes; len(only) > 0 {
		add("Not compared, because %s has not counted them: prefixes other than %s",
			file, strings.Join(only, ", "))
	}
	if only := result.OnlyNamespace; only != "" {
		add("Only namespace %s was compared, because %s has no other", only, file)
	}
	if before := result.OnlyBefore; len(before) > 0 {
		add("Not compared, because only %s has them: %s", file, humanize.Few(before))
	}
	if now := result.OnlyNow; len(now) > 0 {
		add("Not compared, because %s has not read them: %s", file, humanize.Few(now))
	}
	return lines
}

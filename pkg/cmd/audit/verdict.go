package audit

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// verdictLines returns the verdict of a report, at most seven lines: whether all types were read,
// the exceeded gate, the rows with the most recent creates, and whether a create is close to failing.
func verdictLines(report *v1alpha1.AuditReport) (lines []string) {
	if read, all := report.Summary.ResourceTypes, len(report.Scope.Resources); read < all {
		types := humanize.Count(all, "type")
		lines = append(lines, fmt.Sprintf("Only %s of %s could be read.", humanize.Grouped(read), types))
	}
	v := report.Verdict
	if v == nil {
		return lines
	}
	if isAboveGate(report) {
		lines = append(lines, gateLine(report.Gate))
	}
	if len(v.MostCreated) > 0 {
		m := v.MostCreated[0]
		next := "  kubectl genname audit " + m.Argument()
		if audit.IsSudden(m) { // a watch shows its growth
			next += " --watch"
		}
		lines = append(lines, createdLine(v), next)
	}
	if line := closeLine(report); line != "" {
		lines = append(lines, line)
	}
	if c := v.Closest; v.CloseToFailing > 0 {
		lines = append(lines, "  kubectl genname audit "+c.Argument())
	}
	return lines
}

// isAboveGate reports whether a gate is exceeded.
func isAboveGate(report *v1alpha1.AuditReport) bool {
	return report.Gate != nil && len(report.Gate.Exceeded) > 0
}

// gateLine returns the prefix that exceeds the gate by most.
func gateLine(gate *v1alpha1.AuditGate) string {
	worst := worstOf(gate)
	named := terminal.Sprintf("%s (%s).", humanize.In(worst.Resource+"/"+worst.Prefix, worst.Namespace),
		humanize.Count(worst.Names, "name"))
	if gate.ExceededCount == 1 {
		return "Above the gate: " + named
	}
	return fmt.Sprintf("Above the gate: %s. The worst is %s", humanize.Count(gate.ExceededCount, "prefix"), named)
}

// closeLine returns a sentence on whether a create is close to failing, with the number of types for which it assumes
// one attempt. If no create is close to failing, and a gate is exceeded or a prefix grows, it returns "".
func closeLine(report *v1alpha1.AuditReport) string {
	v := report.Verdict
	c, line := v.Closest, ""
	switch {
	case v.CloseToFailing > 1:
		line = terminal.Sprintf("%s are close to failing. The closest is %s (%s).",
			humanize.Count(v.CloseToFailing, "prefix"), c.String(), closeness(c))
	case v.CloseToFailing == 1:
		line = terminal.Sprintf("1 prefix is close to failing: %s (%s).", c.String(), closeness(c))
	case isAboveGate(report) || len(v.MostCreated) > 0 || report.Summary.ResourceTypes == 0:
		return ""
	default:
		line = "No create is close to failing."
	}
	if unknown := v.AttemptsUnknown; len(unknown) > 0 {
		line += " " + terminal.Sprintf("This assumes one attempt for %s with unknown attempts.",
			humanize.Count(len(unknown), "resource type"))
	}
	return line
}

// closeness returns the number of names of the prefix that is closest to a failure, and the time until the
// failure.
func closeness(c *v1alpha1.AuditClosest) string {
	text := humanize.Count(c.Names, "name") + ", " + humanize.Count(c.Attempts, "attempt")
	if c.FailsInDays != nil {
		return fmt.Sprintf("%s, a create fails in about %s at the pace of the last 24 hours",
			text, spanText(c.FailsInDays))
	}
	return fmt.Sprintf("%s, the next create fails with a chance of %s", text, humanize.ChanceOf(c.NextCreate))
}

// createdLine returns the rows with the most recent creates.
func createdLine(v *v1alpha1.AuditVerdict) string {
	var parts []string
	for _, m := range v.MostCreated {
		parts = append(parts, createdText(m))
	}
	if others := v.MostCreatedCount - int64(len(parts)); others > 0 {
		parts = append(parts, fmt.Sprintf("and %s", humanize.Count(others, "other row")))
	}
	return terminal.Sprintf("Most created: %s.", strings.Join(parts, "; "))
}

// createdText returns the recent creates under one prefix, or in one fold.
func createdText(m v1alpha1.AuditMostCreated) string {
	text := m.String()
	if m.OwnerKind != "" {
		text = humanize.In(fmt.Sprintf("%s of %s", m.GroupResource(), plural(m.OwnerKind)), m.Namespace)
	}
	if m.Creator != nil {
		text += " by " + creatorName(*m.Creator)
	}
	if audit.IsSudden(m) {
		return humanize.Grouped(m.Last10m) + " " + text + " (last 10 minutes)"
	}
	return humanize.Grouped(m.Last24h) + " " + text + " (last 24 hours)"
}

// plural returns the plural of a kind.
func plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

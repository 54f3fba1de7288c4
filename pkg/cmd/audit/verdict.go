package audit

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// verdictLines returns the verdict of a report, at most five lines: whether all types were
// read, the rows with the most recent creates, and whether a create is close to failing.
func verdictLines(report *v1alpha1.AuditReport) (lines []string) {
	if read, all := report.Summary.ResourceTypes, len(report.Scope.Resources); read < all {
		types := humanize.Count(all, "type")
		lines = append(lines, fmt.Sprintf("Only %s of %s could be read.", humanize.Grouped(read), types))
	}
	v := report.Verdict
	if v == nil {
		return lines
	}
	if len(v.MostCreated) > 0 {
		m := v.MostCreated[0]
		lines = append(lines, createdLine(v),
			"  kubectl genname audit "+m.Argument()+" --watch")
	}
	if v.Closest == nil { // all rows are folds
		return lines
	}
	lines = append(lines, closeLine(report))
	if c := v.Closest; v.CloseToFailing > 0 {
		lines = append(lines, "  kubectl genname audit "+c.Argument())
	}
	return lines
}

// closeLine returns whether a create is close to failing. It also returns the number of types for which it assumes
// one attempt.
func closeLine(report *v1alpha1.AuditReport) string {
	v, server := report.Verdict, report.Server.Attempts
	c, line := v.Closest, ""
	where := c.String()
	switch {
	case v.CloseToFailing > 1:
		line = terminal.Sprintf("%s are close to failing. The closest is %s (%s).",
			humanize.Count(v.CloseToFailing, "prefix"), where, closeness(c))
	case v.CloseToFailing == 1:
		line = terminal.Sprintf("1 prefix is close to failing: %s (%s).", where, closeness(c))
	case server != nil && c.Attempts == *server:
		line = fmt.Sprintf("No create is close to failing: the server tries %s, and the fullest prefix has room for "+
			"%s more creates.", humanize.Count(c.Attempts, "name"), humanize.Grouped(c.Room))
	default:
		attempts := humanize.Count(c.Attempts, "attempt")
		line = terminal.Sprintf("No create is close to failing: the fullest prefix, %s, has room for %s more "+
			"creates with %s each.", where, humanize.Grouped(c.Room), attempts)
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
	return terminal.Sprintf("Most created in the last 10 minutes: %s.", strings.Join(parts, "; "))
}

// createdText returns the recent creates under one prefix, or in one fold.
func createdText(m v1alpha1.AuditMostCreated) string {
	text := humanize.Grouped(m.Last10m) + " " + m.String()
	if m.OwnerKind != "" {
		text = fmt.Sprintf("%s %s of %s", humanize.Grouped(m.Last10m), m.GroupResource(), plural(m.OwnerKind))
		text = humanize.In(text, m.Namespace)
	}
	if m.Creator != nil {
		text += ", by " + creatorName(*m.Creator)
	}
	return text
}

// plural returns the plural of a kind.
func plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

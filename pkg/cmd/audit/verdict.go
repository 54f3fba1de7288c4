package audit

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// verdictLines returns the verdict of a report, at most five lines: whether all types were
// read, whether a create is close to failing, and the rows with the most recent creates.
func verdictLines(report *v1alpha1.AuditReport) (lines []string) {
	if read, all := report.Summary.ResourceTypes, len(report.Scope.Resources); read < all {
		types := humanize.Count(all, "type")
		lines = append(lines, fmt.Sprintf(messages.ReadOf, humanize.Grouped(read), types))
	}
	v := report.Verdict
	if v == nil || v.Closest == nil {
		return lines
	}
	lines = append(lines, closeLine(report))
	if c := v.Closest; v.CloseToFailing > 0 {
		lines = append(lines, commandLine(messages.NextAudit, c.Group, c.Resource, c.Prefix, c.Namespace))
	}
	if len(v.MostCreated) == 0 {
		return lines
	}
	m := v.MostCreated[0]
	next := commandLine(messages.NextWatch, m.Group, m.Resource, m.Prefix, m.Namespace)
	if m.OwnerKind != "" {
		next += " --min-count 1"
	}
	return append(lines, createdLine(v), next)
}

// commandLine returns a command about a prefix, or about a type if the prefix is empty.
func commandLine(format, group, resource, prefix, namespace string) string {
	argument := humanize.Type(group, resource)
	if prefix != "" {
		argument += "/" + prefix
	}
	return fmt.Sprintf(format, reference.In(argument, namespace))
}

// closeLine returns whether a create is close to failing, and for how many types it assumes
// one attempt.
func closeLine(report *v1alpha1.AuditReport) string {
	v, server := report.Verdict, report.Server.Attempts
	c, line := v.Closest, ""
	where := humanize.In(humanize.Type(c.Group, c.Resource)+"/"+c.Prefix, c.Namespace)
	switch {
	case v.CloseToFailing > 1:
		line = terminal.Sprintf(messages.SeveralClose, humanize.Count(v.CloseToFailing, "prefix"), where, closeness(c))
	case v.CloseToFailing == 1:
		line = terminal.Sprintf(messages.OneClose, where, closeness(c))
	case server != nil && c.Attempts == *server:
		line = fmt.Sprintf(messages.NoneClose, humanize.Count(c.Attempts, "name"), humanize.Grouped(c.Room))
	default:
		attempts := humanize.Count(c.Attempts, "attempt")
		line = terminal.Sprintf(messages.NoneCloseBut, where, humanize.Grouped(c.Room), attempts)
	}
	if unknown := v.AttemptsUnknown; len(unknown) > 0 {
		line += " " + terminal.Sprintf(messages.AssumesOneAttempt, humanize.Count(len(unknown), "resource type"))
	}
	return line
}

// closeness returns how many names the prefix has that is closest to failing, and when a
// create fails.
func closeness(c *v1alpha1.AuditClosest) string {
	text := humanize.Count(c.Names, "name") + ", " + humanize.Count(c.Attempts, "attempt")
	if c.FailsInDays != nil {
		return fmt.Sprintf(messages.ExpectedIn, text, spanText(c.FailsInDays))
	}
	return fmt.Sprintf(messages.FailsNow, text, humanize.ChanceOf(c.NextCreate))
}

// createdLine returns the rows with the most recent creates.
func createdLine(v *v1alpha1.AuditVerdict) string {
	var parts []string
	for _, m := range v.MostCreated {
		parts = append(parts, createdText(m))
	}
	if others := v.MostCreatedCount - int64(len(parts)); others > 0 {
		parts = append(parts, fmt.Sprintf(messages.Others, humanize.Count(others, "other row")))
	}
	return terminal.Sprintf(messages.MostCreated, strings.Join(parts, "; "))
}

// createdText returns the recent creates under one prefix, or in one fold.
func createdText(m v1alpha1.AuditMostCreated) string {
	text := humanize.Grouped(m.Last10m) + " " + humanize.Type(m.Group, m.Resource)
	if m.OwnerKind != "" {
		return humanize.In(fmt.Sprintf(messages.CreatedFold, text, plural(m.OwnerKind)), m.Namespace)
	}
	text = humanize.In(text+"/"+m.Prefix, m.Namespace)
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

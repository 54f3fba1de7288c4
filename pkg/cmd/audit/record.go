package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// isRecord reports whether a report is printed as a record: one TYPE/PREFIX was named, and it
// has names in one place.
func (c *config) isRecord(report *v1alpha1.AuditReport) bool {
	return len(c.arguments) == 1 && isPrefix(c.arguments[0]) && len(report.Items) == 1 &&
		report.Scope.ComparedWith == nil && !c.prints.wide && !c.prints.noHeaders
}

// printRecord prints the only prefix of a report.
func printRecord(out io.Writer, report *v1alpha1.AuditReport) error {
	item := report.Items[0]
	r := &row{AuditItem: item}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, value string) { fmt.Fprintf(w, "%s:\t%s\n", name, value) }
	prefix := humanize.Type(item.Group, item.Resource) + "/" + prefixText(r)
	line("Prefix", terminal.OneLine(humanize.In(prefix, item.Namespace)))
	line("Names", humanize.Grouped(item.Names))
	now := report.Metadata.CreationTimestamp.Time
	line("Created", fmt.Sprintf(messages.RecordCreated,
		countText(item.Last10m), countText(item.Last24h), ageText(item.Oldest, now), ageText(item.Newest, now)))
	line("Creator", terminal.OneLine(creatorText(r)))
	line("Attempts", attemptsOf(report))
	line("Room", fmt.Sprintf(messages.RecordRoom, humanize.Room(roomOf(item))))
	for _, note := range item.Notes {
		line("Note", terminal.OneLine(note))
	}
	line("Verdict", recordVerdict(report))
	if err := w.Flush(); err != nil {
		return err
	}
	heading, steps := nextSteps(item)
	_, err := fmt.Fprintf(out, "%s\n%s\n", heading, strings.Join(steps, "\n"))
	return err
}

// attemptsOf returns the attempts per create, and whether the server or the client makes them.
func attemptsOf(report *v1alpha1.AuditReport) string {
	item, server := report.Items[0], report.Server
	switch {
	case item.Attempts == nil:
		return messages.AttemptsUnknown
	case server.Attempts != nil && *item.Attempts == *server.Attempts:
		return fmt.Sprintf(messages.AttemptsOfServer, *item.Attempts, terminal.OneLine(server.GitVersion))
	}
	return fmt.Sprintf(messages.AttemptsOfClient, *item.Attempts)
}

// recordVerdict returns whether the prefix of a record is a problem.
func recordVerdict(report *v1alpha1.AuditReport) string {
	switch v := report.Verdict; {
	case v.CloseToFailing > 0 && v.Closest.FailsInDays != nil:
		return fmt.Sprintf(messages.RecordClose, spanText(v.Closest.FailsInDays))
	case v.CloseToFailing > 0:
		return fmt.Sprintf(messages.RecordFails, humanize.ChanceOf(v.Closest.NextCreate))
	case v.MostCreatedCount > 0:
		return messages.RecordMany
	}
	return messages.RecordFine
}

// nextSteps returns the commands that follow a record, and their heading: to watch the
// prefix, and to delete objects if prune takes them, or to read their owner.
func nextSteps(item v1alpha1.AuditItem) (heading string, steps []string) {
	command := func(format string) string {
		return commandLine(format, item.Group, item.Resource, item.Prefix, item.Namespace)
	}
	steps = []string{command(messages.NextWatch)}
	owned := slices.ContainsFunc(item.Creators, func(c v1alpha1.Creator) bool { return c.Kind != "" })
	switch {
	case owned:
		owner := strings.ToLower(item.Creators[0].Kind) + "/" + item.Creators[0].Name
		return messages.RecordNext, append(steps, fmt.Sprintf(messages.NextOwner, reference.In(owner, item.Namespace)))
	case item.ClientGenerated || item.RawPrefixes > 1 || item.Generated == 0:
		return messages.RecordNext, steps // prune refuses them, or finds none
	case item.Last24h != nil && *item.Last24h < item.Names:
		return messages.RecordNextPrune, append(steps, command(messages.NextPruneDay))
	}
	return messages.RecordNextPrune, append(steps, command(messages.NextPrune))
}

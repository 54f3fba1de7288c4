package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// isRecord reports whether a report is printed as a record. Then the user named one TYPE/PREFIX, and its names are
// in one namespace.
func (r *run) isRecord(report *v1alpha1.AuditReport) bool {
	return len(r.arguments) == 1 && isPrefix(r.arguments[0]) && len(report.Items) == 1 &&
		report.Scope.ComparedWith == nil && !r.layout.wide && r.layout.headers
}

// printRecord prints the only prefix of a report.
func printRecord(out io.Writer, report *v1alpha1.AuditReport, stderr *terminal.Stderr) error {
	item := report.Items[0]
	r := &row{AuditItem: item, at: report.Metadata.CreationTimestamp.Time}
	var lines [][2]string
	indent := 0
	line := func(name, value string) {
		lines = append(lines, [2]string{name + ":", value})
		indent = max(indent, len(name)+len(":  "))
	}
	prefix := item.GroupResource().String() + "/" + prefixText(r)
	line("Prefix", terminal.OneLine(humanize.In(prefix, item.Namespace)))
	line("Names", humanize.Grouped(item.Names))
	line("Created", fmt.Sprintf("%s in the last 10 minutes, %s in the last 24 hours",
		countText(item.Last10m), countText(item.Last24h)))
	line("Ages", fmt.Sprintf("oldest %s ago, newest %s ago", ageText(item.Oldest, r.at), ageText(item.Newest, r.at)))
	line("Creator", terminal.OneLine(creatorText(r)))
	if item.Generated > 0 || item.ClientGenerated { // otherwise no server and no client tries random names
		line("Attempts", attemptsOf(report))
		line("Room", fmt.Sprintf("%s more creates until the chance of any failure is 0.1%%",
			humanize.Room(roomOf(item))))
	}
	for _, note := range slices.Concat(item.Notes, leftoverNotes(r)) {
		line("Note", terminal.OneLine(note))
	}
	if setting := retentionSetting(r); setting != "" {
		line("Note", setting+". Otherwise objects pile up again after prune.")
	}
	line("Verdict", recordVerdict(report))
	for _, l := range lines {
		text := terminal.Wrap(l[1], indent, terminal.TextWidth(out))
		if _, err := fmt.Fprintf(out, "%-*s%s\n", indent, l[0], text); err != nil {
			return err
		}
	}
	heading, steps := nextSteps(item)
	_, err := fmt.Fprintf(out, "%s\n%s\n", heading, stderr.Commands(strings.Join(steps, "\n")))
	return err
}

// attemptsOf returns the number of attempts per create, and whether the server or the client makes them.
func attemptsOf(report *v1alpha1.AuditReport) string {
	item, server := report.Items[0], report.Server
	switch {
	case item.Attempts == nil:
		return "unknown, so the room and the verdict assume 1 per create"
	case server.Attempts != nil && *item.Attempts == *server.Attempts:
		return fmt.Sprintf("%d names per create (this server, %s)", *item.Attempts, terminal.OneLine(server.GitVersion))
	}
	return fmt.Sprintf("%d per create (the client, or --server-attempts)", *item.Attempts)
}

// recordVerdict returns whether the prefix of a record is a problem.
func recordVerdict(report *v1alpha1.AuditReport) string {
	switch v := report.Verdict; {
	case v.CloseToFailing > 0 && v.Closest.FailsInDays != nil:
		return fmt.Sprintf("Close to failing: expected in about %s at the pace of the last 24 hours.",
			spanText(v.Closest.FailsInDays))
	case v.CloseToFailing > 0:
		return fmt.Sprintf("Close to failing: the next create fails with a chance of %s.",
			humanize.ChanceOf(v.Closest.NextCreate))
	case isAboveGate(report):
		return "Above the gate."
	case v.MostCreatedCount > 0:
		return "Many objects of this prefix are new. Watch whether they are deleted again."
	case report.Items[0].Deleting != nil:
		names := report.Items[0].Deleting.Names
		return fmt.Sprintf("%s %s being deleted. Check whether this ends.",
			humanize.Count(names, "object"), verb(int(names), "is", "are"))
	}
	if o := report.Items[0].Orphaned; o != nil && !o.Unknown {
		return "No create is close to failing. The Pods of deleted Jobs stay until someone deletes them."
	}
	return "No problem: no create is close to failing."
}

// nextSteps returns the commands that follow a record, and their heading. The commands watch the prefix, and delete
// objects with prune. If prune would refuse to delete the objects, a command reads their owner instead.
func nextSteps(item v1alpha1.AuditItem) (heading string, steps []string) {
	const planFirst = "Next (prune deletes nothing without --yes):"
	steps = []string{"  kubectl genname audit " + item.Argument() + " --watch"}
	owned := slices.ContainsFunc(item.Creators, func(c v1alpha1.Creator) bool { return c.Kind != "" })
	switch {
	case isOrphaned(item):
		return planFirst, append(steps, terminal.Hint(pruneOrphaned(prunableAge(item), item.Namespace)...))
	case owned:
		owner := item.Creators[0]
		of := schema.GroupResource{Group: owner.Group, Resource: strings.ToLower(owner.Kind)}
		return "Next:", append(steps, "  kubectl get "+reference.In(of.String()+"/"+owner.Name, item.Namespace))
	case !isPrunable(item):
		return "Next:", steps
	}
	stem := ""
	if item.Naming == v1alpha1.NamingStem {
		stem = " --stem"
	}
	return planFirst, append(steps, "  kubectl genname prune "+item.Argument()+stem+" --older-than "+prunableAge(item))
}

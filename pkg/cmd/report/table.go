package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// print prints the report in the format asked for.
func (o *options) print(report *v1alpha1.CollisionReport) error {
	if o.printFlags.ForMachines() {
		return o.printFlags.Print(report, o.Out)
	}
	if o.plotFlags.toTerminal() {
		return nil // the picture is there instead
	}
	if len(report.Items) > len(o.question.Creates) {
		o.printPrefixes(report)
		return nil
	}
	o.printPopulation(report, report.Items)
	fmt.Fprintln(o.Out, messages.Reuse)
	return nil
}

// printPopulation prints what there is to say of one population: the items
// differ in their numbers of creates.
func (o *options) printPopulation(report *v1alpha1.CollisionReport, items []v1alpha1.CollisionItem) {
	first := items[0]
	fmt.Fprintln(o.Out, terminal.OneLine(title(report.NamePool, first)))
	o.printOdds(items)
	if o.wide {
		o.printTable(messages.Failures, items,
			expectedFailures)
		o.printTable(messages.Attempts, items,
			func(p v1alpha1.Policy) string { return expectedUnder(p, p.ExpectedExtraAttempts) })
		o.printTable(messages.Lengths, items, suffixLength)
	}
	o.printNext(first, report)
	if first.Churn != nil {
		o.printChurn(first, report.NamePool.Names)
	}
	fmt.Fprintf(o.Out, "\n%s\n", meaning(first, humanize.ChanceOf(o.question.Probability)))
}

// title returns whose names are counted, and how many are taken.
func title(space v1alpha1.NamePool, item v1alpha1.CollisionItem) string {
	return fmt.Sprintf(messages.Title,
		subjectOf(item.Group, item.Resource, item.Namespace, item.Prefix), humanize.Grouped(item.Existing),
		space.AlphabetSize, space.SuffixLength, humanize.Grouped(space.Names))
}

// subjectOf returns a prefix as an argument of report and its flag would.
func subjectOf(group, resource, namespace, prefix string) string {
	if prefix == "" {
		return messages.AnyPrefix
	}
	return reference.In(schema.GroupResource{Group: group, Resource: resource}.String()+"/"+prefix, namespace)
}

// printOdds prints the chance of a failure, and of reuse beside it.
func (o *options) printOdds(items []v1alpha1.CollisionItem) {
	anyFails := func(p v1alpha1.Policy) string { return humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10)) }
	row := func(item v1alpha1.CollisionItem) []string {
		return append(cells(item, anyFails), humanize.ChanceOf(item.Reuse.AnyReuse))
	}
	o.printRows(messages.Odds,
		append(policyNames(items[0]), "REUSE"), items, row)
}

// printTable prints a row for each number of creates and a column for each
// policy.
func (o *options) printTable(title string, items []v1alpha1.CollisionItem, cell func(v1alpha1.Policy) string) {
	row := func(item v1alpha1.CollisionItem) []string { return cells(item, cell) }
	o.printRows(title, policyNames(items[0]), items, row)
}

// printRows prints a table with a row for each number of creates.
func (o *options) printRows(
	title string, headers []string, items []v1alpha1.CollisionItem, row func(v1alpha1.CollisionItem) []string,
) {
	fmt.Fprintf(o.Out, "\n%s\n", title)
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, append([]string{"CREATES"}, headers...))
	for _, item := range items {
		printRow(w, append([]string{humanize.Grouped(item.Creates)}, row(item)...))
	}
	_ = w.Flush() // Execute sees an error of the writer below
}

// cells returns a cell for each policy, a question mark if the attempts are unknown.
func cells(item v1alpha1.CollisionItem, cell func(v1alpha1.Policy) string) []string {
	var row []string
	for _, p := range item.Policies {
		if p.Attempts == nil {
			row = append(row, humanize.Unknown)
			continue
		}
		row = append(row, cell(p))
	}
	return row
}

func policyNames(item v1alpha1.CollisionItem) []string {
	var names []string
	for _, p := range item.Policies {
		names = append(names, strings.ToUpper(string(p.Name)))
	}
	return names
}

// expectedFailures returns a mean, with in brackets what differs if creates are repeated.
func expectedFailures(p v1alpha1.Policy) string {
	dropped, repeated := expectedUnder(p, p.ExpectedFailures), expectedUnder(p, p.ExpectedFailuresRepeated)
	if dropped == repeated {
		return dropped
	}
	return fmt.Sprintf("%s (%s)", dropped, repeated)
}

// expectedUnder returns a mean number for people. It is above zero if a create can
// fail, also where it is too small for a number.
func expectedUnder(p v1alpha1.Policy, mean *float64) string {
	if mean != nil && *mean == 0 && p.AnyFailsLog10 != nil && *p.Attempts > 1 {
		return "< 1e-300"
	}
	return humanize.Expected(mean)
}

// suffixLength returns how long suffixes would have to be without retries.
func suffixLength(p v1alpha1.Policy) string {
	if p.EquivalentSuffixLength == nil {
		return "any"
	}
	return strconv.FormatFloat(*p.EquivalentSuffixLength, 'f', 1, 64)
}

// printNext prints what does not depend on the number of creates, and what the
// policies are.
func (o *options) printNext(item v1alpha1.CollisionItem, report *v1alpha1.CollisionReport) {
	fmt.Fprintf(o.Out, "\n"+messages.Next+"\n", humanize.ChanceOf(o.question.Probability))
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, []string{"POLICY", "ATTEMPTS", "NEXT-FAILS", "ROOM", "MEANING"})
	for _, p := range item.Policies {
		attempts, next, room := humanize.Unknown, humanize.Unknown, humanize.Unknown
		if p.Attempts != nil {
			attempts, room = strconv.Itoa(*p.Attempts), humanize.Room(p.Room.Creates)
			// The number itself can be too small: its logarithm is that of one attempt, times the attempts.
			next = humanize.Chance(*p.NextCreateFails, float64(*p.Attempts)*taken(item.Existing, report.NamePool.Names))
		}
		printRow(w, []string{string(p.Name), attempts, next, room, policyMeaning(p, report.Server)})
	}
	_ = w.Flush()
}

// taken returns the decimal logarithm of the share of names that exist.
func taken(existing, names int64) float64 {
	return math.Log10(float64(existing) / float64(names))
}

// policyMeaning returns what a policy is.
func policyMeaning(p v1alpha1.Policy, server v1alpha1.CollisionServer) string {
	switch p.Name {
	case v1alpha1.PolicyNone:
		return "no retries"
	case v1alpha1.PolicyServer:
		return serverMeaning(p, server)
	case v1alpha1.PolicyClient:
		return "kubectl genname create"
	}
	return "create --naming=server"
}

func serverMeaning(p v1alpha1.Policy, server v1alpha1.CollisionServer) string {
	switch {
	case p.Attempts == nil:
		return "attempts unknown"
	case server.AttemptsSource == v1alpha1.SourceFlag:
		return "--server-attempts"
	case server.GitVersion == nil:
		return "Kubernetes 1.32 and later"
	case *p.Attempts == 1:
		return "no retries"
	}
	return "retries of the server"
}

// meaning returns the summary: for how many creates failures stay unlikely.
func meaning(item v1alpha1.CollisionItem, probability string) string {
	server := item.Policy(v1alpha1.PolicyServer)
	rooms := []string{room(item.Policy(v1alpha1.PolicyNone)) + " without retries"}
	switch {
	case server.Attempts == nil:
		rooms[0] += " (the server's attempts are unknown)"
	case *server.Attempts == 1:
		rooms[0] += " (the server has no retries)"
	default:
		rooms = append(rooms, room(server)+" with the server's retries")
	}
	rooms = append(rooms, room(item.Policy(v1alpha1.PolicyClient))+" with kubectl genname create")
	return terminal.Wrapped(fmt.Sprintf(messages.Summary, probability, sequence(rooms)))
}

// room returns a policy's room in words.
func room(p *v1alpha1.Policy) string {
	switch creates := p.Room.Creates; {
	case creates == nil:
		return "any number of creates"
	case *creates == 0:
		return "no create"
	case *creates == 1:
		return "1 create"
	default:
		return humanize.Grouped(*creates) + " creates"
	}
}

// sequence returns "a and b" or "a, b and c".
func sequence(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func printRow(w io.Writer, cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }

// logOf returns a logarithm of a report, where nil is that of zero.
func logOf(log10 *float64) float64 {
	if log10 == nil {
		return math.Inf(-1)
	}
	return *log10
}

package cmd

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func (o *reportOptions) print(report *v1alpha1.CollisionReport) error {
	if wantsMachineOutput(o.printFlags) {
		return printObject(o.printFlags, report, o.Out)
	}
	for at := 0; at < len(report.Items); at += len(o.question.Creates) {
		if at > 0 {
			fmt.Fprintln(o.Out)
		}
		if err := o.printPopulation(report, report.Items[at:at+len(o.question.Creates)]); err != nil {
			return err
		}
	}
	return nil
}

// printPopulation prints the rows of one population, policies side by side.
func (o *reportOptions) printPopulation(report *v1alpha1.CollisionReport, items []v1alpha1.CollisionItem) error {
	first := items[0]
	subject := "A prefix"
	if first.Prefix != "" {
		subject = fmt.Sprintf("%s/%s", first.Resource, first.Prefix)
		if first.Namespace != "" {
			subject += " -n " + first.Namespace
		}
	}
	fmt.Fprintln(o.Out, oneLine(fmt.Sprintf("%s: %s of %d^%d = %s names are taken.", subject, grouped(first.Existing),
		report.Space.AlphabetSize, report.Space.SuffixLength, grouped(report.Space.Names))))
	o.printTable("Chance that any of the creates conflicts:", items, headers(first.Policies), func(p v1alpha1.Policy) string {
		return chance(*p.AnyFails, logOf(p.AnyFailsLog10))
	})
	if o.wide {
		o.printTable("Expected conflicts:", items, headers(first.Policies), func(p v1alpha1.Policy) string { return expected(p.ExpectedConflicts) })
		o.printTable("Expected extra tries, each a call of every validating webhook:", items, headers(first.Policies), func(p v1alpha1.Policy) string { return expected(p.ExpectedExtraTries) })
		o.printTable("Suffix length with the same chance and no retries:", items, headers(first.Policies), func(p v1alpha1.Policy) string {
			if p.EquivalentSuffixLength == nil {
				return "any"
			}
			return strconv.FormatFloat(*p.EquivalentSuffixLength, 'f', 1, 64)
		})
	}
	return o.printSummary(first, report.Space.Names)
}

// printTable prints a row for each number of creates and a column for each
// policy. A policy whose tries are unknown has a question mark.
func (o *reportOptions) printTable(title string, items []v1alpha1.CollisionItem, headers []string, cell func(v1alpha1.Policy) string) {
	fmt.Fprintf(o.Out, "\n%s\n", title)
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, append([]string{"CREATES"}, headers...))
	for _, item := range items {
		row := []string{grouped(item.Creates)}
		for _, p := range item.Policies {
			if p.Tries == nil {
				row = append(row, "?")
				continue
			}
			row = append(row, cell(p))
		}
		printRow(w, row)
	}
	_ = w.Flush()
}

// printSummary prints what does not depend on the number of creates.
func (o *reportOptions) printSummary(item v1alpha1.CollisionItem, names int64) error {
	taken := math.Log10(float64(item.Existing) / float64(names))
	fmt.Fprintf(o.Out, "\nThe next create, and the creates until the chance above passes %s:\n", chanceOf(o.question.Probability))
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, []string{"POLICY", "TRIES", "NEXT-CONFLICTS", "HEADROOM"})
	for _, p := range item.Policies {
		if p.Tries == nil {
			printRow(w, []string{string(p.Name), "?", "?", "?"})
			continue
		}
		next := chance(*p.NextCreateFails, float64(*p.Tries)*taken) // the number itself can be too small
		printRow(w, []string{string(p.Name), strconv.Itoa(*p.Tries), next, headroomText(p.Headroom.Creates)})
	}
	return w.Flush()
}

func printRow(w io.Writer, cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }

func headers(policies []v1alpha1.Policy) []string {
	var headers []string
	for _, p := range policies {
		tries := "?"
		if p.Tries != nil {
			tries = strconv.Itoa(*p.Tries)
		}
		headers = append(headers, fmt.Sprintf("%s(%s)", strings.ToUpper(string(p.Name)), tries))
	}
	return headers
}

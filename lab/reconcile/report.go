package reconcile

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

func (r *Result) String() string {
	return fmt.Sprintf("%s, %s: %d purposes, %d objects too many, %d missing, %d unsettled; "+
		"%d POSTs (%d conflicts), %d GETs, %d lists, of which %d met a fault; %d processes, %d killed, %s",
		r.Way.Name, r.Scenario.Name, r.Purposes, r.Duplicates, r.Missing, r.Unsettled,
		r.Posts, r.Conflicts, r.Gets, r.Lists, r.Faults, r.Processes, r.Kills, r.Took.Round(time.Second))
}

// Check returns the promises of pkg/once that were broken. Other ways promise nothing.
func (r *Result) Check() error {
	if !r.Way.promises() {
		return nil
	}
	var broken []error
	if r.Duplicates+r.Missing+r.Unsettled > 0 {
		broken = append(broken, errors.New("not exactly once"))
	}
	if r.Scenario.Rate == 0 && r.Scenario.Leaders == 1 && !r.Scenario.Behind && r.Scenario.Kills == 0 &&
		(r.Posts != r.Purposes || r.Gets+r.Lists > 0) {
		broken = append(broken, errors.New("not one POST and no read for each purpose, although nothing went wrong"))
	}
	if r.Gets > r.Faults+r.Conflicts+3*r.Refused {
		broken = append(broken, errors.New("more than one GET for each fault and conflict, and three more for a refusal"))
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errors.Join(broken...), r)
}

// SectionName is the name of the section of a page with the tables.
const SectionName = "reconcile"

// Section returns all results as the text of a section, in tables.
func Section(s Settings, version string, results []*Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with kube-apiserver %s, %d purposes, seed %d, %d cores and %s.\n\n"+
		"Duplicates, and missing objects:\n\n",
		time.Now().UTC().Format(time.DateOnly), version, s.Purposes, s.Seed, runtime.NumCPU(), runtime.Version())
	b.WriteString(table(results))
	b.WriteString("\nRequests and errors:\n\n" +
		"| way | scenario | POSTs per purpose | GETs per purpose | lists | requests with a fault | errors in the reconcile after |\n" +
		"|---|---|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		if name := r.Scenario.Name; name == "calm" || name == "faults" || name == "all" {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %d | %d |\n",
				r.Way.Title, r.Scenario.Title, r.each(r.Posts), r.each(r.Gets), r.Lists, r.Faults, r.Unsettled)
		}
	}
	return b.String()
}

// table returns a row for each way and a column for each scenario.
func table(results []*Result) string {
	head, rule, way := "| way |", "|---|", ""
	var rows strings.Builder
	for _, r := range results {
		if way != r.Way.Name {
			way = r.Way.Name
			fmt.Fprintf(&rows, "\n| %s |", r.Way.Title)
		}
		if way == results[0].Way.Name {
			head += " " + r.Scenario.Title + " |"
			rule += "--:|"
		}
		fmt.Fprintf(&rows, " %s |", r.cell())
	}
	return head + "\n" + rule + rows.String() + "\n"
}

// each returns a number per purpose.
func (r *Result) each(n int) string { return fmt.Sprintf("%.2f", float64(n)/float64(r.Purposes)) }

// cell returns the duplicates and the missing objects.
func (r *Result) cell() string {
	cell := fmt.Sprintf("**%d**", r.Duplicates)
	if r.Duplicates == 0 {
		cell = "0"
	}
	if r.Missing > 0 {
		cell += fmt.Sprintf(", %d missing", r.Missing)
	}
	return cell
}

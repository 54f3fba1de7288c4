package reconcile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func (r *Result) String() string {
	return fmt.Sprintf("%s, %s: %d purposes, %d objects too many, %d missing, %d unsettled; "+
		"%d POSTs (%d conflicts), %d GETs, %d lists, of which %d met a fault; %d processes, %d killed, %s",
		r.Way.Name, r.Scenario.Name, r.Purposes, r.Duplicates, r.Missing, r.Unsettled,
		r.Posts, r.Conflicts, r.Gets, r.Lists, r.Injured, r.Processes, r.Kills, r.Took.Round(time.Second))
}

// Check returns which promise of pkg/once was broken. Other ways promise nothing.
func (r *Result) Check() error {
	if r.Way.Name != "once" {
		return nil
	}
	var broken []error
	if r.Duplicates+r.Missing+r.Unsettled > 0 {
		broken = append(broken, errors.New("not exactly once"))
	}
	if r.Scenario.Rate == 0 && r.Scenario.Leaders == 1 && !r.Scenario.Behind && r.Scenario.Kills == 0 &&
		(r.Posts != r.Purposes || r.Gets+r.Lists > 0) {
		broken = append(broken, errors.New("more than one POST for each, although nothing went wrong"))
	}
	if r.Gets > r.Injured+r.Conflicts+3*r.Refused {
		broken = append(broken, errors.New("more than one GET for each fault and conflict, and three more for a refusal"))
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errors.Join(broken...), r)
}

// The table of a page is between these.
const (
	begin = "<!-- reconcile: begin -->\n"
	end   = "<!-- reconcile: end -->\n"
)

// Section is the part of a page that says what came of the trials, a row for
// each way and a column for each scenario.
func Section(s Settings, version string, results []*Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sMeasured on %s on kube-apiserver %s, by `make reconcile`, for one owner and %d purposes, "+
		"with seed %d; %d cores, %s. Objects too many, and missing:\n\n|", begin,
		time.Now().UTC().Format(time.DateOnly), version, s.Purposes, s.Seed, runtime.NumCPU(), runtime.Version())
	way := ""
	var rows strings.Builder
	rule := "\n|---|"
	for _, r := range results {
		if way != r.Way.Name {
			way = r.Way.Name
			fmt.Fprintf(&rows, "\n| %s |", r.Way.Title)
		}
		if r.Way.Name == results[0].Way.Name {
			fmt.Fprintf(&b, " | %s", r.Scenario.Title)
			rule += "--:|"
		}
		fmt.Fprintf(&rows, " %s |", r.cell())
	}
	fmt.Fprintf(&b, " |%s%s\n\n", rule, rows.String())
	b.WriteString("What it took, for each purpose, where nothing went wrong, and where all did:\n\n" +
		"| | | POSTs | GETs | lists in all | requests that met a fault | errors in the reconcile after |\n" +
		"|---|---|--:|--:|--:|--:|--:|\n")
	for _, r := range results {
		if name := r.Scenario.Name; name == "calm" || name == "all" {
			each := func(n int) string { return fmt.Sprintf("%.2f", float64(n)/float64(r.Purposes)) }
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %d | %d |\n",
				r.Way.Title, r.Scenario.Title, each(r.Posts), each(r.Gets), r.Lists, r.Injured, r.Unsettled)
		}
	}
	b.WriteString(end)
	return b.String()
}

// cell is what was wrong in the end.
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

// Write puts the section into the page at path, in the place of the one there.
func Write(path, section string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s does not say where the section goes, between %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+section+after), 0o644)
}

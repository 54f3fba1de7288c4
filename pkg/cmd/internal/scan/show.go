package scan

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// View is a report as people read it. The functions of package terminal format its lines, and
// escape the values.
type View struct {
	Verdict  []string                  // the first lines
	Table    *table.Table              // can be nil
	Names    iter.Seq[string]          // instead of a table, for -o name
	Text     func(out io.Writer) error // instead of a table
	Coverage census.Coverage           // its lines come before the warnings
	Command  string                    // its name, for the lines of Coverage
	Warnings []string                  // printed beside a report for machines, too
	Next     []string                  // the last lines: numbers, and the next commands
	Gate     error                     // the error that has the exit code
}

// Show prints a report in the format of -o, or its view without -o. Show returns the error of the command. Only the
// report, the table, names and text go to stdout.
func (s *Session) Show(report runtime.Object, v View) error {
	s.Stderr.End()
	skipped := skippedLines(v.Coverage, v.Command)
	if s.Prints.ForMachines() {
		if err := s.Prints.Print(report, s.IOStreams.Out); err != nil {
			return withGate(err, v.Gate)
		}
		s.Lines(skipped)
		s.Lines(v.Warnings)
		return v.Gate
	}
	s.Lines(v.Verdict)
	if err := s.result(v); err != nil {
		return withGate(err, v.Gate)
	}
	s.Lines(skipped)
	s.Lines(v.Warnings)
	s.Lines(v.Next)
	return v.Gate
}

// withGate returns the error of a report that could not be printed, with the exit code and the lines of the gate.
func withGate(err, gate error) error {
	var exit *exitcode.Error
	if !errors.As(gate, &exit) {
		return err
	}
	return &exitcode.Error{Code: exit.Code, Err: errors.Join(err, exit.Err), Lines: exit.Lines}
}

func (s *Session) result(v View) error {
	switch {
	case v.Text != nil:
		return v.Text(s.IOStreams.Out)
	case v.Names != nil:
		for name := range v.Names {
			if _, err := fmt.Fprintln(s.IOStreams.Out, terminal.OneLine(name)); err != nil {
				return err
			}
		}
	case v.Table != nil && len(v.Table.Rows) > 0:
		return v.Table.Print(s.IOStreams.Out, !s.Prints.NoHeaders)
	}
	return nil
}

// Nearest returns the lines about a prefix without names, TYPE/PREFIX or PREFIX: the nearest prefix, and the
// command that shows it. The first line can begin with none, which is "No name" or "no name".
func Nearest(none, named, namespace string, near pools.Near) []string {
	resource, prefix, ofType := strings.Cut(named, "/")
	line := terminal.Sprintf("%s has the prefix %s. The nearest prefix is %s.", none, named, near.Prefix)
	switch {
	case near.IsObject && ofType:
		line = terminal.Sprintf("%s is the name of an object with the prefix %s.", prefix, near.Prefix)
	case near.IsObject:
		line = terminal.Sprintf("%s is the name of an object with the prefix %s.", named, near.Prefix)
	}
	if !ofType {
		return []string{line}
	}
	where := []string{"-n", namespace}
	if namespace == "" {
		where = []string{"-A"}
	}
	words := []string{"kubectl", "genname", "audit", resource + "/" + near.Prefix}
	return []string{line, terminal.Hint(append(words, where...)...)}
}

// Lines prints lines on stderr.
func (s *Session) Lines(lines []string) {
	for _, line := range lines {
		s.Stderr.Line(line)
	}
}

// skippedLines returns the warnings about everything that the command did not read. Types that no user named, and that
// the user can't list, share a line. command is the name of the command, for a hint.
func skippedLines(c census.Coverage, command string) (lines []string) {
	each, forbidden := c.Warned()
	for _, s := range each {
		lines = append(lines, terminal.Warningf("skipped %s: %s",
			humanize.Scope(s.Group, s.Resource, s.Namespace), s.Message))
	}
	if len(forbidden) == 0 {
		return lines
	}
	var names []string
	for _, s := range forbidden {
		names = append(names, humanize.Scope(s.Group, s.Resource, ""))
	}
	types, few := humanize.Count(len(forbidden), "type"), humanize.Few(names)
	switch all := len(forbidden) >= len(c.Types); {
	case all && c.Namespace == "":
		return append(lines, terminal.Warningf("skipped all %s, because you can't list any of them in all namespaces "+
			"(needs list). Try one namespace:", types), terminal.Hint("kubectl", "genname", command, "-n", "NAMESPACE"))
	case all:
		return append(lines, terminal.Warningf(
			"skipped all %s, because you can't list any of them (needs list)", types))
	case c.Gated && !c.AllowUnlisted:
		return append(lines, terminal.Warningf("the gate can't check %s that you can't list (needs list): %s. To let "+
			"the gate pass without them, add:", types, few), terminal.Hint("--allow-unlisted"))
	case c.Gated:
		return append(lines, terminal.Warningf(
			"the gate can't check %s that you can't list (needs list): %s", types, few))
	}
	return append(lines, terminal.Warningf("skipped %s that you can't list (needs list): %s", types, few))
}

// NoticeText returns a notice of a watch for people.
func NoticeText(n live.Notice) string {
	resource := n.Resource.String()
	switch n.Type {
	case live.Gap:
		from, to := n.From.Format(time.TimeOnly), n.To.Format(time.TimeOnly)
		return terminal.Warningf("%s was counted again, because the watch lost events from %s to %s (%v). "+
			"The names are correct, but creates and deletes are lower bounds", resource, from, to, n.Cause)
	case live.Unwatched:
		return terminal.Warningf("%s can't be watched, so it is counted again at each interval, without creates and "+
			"deletes: %v", resource, n.Cause)
	case live.Watched:
		return terminal.Sprintf("%s is watched now", resource)
	case live.Appeared:
		return terminal.Sprintf("%s is a new resource type", resource)
	case live.Vanished:
		return terminal.Sprintf("%s is no longer a resource type", resource)
	case live.Crowded:
		return terminal.Warningf("%s has more than %d prefixes, so new ones have no row or series", resource,
			live.MaxPrefixes)
	case live.Undiscovered:
		return terminal.Warningf("the resource types can't be discovered, so new types aren't counted yet: "+
			"%v", n.Cause)
	}
	return ""
}

package scan

import (
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// skippedLines returns the warnings about all that was not read. Types that no user named, and that the
// user can't list, share a line. command is the command without flags, for a hint.
func skippedLines(c census.Coverage, command ...string) (lines []string) {
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
			"(needs list). Try one namespace:", types), terminal.Hint(append(command, "-n", "NAMESPACE")...))
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

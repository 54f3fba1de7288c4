package scan

import (
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Coverage is the part of a scope that was read.
type Coverage struct {
	Types     int                // of the scope
	Skipped   []v1alpha1.Skipped // what was not read, and why
	Namespace string             // of the scope; empty for all
	Named     bool               // the user named the types
	Gated     bool               // a gate depends on the report, and all types must be read for it
}

// Complete reports whether enough was read. Types that the user can't list don't matter, unless the user
// named types or set a gate, or can list no type.
func (c Coverage) Complete() bool {
	matters := c.Named || c.Gated || len(c.forbidden()) >= c.Types
	for _, s := range c.Skipped {
		if s.Reason != string(census.Excluded) && (matters || s.Reason != string(census.Forbidden)) {
			return false
		}
	}
	return true
}

// Lines returns the warnings about all that was not read. Types that no user named, and that the user
// can't list, share a line. command is the command without flags, for a hint.
func (c Coverage) Lines(command ...string) (lines []string) {
	for _, s := range c.Skipped {
		quiet := s.Reason == string(census.Excluded) || c.isForbiddenType(s)
		if c.Named || !quiet {
			scope := humanize.Scope(s.Group, s.Resource, s.Namespace)
			lines = append(lines, terminal.Warningf("skipped %s: %s", scope, s.Message))
		}
	}
	forbidden := c.forbidden()
	if len(forbidden) == 0 || c.Named {
		return lines
	}
	types := humanize.Count(len(forbidden), "type")
	switch {
	case len(forbidden) < c.Types:
		few := humanize.Few(forbidden)
		return append(lines, terminal.Warningf("skipped %s that you can't list (needs list): %s", types, few))
	case c.Namespace != "":
		return append(lines, terminal.Warningf(noneListed+" (needs list)", types))
	}
	return append(lines,
		terminal.Warningf(noneListed+" in all namespaces (needs list). Try one namespace:", types),
		terminal.Hint(append(command, "-n", "NAMESPACE")...))
}

const noneListed = "skipped all %s, because you can't list any of them"

// forbidden returns the types of which the user can list no object.
func (c Coverage) forbidden() (types []string) {
	for _, s := range c.Skipped {
		if c.isForbiddenType(s) {
			types = append(types, humanize.Scope(s.Group, s.Resource, ""))
		}
	}
	return types
}

func (c Coverage) isForbiddenType(s v1alpha1.Skipped) bool {
	return s.Reason == string(census.Forbidden) && s.Namespace == c.Namespace
}

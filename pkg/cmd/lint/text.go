package lint

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/lint/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// printText prints each finding: the defect and its object, related objects, the fix.
func (o *options) printText(result *lint.Result) error {
	out := bufio.NewWriter(o.Out)
	for _, f := range result.Findings {
		if f.Silence != nil {
			continue
		}
		place := placeOf(f.Object.File, f.Position)
		fmt.Fprintln(out, terminal.OneLine(fmt.Sprintf(messages.Finding,
			place, f.Level, f.Message, title(f.Object), f.Rule.Name)))
		for _, line := range related(f) {
			fmt.Fprintln(out, messages.Indent+line)
		}
		fmt.Fprintln(out, messages.Indent+terminal.OneLine(fmt.Sprintf(messages.Help, f.Help)))
	}
	return out.Flush()
}

// placeOf returns a place as compilers write it.
func placeOf(file string, at manifest.Position) string {
	return fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
}

// related returns a line for each other object that a finding is about.
func related(f lint.Finding) []string {
	var lines []string
	for _, r := range f.Related {
		lines = append(lines, terminal.OneLine(fmt.Sprintf(messages.Related,
			placeOf(r.Object.File, r.Position()), title(r.Object), r.About)))
	}
	return lines
}

// title names an object for people, and shows where the server truncates its prefix.
func title(o rules.Object) string {
	if name := o.GetName(); name != "" {
		return o.GetKind() + " " + name
	}
	prefix := o.GetGenerateName()
	kept := names.EffectivePrefix(prefix)
	if kept != prefix {
		kept += messages.Truncation + strings.TrimPrefix(prefix, kept)
	}
	return o.GetKind() + " " + kept
}

// tell prints on stderr the comments without effect and the counts.
func (o *options) tell(result *lint.Result) {
	for _, s := range result.Idle {
		why := s.Trouble
		if why == "" {
			why = messages.NoFindingThere
		}
		fmt.Fprintln(o.ErrOut, terminal.OneLine(fmt.Sprintf(messages.Idle,
			placeOf(s.File, s.Position), strings.Join(s.Rules, ","), why)))
	}
	count := countLevels(result)
	lines := []string{fmt.Sprintf(messages.Summary,
		humanize.Count(count.Error, "error"), humanize.Count(count.Warning, "warning"),
		humanize.Count(count.Note, "note"),
		humanize.Count(result.Objects, "object"), humanize.Count(len(result.Read), "file"))}
	if silenced := len(result.Findings) - count.Error - count.Warning - count.Note; silenced > 0 {
		lines = append(lines, fmt.Sprintf(messages.Disabled, humanize.Count(silenced, "finding")))
	}
	if skipped := len(result.Skipped); skipped > 0 {
		lines = append(lines, fmt.Sprintf(messages.Skipped, humanize.Count(skipped, "file")))
	}
	fmt.Fprintln(o.ErrOut, strings.Join(lines, "\n"))
}

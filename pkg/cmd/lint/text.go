package lint

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/lint/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// printText prints each finding: the defect and its object, related objects, the fix.
func (o *options) printText(result *lint.Result) error {
	out := bufio.NewWriter(o.Out)
	paint := painter(o.Out)
	seen, onTerminal := map[string]bool{}, terminal.IsTerminal(o.Out)
	for _, f := range result.Findings {
		if f.Silence != nil {
			continue
		}
		place := terminal.OneLine(placeOf(f.Object.File, f.Position))
		fmt.Fprintf(out, messages.Finding+"\n", place, paint(f.Level),
			terminal.OneLine(f.Message), terminal.OneLine(title(f.Object)), f.Rule.Name)
		for _, line := range related(f) {
			fmt.Fprintln(out, messages.Indent+line)
		}
		help := terminal.OneLine(fmt.Sprintf(messages.Help, f.Help))
		if onTerminal && seen[help] {
			continue // a person reads it once
		}
		seen[help] = true
		fmt.Fprintln(out, messages.Indent+help)
	}
	return out.Flush()
}

// colors are the colors of the levels on a terminal (ECMA-48).
var colors = map[v1alpha1.LintLevel]string{
	v1alpha1.LintError: "\x1b[31m", v1alpha1.LintWarning: "\x1b[33m", v1alpha1.LintNote: "\x1b[36m",
}

// painter returns a function that writes a level, in color if kubectl would use color.
func painter(out io.Writer) func(v1alpha1.LintLevel) string {
	if !terminal.AllowsColor(out) {
		return func(level v1alpha1.LintLevel) string { return string(level) }
	}
	return func(level v1alpha1.LintLevel) string { return colors[level] + string(level) + "\x1b[0m" }
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
			placeOf(r.Object.File, r.Position), title(r.Object), r.About)))
	}
	return lines
}

// title names an object for people, and shows where the server truncates its prefix.
func title(o rules.Object) string {
	if o.Name != "" || o.GenerateName == "" {
		return strings.TrimSpace(o.Kind.Kind + " " + o.Name)
	}
	prefix := o.GenerateName
	kept := names.EffectivePrefix(prefix)
	if kept != prefix {
		kept += messages.Truncation + strings.TrimPrefix(prefix, kept)
	}
	return o.Kind.Kind + " " + kept
}

// printCounts prints on stderr the comments without effect and the counts.
func (o *options) printCounts(result *lint.Result) {
	for _, s := range result.Idle {
		why := s.Trouble
		if why == "" {
			why = messages.NoFindingThere
		}
		fmt.Fprintln(o.ErrOut, terminal.OneLine(fmt.Sprintf(messages.Idle,
			placeOf(s.File, s.Position), strings.Join(s.Rules, ","), why)))
	}
	if !o.showSkips {
		for _, s := range unchecked(result, o.failOnSkipped) {
			fmt.Fprintln(o.ErrOut, terminal.OneLine(fmt.Sprintf(messages.NotChecked, s.File, s.Reason)))
		}
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
	if result.Exported > 0 {
		lines = append(lines, fmt.Sprintf(messages.Exported, humanize.Count(result.Exported, "object")))
	}
	if result.Placeholders > 0 {
		lines = append(lines, fmt.Sprintf(messages.Placeholders, humanize.Count(result.Placeholders, "object")))
	}
	if o.showSkips {
		lines = append(lines, disabled(result)...)
		for _, s := range result.Skipped {
			lines = append(lines, terminal.OneLine(fmt.Sprintf(messages.SkippedFile, s.File, s.Reason)))
		}
	}
	fmt.Fprintln(o.ErrOut, strings.Join(lines, "\n"))
}

// disabled returns a line for each finding that a comment or an annotation disables.
func disabled(result *lint.Result) []string {
	var lines []string
	for _, f := range result.Findings {
		if f.Silence != nil {
			lines = append(lines, terminal.OneLine(fmt.Sprintf(messages.DisabledFinding,
				placeOf(f.Object.File, f.Position), f.Message, title(f.Object), f.Rule.Name, f.Silence.Reason)))
		}
	}
	return lines
}

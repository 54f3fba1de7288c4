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
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// printText prints each finding: the defect and its object, related objects, the fix.
func (o *options) printText(result *lint.Result) error {
	out := bufio.NewWriter(o.Out)
	paint, width := painter(o.Out), terminal.TextWidth(o.Out)
	line := func(indent, text string) { fmt.Fprintln(out, indent+terminal.Wrap(text, 4, width)) }
	seen, onTerminal := map[string]bool{}, terminal.IsTerminal(o.Out)
	for _, f := range result.Findings {
		if f.Silence != nil {
			continue
		}
		place := terminal.OneLine(placeOf(f.Object.File, f.Position))
		line("", fmt.Sprintf("%s: %s: %s (%s) [%s]", place, paint(f.Level),
			terminal.OneLine(f.Message), terminal.OneLine(title(f.Object)), f.Rule.Name))
		for _, text := range related(f) {
			line("  ", text)
		}
		help := terminal.OneLine(fmt.Sprintf("help: %s", f.Help))
		if onTerminal && seen[help] {
			continue // a person reads it once
		}
		seen[help] = true
		line("  ", help)
	}
	return out.Flush()
}

// wrapPage returns a page of Markdown in lines of at most the given width, except for code and tables.
func wrapPage(text string, width int) string {
	lines, isCode := strings.Split(text, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			isCode = !isCode
		}
		if !isCode && !strings.HasPrefix(line, "|") {
			lines[i] = terminal.Wrap(line, 0, width)
		}
	}
	return strings.Join(lines, "\n")
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

func placeOf(file string, at manifest.Position) string {
	return fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
}

func related(f lint.Finding) []string {
	var lines []string
	for _, r := range f.Related {
		lines = append(lines, terminal.OneLine(fmt.Sprintf("also: %s: %s (%s)",
			placeOf(r.Object.File, r.Position), title(r.Object), r.About)))
	}
	return lines
}

func title(o rules.Object) string {
	if o.Name != "" || o.GenerateName == "" {
		return strings.TrimSpace(o.Kind.Kind + " " + o.Name)
	}
	prefix := o.GenerateName
	kept := names.EffectivePrefix(prefix)
	if kept != prefix {
		kept += "|" + strings.TrimPrefix(prefix, kept)
	}
	return o.Kind.Kind + " " + kept
}

// notes are the lines after the findings.
func (o *options) notes(result *lint.Result) (lines []string) {
	for _, s := range result.Idle {
		why := s.Trouble
		if why == "" {
			why = "these rules find nothing there"
		}
		lines = append(lines, terminal.Warningf("%s: genname:disable %s has no effect: %s",
			placeOf(s.File, s.Position), strings.Join(s.Rules, ","), why))
	}
	if !o.showSkips {
		for _, s := range unchecked(result, o.failOnSkipped) {
			lines = append(lines, terminal.Warningf("%s is not checked: %s", s.File, s.Reason))
		}
	}
	count := countLevels(result)
	lines = append(lines, fmt.Sprintf("%s, %s and %s in %s of %s.",
		humanize.Count(count.Error, "error"), humanize.Count(count.Warning, "warning"),
		humanize.Count(count.Note, "note"),
		humanize.Count(result.Objects, "object"), humanize.Count(len(result.Read), "file")))
	lines = append(lines, byRule(result)...)
	if o.fileNote != "" {
		lines = append(lines, o.fileNote)
	}
	add := func(count int, format, noun string) {
		if count > 0 {
			lines = append(lines, fmt.Sprintf(format, humanize.Count(count, noun)))
		}
	}
	saved := inBaseline(result)
	add(len(result.Findings)-count.Error-count.Warning-count.Note-saved,
		"%s disabled by comments and annotations.", "finding")
	add(saved, "Not counted: %s of the baseline.", "finding")
	add(len(result.Skipped), "%s skipped. To list them, use --show-skipped.", "file")
	add(result.Exported, "Not checked: %s with metadata.resourceVersion, which only a server sets.", "object")
	add(result.Placeholders, "Length and characters not checked: %s with a variable in the name.", "object")
	if o.showSkips {
		lines = append(lines, disabled(result)...)
		for _, s := range result.Skipped {
			lines = append(lines, terminal.OneLine(fmt.Sprintf("skipped: %s: %s", s.File, s.Reason)))
		}
	}
	return lines
}

// countable is the largest number of findings without a line that counts them by rule.
const countable = 10

// byRule returns a line with the number of findings of each rule if there are many.
func byRule(result *lint.Result) []string {
	count := map[string]int{}
	for _, f := range result.Findings {
		if f.Silence == nil {
			count[f.Rule.Name]++
		}
	}
	var parts []string
	total := 0
	for _, name := range ruleNames() {
		if n := count[name]; n > 0 {
			parts, total = append(parts, fmt.Sprintf("%s %d", name, n)), total+n
		}
	}
	if total <= countable {
		return nil
	}
	return []string{"By rule: " + strings.Join(parts, ", ") + "."}
}

func disabled(result *lint.Result) []string {
	var lines []string
	for _, f := range result.Findings {
		if f.Silence != nil {
			lines = append(lines, terminal.OneLine(fmt.Sprintf("disabled: %s: %s (%s) [%s]: %s",
				placeOf(f.Object.File, f.Position), f.Message, title(f.Object), f.Rule.Name, f.Silence.Reason)))
		}
	}
	return lines
}

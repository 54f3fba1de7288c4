package lint

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// printText prints two lines for each finding: what is wrong, and what to do.
func (o *options) printText(result *lint.Result) error {
	out := bufio.NewWriter(o.Out)
	for _, f := range result.Findings {
		if f.Silence != nil {
			continue
		}
		place := fmt.Sprintf("%s:%d:%d", f.Object.File, f.Line, f.Column)
		fmt.Fprintln(out, terminal.OneLine(fmt.Sprintf("%s: %s: %s: %s [%s]",
			place, f.Level, title(f.Object), f.Message, f.Rule.Name)))
		fmt.Fprintln(out, terminal.OneLine("help: "+f.Help))
	}
	return out.Flush()
}

// title names an object for people.
func title(o rules.Object) string {
	name := o.GetName()
	if name == "" {
		name = o.GetGenerateName()
	}
	return o.GetKind() + " " + name
}

// tell says on stderr how much was looked at, and what silences nothing.
func (o *options) tell(result *lint.Result) {
	for _, s := range result.Idle {
		why := s.Trouble
		if why == "" {
			why = "nothing is found there"
		}
		fmt.Fprintln(o.ErrOut, terminal.OneLine(fmt.Sprintf("Warning: %s:%d:%d: %s %s silences nothing: %s",
			s.File, s.Line, s.Column, "genname:disable", strings.Join(s.Rules, ","), why)))
	}
	count := countLevels(result)
	silenced := len(result.Findings) - count.Error - count.Warning - count.Note
	text := fmt.Sprintf("%s, %s and %s in %s of %s",
		humanize.Count(count.Error, "error"), humanize.Count(count.Warning, "warning"),
		humanize.Count(count.Note, "note"),
		humanize.Count(result.Objects, "object"), humanize.Count(len(result.Read), "file"))
	if silenced > 0 {
		text += fmt.Sprintf("; %d silenced", silenced)
	}
	if skipped := len(result.Skipped); skipped > 0 {
		text += fmt.Sprintf("; %s skipped, of templates or without Kubernetes objects", humanize.Count(skipped, "file"))
	}
	fmt.Fprintln(o.ErrOut, text)
}

package lint

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// shownByGitHub is the number of annotations of a level that GitHub shows for a step. GitHub drops the other
// annotations without a warning (docs.github.com: workflow commands).
const shownByGitHub = 10

// gitHubKinds are GitHub's names of the levels.
var gitHubKinds = map[v1alpha1.LintLevel]string{
	v1alpha1.LintError: "error", v1alpha1.LintWarning: "warning", v1alpha1.LintNote: "notice",
}

// printGitHub prints workflow commands for annotations, the worst findings first. printGitHub prints the number of
// annotations that GitHub doesn't show.
func (o *options) printGitHub(result *lint.Result) error {
	out := bufio.NewWriter(o.Out)
	count := map[v1alpha1.LintLevel]int{}
	for _, level := range levels {
		for _, f := range result.Findings {
			if f.Silence != nil || f.Level != level {
				continue
			}
			count[level]++
			lines := append([]string{terminal.OneLine(f.Message + " (" + title(f.Object) + ")")}, related(f)...)
			lines = append(lines, terminal.OneLine(fmt.Sprintf("help: %s", f.Help)))
			fmt.Fprintf(out, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", gitHubKinds[level],
				gitHubProperty.Replace(terminal.Printable(o.repository.path(f.Object.File))), f.Line, f.Column,
				gitHubProperty.Replace("genname "+f.Rule.Name), gitHubData.Replace(strings.Join(lines, "\n")))
		}
	}
	for _, u := range result.Unreadable {
		file, text := terminal.Printable(o.repository.path(u.File)), terminal.OneLine(unreadable(u).Error())
		fmt.Fprintf(out, "::error file=%s,line=%d,title=genname::%s\n",
			gitHubProperty.Replace(file), max(u.Line, 1), gitHubData.Replace(text))
	}
	for _, line := range disabled(result) {
		fmt.Fprintln(out, line)
	}
	var dropped []string
	for _, level := range levels {
		if more := count[level] - shownByGitHub; more > 0 {
			dropped = append(dropped, humanize.Count(more, string(level)))
		}
	}
	if len(dropped) > 0 {
		fmt.Fprintf(out, "GitHub shows the first %d findings of each level. Only this log has the other %s.\n",
			shownByGitHub, strings.Join(dropped, ", "))
	}
	return out.Flush()
}

// The escapes of workflow commands.
var (
	gitHubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	gitHubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

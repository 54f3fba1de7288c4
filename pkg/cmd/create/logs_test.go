package create

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// A line of a log can't be a command for a CI system, move the cursor, or look like a line of the plugin, unless the user
// wants the bytes.
func TestInertLogs(t *testing.T) {
	for line, want := range map[string]string{
		"::error::x":                    `\u003a:error::x`,
		"##vso[task.setvariable v=a]x":  `\u0023#vso[task.setvariable v=a]x`,
		"##teamcity[x]":                 `\u0023#teamcity[x]`,
		"50%\r100% \x1b[2J\tok":         `50%\u000d100% \u001b[2J` + "\tok",
		"error: not all objects failed": "error: not all objects failed",
		"of Windows\r":                  "of Windows",
	} {
		for _, raw := range []bool{false, true} {
			var out strings.Builder
			l := &logPrinter{stderr: terminal.NewStderr(&out), raw: raw, names: true}
			l.line(logs.Container{Pod: "p", Name: "main"}, []byte(line))
			wanted := "[pod/p/main] " + want + "\n"
			if raw {
				wanted = line + "\n"
			}
			if out.String() != wanted {
				t.Errorf("raw %t: %q, want %q", raw, out.String(), wanted)
			}
			if got := l.tail(logs.Container{Pod: "q"}, []string{line})[1]; !raw && got != "    "+want || raw && got != "    "+line {
				t.Errorf("raw %t: %q", raw, got)
			}
		}
	}
}

//go:build unix

package lint

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// onTerminal lints on a terminal with 80 columns, and returns the text on the screen.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ptmx.Close() }()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(ptmx) // ends with an error when the other end is closed
		shown <- string(all)
	}()
	cmd.Execute(t.Context(), append([]string{"lint"}, args...),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: tty, ErrOut: io.Discard})
	_ = tty.Close()
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

// colored sets the environment of a terminal with colors.
func colored(t *testing.T) {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "") // restores the variable after the test
	if err := os.Unsetenv("NO_COLOR"); err != nil {
		t.Fatal(err)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A terminal shows equal help only once, and different help each time. A pipe and a narrow terminal get whole lines.
func TestHelpOnTerminal(t *testing.T) {
	colored(t)
	tree(t, map[string]string{
		"a.yaml": configMap("generateName: a") + "---\n" + configMap("generateName: b") + "---\n" + configMap("generateName: c"),
		"b.yaml": job("generateName: " + long[:56] + "-"),
	})
	piped, _, _ := run(t, "", "-R", "-f", ".")
	shown := escape.ReplaceAllString(onTerminal(t, "-R", "-f", "."), "")
	var want []string
	seen := map[string]bool{}
	for line := range strings.Lines(piped) {
		if help := strings.HasPrefix(line, "  help: "); !help || !seen[line] {
			want = append(want, line)
		}
		seen[line] = true
	}
	if repeated := strings.Count(piped, "  help: ") - strings.Count(shown, "  help: "); repeated != 2 {
		t.Errorf("the terminal leaves out %d lines of help", repeated)
	}
	if shown != strings.Join(want, "") {
		t.Errorf("shown\n%s\nof\n%s", shown, piped)
	}
}

// Levels have colors if kubectl's output would have them.
func TestColors(t *testing.T) {
	tree(t, map[string]string{
		"a.yaml": configMap("generateName: a") + "---\n" + configMap(`generateName: "B_"`) + "---\n" +
			configMap("name: c, generateName: c-"),
	})
	const levels = "\x1b[36mnote\x1b[0m \x1b[31merror\x1b[0m \x1b[33mwarning\x1b[0m"
	for name, test := range map[string]struct{ variable, value, want string }{
		"terminal":       {"TERM", "xterm", levels},
		"dumb terminal":  {"TERM", "dumb", ""},
		"NO_COLOR":       {"NO_COLOR", "1", ""},
		"empty NO_COLOR": {"NO_COLOR", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			colored(t)
			t.Setenv(test.variable, test.value)
			shown := onTerminal(t, "-f", "a.yaml")
			got := strings.Join(regexp.MustCompile("\x1b\\[3.m[a-z]+\x1b\\[0m").FindAllString(shown, -1), " ")
			if got != test.want || strings.Count(shown, "\x1b") != strings.Count(test.want, "\x1b") || !strings.Contains(shown, "[invalid-prefix]") {
				t.Errorf("%q of %q", got, shown)
			}
		})
	}
	t.Run("pipe", func(t *testing.T) {
		colored(t)
		if piped, _, _ := run(t, "", "-f", "a.yaml"); strings.Contains(piped, "\x1b") || !strings.Contains(piped, "[invalid-prefix]") {
			t.Errorf("%q", piped)
		}
	})
}

package reference

import (
	"os/exec"
	"testing"
	"unicode"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// A shell takes quoted text as one word, and a terminal shows it unchanged.
func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"in/demo-1.yaml": "in/demo-1.yaml", "https://x/y.yaml": "https://x/y.yaml", "a b": "'a b'", "a;b": "'a;b'", "it's": `'it'\''s'`,
		"a`b": "'a`b'", `a\b`: `'a\b'`, "#a": "'#a'", "~a": "'~a'", "a!": "'a!'", "[a]": "'[a]'", "{a,b}": "'{a,b}'",
		"$(touch x)": "'$(touch x)'", "a\nb": `$'a\x0ab'`, "\x1b[31mé'": `$'\x1b[31m\xc3\xa9\''`, "é": "'é'", "": "''",
		"::add-mask::a": `$'\x3a:add-mask::a'`, " ::a": `$' \x3a:a'`, "a::b": "a::b", "a##[error]b": `$'a\x23#[error]b'`, "it's ##[": `$'it\'s \x23#['`,
		"a##vso[task.complete]": `$'a\x23#vso[task.complete]'`, "##": "'##'",
		"jobs/run-": "jobs/run-", "app in (a,b)": "'app in (a,b)'", "2026-11-21T08:00:00Z": "2026-11-21T08:00:00Z",
	} {
		got := Quote(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if printed, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+got).Output(); err != nil || string(printed) != text {
			t.Errorf("%q: a shell takes %s for %q, %v", text, got, printed, err)
		}
	}
}

// The runner of GitHub Actions ignores Unicode white space before a command.
func TestLineCommand(t *testing.T) {
	for r := range rune(0x3001) {
		if text := string(r) + "::a"; r != ':' && LineCommand.MatchString(text) != unicode.IsSpace(r) {
			t.Errorf("%q: is a command: %t", text, LineCommand.MatchString(text))
		}
	}
}

func TestIn(t *testing.T) {
	for _, test := range [][3]string{
		{"job.batch/a", "", "job.batch/a"}, {"job.batch/a", "b", "job.batch/a -n b"}, {"role/$(x)", "b", "'role/$(x)' -n b"},
	} {
		if got := In(test[0], test[1]); got != test[2] {
			t.Errorf("%q, want %q", got, test[2])
		}
	}
}

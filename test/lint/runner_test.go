package lint

import (
	"regexp"
	"strings"
	"testing"
)

// annotation is the only command that lint gives to the runner of GitHub Actions.
var annotation = regexp.MustCompile(`^::(error|warning|notice) file=[^:]*::`)

// Text of a file, of its name and of a comment is no command for the runner that shows the output. A runner
// executes "::COMMAND" at the beginning of a line, and "##[COMMAND]" anywhere in a line (actions/runner,
// ActionCommand.cs).
func TestRunnerCommands(t *testing.T) {
	const mask, group = "::add-mask::a", "##[add-mask]a"
	files := map[string]string{
		mask + ".yaml":                  configMap(`name: a, generateName: "` + mask + `"`),
		group + ".yaml":                 configMap(`name: a, generateName: "` + group + `"`),
		"silent.yaml":                   "# genname:disable both-names: " + group + "\n" + configMap(`name: a, generateName: a`),
		"idle.yaml":                     "# genname:disable " + group + ": a\n" + configMap(`name: a`),
		"d/" + mask + "\x1b]0;a\a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n \tx",
		"d/" + group + "-c.yaml":        "a: b\n",
	}
	tree(t, files)
	for _, format := range []string{"text", "github"} {
		args := []string{"-R", "-f", ".", "-f", mask, "-f", group, "--show-skipped"}
		if format == "github" {
			args = append(args, "-o", format)
		}
		stdout, stderr, code := run(t, "", args...)
		if code != 3 {
			t.Errorf("%s: exit code %d", format, code)
		}
		for line := range strings.Lines(stdout + stderr) {
			if format == "github" && annotation.MatchString(line) {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "\x1b") {
				t.Errorf("%s: a runner or a terminal executes a part of %q", format, line)
			}
		}
	}
}

package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// load reads a file of the repository.
func load(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(harness.Root + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// The plugin has the commands of the hooks.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Language, Entry string
		Args                []string
		PassFilenames       *bool `json:"pass_filenames"`
	}
	load(t, ".pre-commit-hooks.yaml", &hooks)
	repository(t)
	for _, hook := range hooks {
		words := append(strings.Fields(hook.Entry), hook.Args...)
		if words[0] != "kubectl-genname" || words[1] != "lint" || hook.PassFilenames == nil || *hook.PassFilenames {
			t.Errorf("%+v", hook)
		}
		if _, stderr, code := run(t, "", words[2:]...); code != 3 {
			t.Errorf("%s: code %d, %s", hook.ID, code, stderr)
		}
	}
	if len(hooks) != 3 {
		t.Error(hooks)
	}
}

// The Dockerfile uses the module's version of Go, and builds an existing program.
func TestImage(t *testing.T) {
	image, err := os.ReadFile(harness.Root + "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile(harness.Root + "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	from := regexp.MustCompile(`(?m)^FROM golang:(\S+) `).FindSubmatch(image)
	if version == nil || from == nil || string(version[1]) != string(from[1]) {
		t.Errorf("the image is built by Go %s, the module says %s", from, version)
	}
	build := regexp.MustCompile(`(?m)^RUN .* go build .* (\./\S+)$`).FindSubmatch(image)
	if build == nil {
		t.Fatal("nothing is built")
	}
	command := exec.Command("go", "list", "-f", "{{.Name}}", string(build[1]))
	command.Dir = harness.Root
	if out, err := command.Output(); err != nil || string(out) != "main\n" {
		t.Errorf("%s is %q: %v", build[1], out, err)
	}
}

// The action passes its inputs to scripts only through variables, so that no input is executed.
func TestAction(t *testing.T) {
	var action struct {
		Runs struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	load(t, "action.yml", &action)
	for _, step := range action.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%q has what a user says", step.Run)
		}
		script := regexp.MustCompile(`packaging/action/[a-z]+\.sh`).FindString(step.Run)
		if _, err := os.Stat(harness.Root + script); script == "" || err != nil {
			t.Error(step.Run, err)
		}
	}
	if len(action.Runs.Steps) != 2 {
		t.Error(action)
	}
}

// The second step runs the command, and outputs names and exit code. It doesn't execute its arguments.
func TestActionRuns(t *testing.T) {
	for _, test := range []struct {
		command, args, output string
		code                  int
	}{
		{"lint", "-f $(touch x) *", "exit-code=3\n", 3},
		{"create", "-f job.yaml", "names<<END\njob.batch/a\njob.batch/b\nEND\nexit-code=4\n", 4},
		{"version; touch x", "", "", 1},
	} {
		dir := t.TempDir()
		stub := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + dir + "/asked\n[ $1 = create ] || exit 3\nprintf 'job.batch/a\\njob.batch/b\\n'; exit 4\n"
		if err := os.WriteFile(filepath.Join(dir, "kubectl-genname"), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
		script, err := filepath.Abs(harness.Root + "packaging/action/run.sh")
		if err != nil {
			t.Fatal(err)
		}
		command := exec.Command("bash", script)
		command.Dir = dir
		command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "COMMAND="+test.command, "ARGS="+test.args,
			"GITHUB_OUTPUT="+filepath.Join(dir, "output"))
		printed, _ := command.CombinedOutput() // its exit code is compared
		output, _ := os.ReadFile(filepath.Join(dir, "output"))
		got := regexp.MustCompile(`END-\d+`).ReplaceAllString(string(output), "END")
		if code := command.ProcessState.ExitCode(); code != test.code || got != test.output {
			t.Errorf("%s: code %d, output %q, printed %s", test.command, code, got, printed)
		}
		asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
		if words := strings.Fields(test.command + " " + test.args); test.command == "lint" && !slices.Equal(strings.Fields(string(asked)), words) {
			t.Errorf("asked %q, want %q", asked, words)
		}
		if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
			t.Error("an argument was carried out")
		}
	}
}

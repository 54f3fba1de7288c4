package lint

import (
	"os"
	"os/exec"
	"regexp"
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

// The Dockerfile uses the module's version of Go, by digest, and builds an existing program.
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
	from := regexp.MustCompile(`(?m)^FROM golang:(\d+\.\d+)\S*@sha256:[0-9a-f]{64} `).FindSubmatch(image)
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

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// reader copies commands from a page into one shell. A clone of the repository is a copy of its files, and sudo installs
// into a directory of PATH.
type reader struct {
	t   *testing.T
	env []string
	dir string
}

func newReader(t *testing.T, kubeconfig string) reader {
	t.Helper()
	bin, root := t.TempDir(), absolute(t, harness.Root)
	r := reader{t: t, dir: t.TempDir()}
	for name, script := range map[string]string{
		"git": `[ "$1 $2" = "clone https://github.com/kubectl-genname/kubectl-genname" ] || exit 1
target=${3:-kubectl-genname}
mkdir -p "$target"
PATH="${PATH#*:}" git -C ` + root + ` ls-files | (cd ` + root + ` && while read -r f; do [ ! -f "$f" ] || echo "$f"; done) |
	tar -C ` + root + ` -cf - -T - | tar -C "$target" -xf -`,
		"sudo": `eval "$(printf '%s ' "$@" | sed 's|/usr/local/bin/|` + bin + `|')"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/bash\nset -eo pipefail\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kubectl := filepath.Dir(harness.Kubectl(t))
	r.env = append(os.Environ(), "PATH="+bin+":"+kubectl+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig)
	return r
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// copies runs the commands one after the other. Only lint may exit with 3, for its findings.
func (r reader) copies(commands []string) {
	r.t.Helper()
	script := "set -e\n"
	for _, command := range commands {
		script += "echo '$' " + strings.ReplaceAll(regexp.MustCompile(`[^\w./ -]`).ReplaceAllString(command, "?"), "'", "") + "\n" + command
		if strings.HasPrefix(command, "kubectl genname lint ") {
			script += " || [ $? = 3 ]"
		}
		script += "\n"
	}
	bash := exec.CommandContext(r.t.Context(), "bash", "-c", script)
	bash.Dir, bash.Env = r.dir, r.env
	out, err := bash.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || strings.Contains(string(out), "rror:") && !strings.Contains(string(out), "(--fail-on)") {
		r.t.Errorf("%v\n%s", err, out)
	}
}

// commandsOf returns the commands of a page between two headings: lines after $, and lines of indented and unnamed
// blocks.
func commandsOf(t *testing.T, page, from, to string) []string {
	t.Helper()
	_, part, found := strings.Cut(harness.Read(t, harness.Root+page), "\n## "+from+"\n")
	part, _, ends := strings.Cut(part, "\n## "+to+"\n")
	if !found || !ends {
		t.Fatalf("%s has no heading %s or %s", page, from, to)
	}
	var commands []string
	block := ""
	for line := range strings.Lines(part) {
		line = strings.TrimRight(line, "\n")
		fence, isFence := strings.CutPrefix(line, "```")
		command, isPrompt := strings.CutPrefix(line, "$ ")
		indented, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case isFence && block == "":
			block = "```" + fence
		case isFence:
			block = ""
		case isPrompt && block == "```console":
			commands = append(commands, command)
		case block == "```":
			commands = append(commands, line)
		case block == "" && isIndented:
			commands = append(commands, indented)
		}
	}
	return commands
}

// The commands of README and of the tutorial work in the directory and the cluster that the pages set up.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	for _, page := range []struct{ path, from, to string }{
		{"README.md", "Install", "Commands"}, {"docs/getting-started.md", "1. Install", "Next steps"},
	} {
		t.Run(page.path, func(t *testing.T) {
			ns := harness.Namespace(t, retrying)
			u := harness.As(t, retrying.Admin())
			endJobs(t, retrying, ns, batchv1.JobComplete)
			r := newReader(t, u.Kubeconfig)
			commands := []string{"kubectl config set-context --current --namespace=" + ns + " > /dev/null"}
			for _, command := range commandsOf(t, page.path, page.from, page.to) {
				command = strings.ReplaceAll(command, "-n default ", "-n "+ns+" ")
				command = regexp.MustCompile(`^make (demo|test) `).ReplaceAllString(command, "make -n $1 > /dev/null ")
				if page.path != "README.md" { // README builds the plugin from the clone
					command = strings.Replace(command, "make build", "mkdir bin && cp "+harness.Plugin(t)+" bin/", 1)
				}
				if !strings.HasPrefix(command, "kind ") {
					commands = append(commands, command)
				}
			}
			if len(commands) < 10 {
				t.Fatalf("only %q", commands)
			}
			// The page may have deleted its Jobs. endJobs has finished the others.
			r.copies(append(commands, "kubectl get jobs -o name | xargs -r kubectl wait --for=condition=complete --timeout=2m > /dev/null"))
		})
	}
}

// The recipe of the guide to Helm runs as copied.
func TestRecipesOfGuides(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	r := newReader(t, harness.As(t, retrying.Admin()).Kubeconfig)
	r.env = append(r.env, "PATH="+harness.Path(t))
	page := harness.Read(t, harness.Root+"docs/guides/helm-and-argo-cd.md")
	recipe := regexp.MustCompile(`(?m)^ *helm template .*$`).FindString(page)
	if recipe == "" {
		t.Fatal("the guide has no recipe")
	}
	r.copies([]string{
		`helm() { [ "$*" = "template my-release ./chart -n ` + ns + ` -s templates/job.yaml" ] && cat ` + absolute(t, harness.Root+"examples/hello.yaml") + "; }",
		strings.ReplaceAll(recipe, " -n ci ", " -n "+ns+" "),
		`test "$(kubectl get jobs -n ` + ns + ` -o name | wc -l)" = 1`,
	})
}

// The commands of the guide add the library to a module, and a program of the module compiles with it.
func TestGoGet(t *testing.T) {
	t.Parallel()
	r := newReader(t, "")
	r.dir = filepath.Join(r.dir, "operator")
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := "package main\n\nimport _ \"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr\"\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(r.dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(t, "docs/guides/controllers.md", "Install", "Write the reconciler")
	r.copies(append(append([]string{"go mod init example.com/operator"}, commands...), "go list -deps . > /dev/null"))
}

// Every example of every command's help works as printed. The examples run in order in the directory examples.
func helpExamples(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	endJobs(t, cp, metav1.NamespaceAll, batchv1.JobComplete)
	s := harness.NewShell(t, u.Kubeconfig)
	prepare(t, s)
	dir, ran := examples(t), 0
	web := []byte("http_server_config: {http2: false}\n")
	if err := os.WriteFile(filepath.Join(dir, "web.yml"), web, 0o600); err != nil {
		t.Fatal(err)
	}
	eachCommand(cmd.NewCommand(), func(c *cobra.Command) {
		for _, example := range examplesOf(c) {
			bash := exec.CommandContext(t.Context(), "bash", "-c", shortened(example))
			bash.Env, bash.Dir = s.Env, dir
			if out, err := bash.CombinedOutput(); err != nil {
				t.Errorf("an example of %s fails: %v\n$ %s\n%s", c.CommandPath(), err, example, out)
			}
			ran++
		}
	})
	if ran < 10 {
		t.Errorf("only %d examples ran", ran)
	}
}

// shortened returns a variant of a long-running example that ends soon. An exporter gets a free port. An exporter that
// has printed something ends with 0 after a SIGTERM. prune can refuse the plan here.
func shortened(example string) string {
	if strings.HasPrefix(example, "kubectl genname exporter") {
		example += " --web.listen-address=127.0.0.1:0 --health.listen-address=127.0.0.1:0" // the last one counts
		return `log=$(mktemp); ` + example + ` 2> "$log" & until [ -s "$log" ]; do sleep 0.1; done; kill $!; wait $! || { cat "$log"; false; }`
	}
	if strings.HasPrefix(example, "kubectl genname prune ") {
		return example + " || [ $? = 3 ]"
	}
	return strings.NewReplacer("--duration 10m", "--duration 3s",
		// Programs that wrap runs.
		"argo submit -n ci pipeline.yaml", "kubectl create -f job.yaml",
		"bash release.sh", "bash -c 'kubectl create -f job.yaml'",
		"--context staging -- python3 start-jobs.py", "-- kubectl create -f job.yaml",
		"python3 import.py", "kubectl create -f job.yaml",
	).Replace(example)
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		eachCommand(child, visit)
	}
}

// examplesOf returns the commands in a command's examples: all lines except comments, with their
// continuation lines.
func examplesOf(c *cobra.Command) []string {
	var examples []string
	joined := strings.ReplaceAll(c.Example, "\\\n", "")
	for line := range strings.Lines(joined) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			examples = append(examples, line)
		}
	}
	return examples
}

// prepare creates the prerequisites of the examples: the namespace of a CI system, a CronJob, and the directories of
// krew and fish.
func prepare(t *testing.T, s harness.Shell) {
	t.Helper()
	s.Run("kubectl", "create", "namespace", "batch").Has(t, 0)
	s.Run("kubectl", "create", "namespace", "ci").Has(t, 0)
	s.Run("kubectl", "create", "cronjob", "nightly", "--image=busybox", "--schedule=0 3 * * *").Has(t, 0)
	for _, variable := range s.Env {
		if home, is := strings.CutPrefix(variable, "HOME="); is {
			for _, dir := range []string{".krew/bin", ".config/fish/completions"} {
				if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// examples returns a copy of the directory examples, into which commands can write.
func examples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(harness.Root+"examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

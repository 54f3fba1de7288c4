package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// tree creates a repository of the files, and changes into it.
func tree(t testing.TB, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// found lints the repository, and returns its findings as "FILE:LINE LEVEL RULE" and
// the whole report.
func found(t testing.TB) ([]string, v1alpha1.LintReport) {
	t.Helper()
	stdout, stderr, _ := run(t, "-R", "-f", ".", "-o", "json")
	var report v1alpha1.LintReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var lines []string
	for _, item := range report.Items {
		lines = append(lines, fmt.Sprintf("%s:%d %s %s", item.File, item.Line, item.Level, item.Rule))
	}
	return lines, report
}

// configMap returns a ConfigMap with the fields of its metadata, in one line.
func configMap(metadata string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {" + metadata + "}\n"
}

// job returns a Job with the fields of its metadata, in one line.
func job(metadata string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {" + metadata + "}\nspec:\n  template:\n    spec:\n" +
		"      restartPolicy: Never\n      containers: [{name: a, image: example.com/a}]\n"
}

const long = "integration-tests-of-the-payments-service-on-the-branch-release-"

// The test runs small repositories. Lint must not report a finding that a maintainer would call false. In a similar
// manifest that is wrong, lint must report a finding.
func TestRepositories(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/repositories.txtar")
	if err != nil {
		t.Fatal(err)
	}
	repositories := map[string]map[string]string{}
	for _, file := range archive.Files {
		name, path, _ := strings.Cut(file.Name, "/")
		if repositories[name] == nil {
			repositories[name] = map[string]string{}
		}
		repositories[name][path] = string(file.Data)
	}
	for name, files := range repositories {
		t.Run(name, func(t *testing.T) {
			want := files["want"]
			delete(files, "want")
			tree(t, files)
			lines, report := found(t)
			got := ""
			for i, item := range report.Items {
				got += strings.TrimSpace(lines[i]+" "+relatedFiles(item)) + "\n"
			}
			if got != want {
				t.Errorf("found\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func relatedFiles(item v1alpha1.LintItem) string {
	var names []string
	for _, r := range item.Related {
		names = append(names, r.File)
	}
	return strings.Join(names, " ")
}

// A manifest that was fixed as the finding says has no further finding.
func TestFixes(t *testing.T) {
	tree(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n",
		"a.yaml":             configMap("name: a, generateName: a-"),
		"b.yaml":             job("generateName: " + long),
		"c.yaml":             job("generateName: " + long[:53]),
		"d.yaml":             "apiVersion: v1\nkind: Service\nmetadata: {name: " + long + "one}\n",
		"e.yaml":             "apiVersion: v1\nkind: Service\nmetadata: {generateName: " + long + "one-}\n",
	})
	_, report := found(t)
	for at, want := range map[string]string{
		"a.yaml both-names":   "remove metadata.generateName",
		"b.yaml child-names":  "shorten generateName to 53 bytes",
		"c.yaml no-separator": "shorten generateName to 53 bytes, and end it with -",
		"d.yaml invalid-name": "shorten it",
		"e.yaml invalid-name": "shorten it",
	} {
		has := false
		for _, item := range report.Items {
			has = has || item.File+" "+item.Rule == at && item.Help == want
		}
		if !has {
			t.Errorf("%s has not the fix %q: %+v", at, want, report.Items)
		}
	}
}

// Lint needs about four times the processor time for input that is four times as long, and not sixteen times.
func TestTimeIsLinear(t *testing.T) {
	const count = 2000
	numbered := func(item string, n int) string { // %d in an item is its number
		var text strings.Builder
		text.WriteString("apiVersion: v1\nkind: List\nitems:\n")
		for i := range n {
			text.WriteString("- {apiVersion: v1, " + strings.ReplaceAll(item, "%d", strconv.Itoa(i)) + "}\n")
		}
		return text.String()
	}
	repeated := func(field, item string, n int) string { return field + ": [" + strings.Repeat(item+", ", n) + "]" }
	pod := func(n int) string {
		return "- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: a}, spec: {" + repeated("imagePullSecrets", "{name: a-}", n) + "}}\n"
	}
	const comment = "# genname:disable both-names: x\n"
	for name, text := range map[string]func(n int) string{
		"items": func(n int) string {
			return numbered("kind: ConfigMap, metadata: {name: a}, data: {text: "+strings.Repeat("x", 200)+"}", n)
		},
		"documents that can't be read": func(n int) string { return configMap("name: a") + strings.Repeat("---\na: [\n", 10*n) },
		"values of JSON":               func(n int) string { return strings.Repeat("{}", 20*n) },
		"references to a name":         func(n int) string { return numbered("kind: Secret, metadata: {name: a-, namespace: n%d}", n) + pod(n) },
		"references to a generateName": func(n int) string {
			return numbered("kind: Secret, metadata: {generateName: a-, namespace: n%d}", n) + pod(n)
		},
		"hooks": func(n int) string {
			return numbered("kind: Pod, metadata: {generateName: a-, namespace: n%d, annotations: {argocd.argoproj.io/hook: Sync}}", n)
		},
		"directories that a tool applies": func(n int) string {
			return numbered("kind: Secret, metadata: {name: a}", n) + "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\n" +
				"spec: {" + repeated("sources", "{path: a, directory: {recurse: true}}", n) + "}\n"
		},
		"a long prefix": func(n int) string { return numbered("kind: ConfigMap, metadata: {generateName: "+long+"}", n) },
		"comments":      func(n int) string { return configMap("generateName: a-") + strings.Repeat(comment, 20*n) },
		"comments on many findings": func(n int) string {
			return strings.Repeat(comment, 20*n) + numbered("kind: Secret, metadata: {generateName: a}", n)
		},
		"number signs": func(n int) string {
			return configMap("name: a") + "data: {a: \"" + strings.Repeat(" #", 50*n) + "\"}\n" + comment +
				"#1\n#2\n#3\n#4\n#5\n#6\n#7\n#8\n" // enough keys, because a small map doesn't hash its keys
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := configMap("generateName: " + long + "b") // in other files, with the same first 58 bytes
			tree(t, map[string]string{
				"short/a.yaml": text(count), "short/b.yaml": other, "long/a.yaml": text(4 * count), "long/b.yaml": other,
			})
			compareTimes(t)
		})
	}
}

// compareTimes fails if linting the directory long takes more than ten times the processor time of the directory short.
func compareTimes(t *testing.T) {
	processorTime := func() time.Duration {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			t.Fatal(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	short, long := time.Hour, time.Hour
	for range 20 { // the garbage of earlier tests counts, too, so the shortest times are compared
		for dir, least := range map[string]*time.Duration{"short": &short, "long": &long} {
			begin := processorTime()
			run(t, "-f", dir)
			*least = min(*least, processorTime()-begin)
		}
		if long <= 10*short {
			return
		}
	}
	t.Errorf("it takes %v of processor time, and four times as much %v", short, long)
}

// Lint ignores a .gitignore with so many patterns that matching each file would take long.
func TestManyPatterns(t *testing.T) {
	for patterns, want := range map[int]int{5000: 1, 10_000: 2} {
		tree(t, map[string]string{
			".gitignore": "b.yaml\n" + strings.Repeat("x\n", patterns), "a.yaml": configMap("name: a"), "b.yaml": configMap("name: b"),
		})
		if _, report := found(t); report.Summary.Files != want {
			t.Errorf("%d files with %d patterns, want %d", report.Summary.Files, patterns, want)
		}
	}
}

// kustomize logs names of a kustomization. The log has no command for a terminal or for a CI system.
func TestLogOfKustomize(t *testing.T) {
	program := harness.Plugin(t)
	tree(t, map[string]string{"a.yaml": configMap("name: a"), "kustomization.yaml": `resources: [a.yaml]
vars: [{name: "A\n::add-mask::B##[add-mask]C\e[31m", objref: {apiVersion: v1, kind: ConfigMap, name: a}}]
`})
	out, err := exec.Command(program, "lint", "-k", ".").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("never replaced")) {
		t.Fatalf("%v: %s", err, out)
	}
	if regexp.MustCompile(`(?m)^::|##\[|\x1b`).Match(out) {
		t.Errorf("%q", out)
	}
}

// Lint doesn't read a pipe in a directory, or one that matches a pattern. While lint reads a pipe that is named as an
// argument, the user can interrupt it.
func TestPipes(t *testing.T) {
	tree(t, map[string]string{"a.yaml": configMap("generateName: a-")})
	if err := syscall.Mkfifo("pipe.yaml", 0o644); err != nil {
		t.Fatal(err)
	}
	if _, report := found(t); report.Summary.Objects != 1 || len(report.SkippedFiles) != 1 {
		t.Errorf("%d objects, skipped %+v, want 1 and 1", report.Summary.Objects, report.SkippedFiles)
	}
	if _, stderr, code := run(t, "-f", "p*.yaml"); code != 1 || !strings.Contains(stderr, "not a regular file") {
		t.Errorf("code %d, stderr %q, want an error about the pipe", code, stderr)
	}
	never, end := io.Pipe()
	defer func() { _ = end.Close() }()
	for _, args := range [][]string{{"-f", "pipe.yaml"}, {"-f", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		code := make(chan int)
		var errOut bytes.Buffer
		go func() {
			code <- cmd.Execute(ctx, append([]string{"lint"}, args...),
				genericiooptions.IOStreams{In: never, Out: io.Discard, ErrOut: &errOut})
		}()
		time.AfterFunc(50*time.Millisecond, cancel)
		select {
		case got := <-code:
			if output := errOut.String(); got != 130 || output != "error: interrupted"+"\n" {
				t.Errorf("%v: code %d, stderr %q", args, got, output)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: an interrupt does not end it", args)
		}
	}
}

// A repository can be of an author whom the user doesn't trust. Lint reads no file of it that would hang or fill the
// memory, reads no file outside, and shows no name from outside.
func TestUntrustedRepository(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte(configMap("name: secret-name, generateName: secret-prefix-")), 0o600); err != nil {
		t.Fatal(err)
	}
	bomb := "x0: &x0 [" + strings.Repeat("a,", 9) + "]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("x%d: &x%[1]d [%s]\n", i, strings.Repeat(fmt.Sprintf("*x%d,", i-1), 9))
	}
	for _, name := range []string{"kustomization.yaml", ".gitignore", ".genname.yaml", "b.yaml", "d/kustomization.yml", "d/Chart.yaml"} {
		for kind, create := range map[string]func(path string) error{
			"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
			"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"outside": func(path string) error { return os.Symlink(outside, path) },
			"large": func(path string) error {
				return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 100<<30))
			},
			"aliases": func(path string) error { return os.WriteFile(path, []byte(bomb), 0o600) },
			"large aliases": func(path string) error {
				text := "a: &a " + strings.Repeat("large", 1<<17) + "\nb: [" + strings.Repeat("*a,", 10_000) + "]\n"
				return os.WriteFile(path, []byte(text), 0o600)
			},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				tree(t, map[string]string{"a.yaml": configMap("name: a, generateName: a-"), "d/a.yaml": configMap("name: a, generateName: a-")})
				if err := create(name); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{{"-R", "-f", "."}, {"-R", "-f", ".", "--no-inline-disable", "--fail-on-skipped"}, {"-f", "d/a.yaml"}} {
					stdout, stderr, code := run(t, args...)
					checked := strings.Contains(stdout, "d/a.yaml:3:21: warning")
					if checked == (name == ".genname.yaml" && !slices.Contains(args, "--no-inline-disable")) || strings.Contains(stdout+stderr, "secret-") {
						t.Errorf("%v: code %d, %s%s", args, code, stdout, stderr)
					}
				}
			})
		}
	}
}

// Lint doesn't read the directories above a repository, or above the working directory without one.
func TestAboveRepository(t *testing.T) {
	for _, git := range []string{".git/HEAD", "a.txt"} {
		dir := t.TempDir()
		t.Chdir(dir)
		for name, text := range map[string]string{
			"kustomization.yaml": "resources: [r/a.yaml]\n", ".genname.yaml": "levels: {not-appliable: error}\n", ".gitignore": "a.yaml\n",
			"r/" + git: "", "r/a.yaml": configMap("generateName: a-"), "r/d/a.yaml": configMap("generateName: a-"),
		} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir("r")
		for _, args := range [][]string{{"-R", "-f", "."}, {"-R", "-f", filepath.Join(dir, "r/d")}, {"-f", "a.yaml"}} {
			if stdout, stderr, code := run(t, args...); stdout != "" || code != 0 || !strings.Contains(stderr, "objects of") && !strings.Contains(stderr, "1 object of") {
				t.Errorf("%s, %v: code %d, %s%s", git, args, code, stdout, stderr)
			}
		}
	}
}

// annotation is the only command that lint gives to the runner of GitHub Actions.
var annotation = regexp.MustCompile(`^::(error|warning|notice) file=[^:]*::`)

// No text in a file, in a file name or in a comment becomes a command for the CI runner that shows the output. A runner
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
	for _, format := range []string{"text", "github", "json", "sarif", "junit"} {
		args := []string{"-R", "-f", ".", "-f", mask, "-f", group, "--show-skipped"}
		if format != "text" {
			args = append(args, "-o", format)
		}
		stdout, stderr, code := run(t, args...)
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

// The plugin has the commands that the pre-commit hooks run.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Language, Entry string
		Args                []string
		PassFilenames       *bool `json:"pass_filenames"`
	}
	if err := yaml.Unmarshal([]byte(harness.Read(t, harness.Root+".pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	repository(t)
	for _, hook := range hooks {
		words := append(strings.Fields(hook.Entry), hook.Args...)
		if words[0] != "kubectl-genname" || words[1] != "lint" || hook.PassFilenames == nil || *hook.PassFilenames {
			t.Errorf("%+v, want kubectl-genname lint, without file names", hook)
		}
		if _, stderr, code := run(t, words[2:]...); code != 3 {
			t.Errorf("%s: code %d, %s", hook.ID, code, stderr)
		}
	}
	if len(hooks) != 3 {
		t.Error(hooks)
	}
}

// Package scripts finds the scripts of the repository. Each one has a test that runs it. The tests here run the
// scripts of contributors, with scripts instead of make, go and qemu.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

// runBy has the test of each script: its file and its name.
var runBy = map[string]string{
	".ci/bare":                                  "test/scripts/scripts_test.go TestBare",
	".ci/beside":                                "test/scripts/scripts_test.go TestBeside",
	".ci/bump":                                  "test/scripts/bump_test.go TestBump",
	".ci/release-commit":                        "test/release/modules_test.go TestReleaseCommit",
	".ci/run":                                   "test/scripts/scripts_test.go TestRun",
	"action.yml":                                "test/e2e/action_test.go TestAction",
	"clients/python/conformance":                "test/conformance/conformance_test.go TestPython",
	"examples/demo.sh":                          "test/sessions/main_test.go TestSessions", // demo.txt
	"examples/pipeline.sh":                      "test/e2e/docs_pipelines_test.go TestExamplePipeline",
	"lab/compat/arm64":                          "test/scripts/scripts_test.go TestArm64",
	"packaging/action/install.sh":               "test/e2e/action_test.go TestActionInstalls",
	"packaging/action/run.sh":                   "test/e2e/action_test.go TestActionRuns",
	"packaging/kubectl_complete-genname":        "test/offline/offline_test.go TestCompletionShim",
	"packaging/kubectl_complete-genname.cmd":    "test/offline/offline_test.go TestCompletionShim", // on Windows
	"packaging/publish":                         "test/release/publish_test.go TestPublish",
	"test/conformance/programs/kubectl":         "test/scripts/scripts_test.go TestConformanceOfKubectl",
	"test/conformance/programs/kubectl-genname": "test/conformance/conformance_test.go TestCreate",
}

// notRun are scripts that no test runs, and the reasons.
var notRun = map[string]string{
	"test/conformance/programs/javascript/main.js": "needs packages of npm. The target of the Makefile that measures the published clients runs it",
	"test/conformance/programs/python-kubernetes":  "needs Python's package kubernetes. The same target runs it",
	"test/conformance/programs/ansible":            "needs Debian's package ansible. The same target runs it",
	"test/conformance/programs/argo":               "needs argo, which takes minutes to build. The same target runs it",
	"test/conformance/programs/helm":               "needs helm, which takes minutes to build. The same target runs it",
	"test/conformance/programs/wrapped":            "runs these programs under wrap. The same target runs it",
	"test/hosts/run":                               "needs pre-commit, npm and rsync. The target hosts of lab/Makefile runs it every night",
	"pkg/analyze/testdata/extra.py":                "needs mpmath, which is no Go module. TestReferenceRows compares the numbers that it wrote",
}

// Each script has a test. A script is a file with a shebang or the name of one, and the YAML of an action, whose
// steps are scripts.
func TestEachScriptIsRun(t *testing.T) {
	files, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(\.(sh|bash|cmd|bat|ps1)|(^|/)action\.ya?ml)$`)
	var found []string
	for path := range strings.Lines(string(files)) {
		path = strings.TrimSpace(path)
		text, err := os.ReadFile(root + path)
		if err != nil {
			continue // it was deleted, and the deletion is no commit yet
		}
		if named.MatchString(path) || strings.HasPrefix(string(text), "#!") {
			found = append(found, path)
		}
	}
	for _, path := range found {
		file, name, _ := strings.Cut(runBy[path], " ")
		if test, err := os.ReadFile(root + file); notRun[path] == "" && (err != nil || !strings.Contains(string(test), "\nfunc "+name+"(t ")) {
			t.Errorf("no test runs %s: %q", path, runBy[path])
		}
	}
	for path := range runBy {
		if !slices.Contains(found, path) {
			t.Errorf("there is no script %s", path)
		}
	}
}

// machine has programs that are scripts, and runs a script of the repository with them.
type machine struct {
	t        *testing.T
	bin, dir string
	env      []string
}

func newMachine(t *testing.T, programs map[string]string) machine {
	t.Helper()
	m := machine{t: t, bin: t.TempDir()}
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/bash\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.env = append(os.Environ(), "PATH="+m.bin+":"+os.Getenv("PATH"), "MAKE="+filepath.Join(m.bin, "make"))
	return m
}

// run returns the output of a script, and whether it failed.
func (m machine) run(script string, args ...string) (string, bool) {
	m.t.Helper()
	path, err := filepath.Abs(root + script)
	if err != nil {
		m.t.Fatal(err)
	}
	command := exec.CommandContext(m.t.Context(), path, args...)
	command.Dir, command.Env = m.dir, m.env
	out, err := command.CombinedOutput()
	return string(out), err != nil
}

// failsAt is a make that prints its target, and fails for some targets.
const failsAt = `echo "make ${*: -1}"; case "${*: -1}" in $BAD) exit 2 ;; esac`

// The check of a change runs all phases, and stops at the first that fails.
func TestRun(t *testing.T) {
	m := newMachine(t, map[string]string{"make": failsAt, "shellcheck": "", "apt-get": "", "sudo": ""})
	phases := regexp.MustCompile(`(?m)^make .*$`)
	for bad, want := range map[string][]string{
		"none": {
			"make lines", "make build", "make generated", "make lint", "make control-plane", "make bare", "make test", "make release-test",
		},
		"lint": {"make lines", "make build", "make generated", "make lint"},
	} {
		m.env = append(m.env, "BAD="+bad)
		out, failed := m.run(".ci/run")
		if got := phases.FindAllString(out, -1); !slices.Equal(got, want) || failed != (bad == "lint") {
			t.Errorf("%s: failed %t, and printed\n%s", bad, failed, out)
		}
		if strings.Contains(out, "all phases") == failed {
			t.Errorf("%s: the times are wrong:\n%s", bad, out)
		}
	}
}

// Targets beside each other print one after the other. If one fails, the others still end, and it is named.
func TestBeside(t *testing.T) {
	m := newMachine(t, map[string]string{"make": failsAt})
	for bad, ending := range map[string]string{"none": "", "a": "error: failed: a\n", "[bc]": "error: failed: b c\n"} {
		m.env = append(m.env, "BAD="+bad)
		out, failed := m.run(".ci/beside", "a", "b", "c")
		if want := "make a\n== b\nmake b\n== c\nmake c\n" + ending; out != want || failed != (bad != "none") {
			t.Errorf("%s: failed %t, and printed\n%s", bad, failed, out)
		}
	}
}

// A command gets an empty home and no variable but those for go.
func TestBare(t *testing.T) {
	m := newMachine(t, nil)
	m.env = append(m.env, "KUBECONFIG=/a", "TOKEN=b", "RAPID_SEED=7")
	out, failed := m.run(".ci/bare", "sh", "-c", `[ -z "$(ls -A "$HOME")" ] && env`)
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^([A-Z_]+)=`).FindAllStringSubmatch(out, -1) {
		if line[1] != "PWD" && line[1] != "_" && line[1] != "SHLVL" {
			names = append(names, line[1])
		}
	}
	slices.Sort(names)
	want := strings.Fields("CGO_ENABLED GOCACHE GOFLAGS GOMODCACHE GOPROXY GOSUMDB GOTOOLCHAIN HOME KUBECTL_GENNAME_CACHE PATH RAPID_SEED")
	if failed || !slices.Equal(names, want) {
		t.Errorf("failed %t, the variables are %q, want %q. It printed\n%s", failed, names, want, out)
	}
	if _, failed := m.run(".ci/bare", "false"); !failed {
		t.Error("the failure of the command is lost")
	}
}

// The program of another processor gets the arguments, through qemu.
func TestArm64(t *testing.T) {
	m := newMachine(t, map[string]string{"qemu-aarch64-static": `printf '%s\n' "$@"; exit 4`})
	out, failed := m.run("lab/compat/arm64", "create", "-f", "a b")
	if !failed || !strings.HasSuffix(out, "/bin/arm64/kubectl-genname\ncreate\n-f\na b\n") {
		t.Errorf("failed %t, and printed\n%s", failed, out)
	}
	if out, failed := newMachine(t, nil).run("lab/compat/arm64"); !failed || !strings.Contains(out, "qemu-user-static") {
		t.Errorf("without qemu: %s", out)
	}
}

// The program of the conformance run that runs kubectl claims what its exit code and its output say.
func TestConformanceOfKubectl(t *testing.T) {
	for prints, claim := range map[string]string{
		"echo configmap/once-a":  `{"outcome":"created","name":"once-a"}`,
		"echo error >&2; exit 1": `{"outcome":"failed","name":""}`,
	} {
		m := newMachine(t, map[string]string{"kubectl": "[ \"$*\" = \"create --kubeconfig k -f m --validate=false -o name\" ] || exit 9\n" + prints})
		m.dir = t.TempDir()
		out, failed := m.run("test/conformance/programs/kubectl", "k", "m")
		if lines := strings.Split(strings.TrimSpace(out), "\n"); failed || lines[len(lines)-1] != claim {
			t.Errorf("%s: failed %t, and printed\n%s", prints, failed, out)
		}
	}
}

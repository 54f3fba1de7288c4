// Package scripts tests the scripts of contributors, with scripts instead of make, go and qemu.
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

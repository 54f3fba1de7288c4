package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

// build builds a program of this repository.
func build(t *testing.T, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if output, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, output)
	}
	return path
}

// play runs all cases, and returns the table.
func play(t *testing.T, program ...string) (table string, ok bool) {
	t.Helper()
	var out bytes.Buffer
	ok, err := conformance(&out, program, cases())
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), ok
}

func TestLibrary(t *testing.T) {
	if table, ok := play(t, build(t, "./programs/once")); !ok {
		t.Errorf("pkg/once:\n%s", table)
	}
}

func TestCreate(t *testing.T) {
	t.Setenv("KUBECTL_GENNAME", build(t, "../../cmd/kubectl-genname"))
	if table, ok := play(t, "programs/kubectl-genname"); !ok {
		t.Errorf("kubectl genname create:\n%s", table)
	}
}

// The client in Python needs Debian's python3-kubernetes.
func TestPython(t *testing.T) {
	if table, ok := play(t, "../../clients/python/conformance"); !ok {
		t.Errorf("clients/python (it needs the package python3-kubernetes):\n%s", table)
	}
	unit := exec.Command("/usr/bin/python3", "-m", "unittest", "discover", "-s", "tests")
	unit.Dir = "../../clients/python"
	unit.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if output, err := unit.CombinedOutput(); err != nil {
		t.Errorf("tests of clients/python: %v\n%s", err, output)
	}
}

// Each program finds the objects of the others.
func TestOneProgramAfterAnother(t *testing.T) {
	t.Setenv("KUBECTL_GENNAME", build(t, "../../cmd/kubectl-genname"))
	python, err := filepath.Abs("../../clients/python/conformance")
	if err != nil {
		t.Fatal(err)
	}
	create, err := filepath.Abs("programs/kubectl-genname")
	if err != nil {
		t.Fatal(err)
	}
	programs := []string{create, build(t, "./programs/once"), python}
	var twice []testCase
	for _, c := range cases() {
		if strings.HasSuffix(c.name, "run twice") || c.name == "other content under the key" {
			twice = append(twice, c)
		}
	}
	for i, first := range programs {
		second := programs[(i+1)%len(programs)]
		// The home directory belongs to the case.
		script := `if [ -e "$HOME/ran" ]; then exec ` + second + ` "$@"; fi; touch "$HOME/ran"; exec ` + first + ` "$@"`
		var out bytes.Buffer
		ok, err := conformance(&out, []string{"sh", "-c", script, "-"}, twice)
		if err != nil || !ok || len(twice) != 3 {
			t.Errorf("%s, then %s: %v\n%s", first, second, err, out.String())
		}
	}
}

// Programs that claim too much or too little fail. A program without keys passes only where
// it sends one POST.
func TestWrongPrograms(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
	}{
		{"claims without a request", `echo '{"outcome":"created","name":"once-x"}'`, "no object"},
		{"never knows", `echo '{"outcome":"unknown","name":""}'`, "claimed unknown, and the case ends with created"},
		{"prints no claim", "echo done", "the last line of stdout is no claim"},
		{"another word", `echo '{"outcome":"ok","name":""}'`, `the claim has the outcome "ok"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			ok, err := conformance(&out, []string{"sh", "-c", test.script}, cases()[:1])
			if err != nil {
				t.Fatal(err)
			}
			if ok || !strings.Contains(out.String(), test.want) {
				t.Errorf("the run passed, or has no %q:\n%s", test.want, out.String())
			}
		})
	}
}

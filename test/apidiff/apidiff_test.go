// Package apidiff tests .ci/apidiff, which reports how a change affects programs that import the public packages.
package apidiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// repository is the directory of a module with the package p.
type repository struct {
	t    *testing.T
	path string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	return r
}

// run runs a command in the repository, and returns its output and whether it failed.
func (r repository) run(name string, args ...string) (string, bool) {
	r.t.Helper()
	command := exec.Command(name, args...)
	command.Dir = r.path
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath") // as all programs are compiled
	out, err := command.CombinedOutput()
	return string(out), err != nil
}

func (r repository) write(file, text string) {
	r.t.Helper()
	path := filepath.Join(r.path, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// script returns the path of .ci/apidiff.
func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// export writes the exports of packages at a version.
func (r repository) export(version string, packages ...string) {
	r.t.Helper()
	if output, failed := r.run(script(r.t), append([]string{"-w", version}, packages...)...); failed {
		r.t.Fatal(output)
	}
}

func TestAPIDiff(t *testing.T) {
	const before, more = "package p\n\nfunc F() {}\n", "package p\n\nfunc F() {}\n\nfunc G() {}\n"
	const less = "package p\n\nfunc G() {}\n"
	for name, test := range map[string]struct {
		version, now string
		prints       []string
		fails        bool
	}{
		"the same":             {"v1.2.3", before, []string{"./p: no change since v1.2.3", "./q: new since v1.2.3"}, false},
		"more":                 {"v1.2.3", more, []string{"./p: changes since v1.2.3:", "G: added"}, false},
		"broken":               {"v1.2.3", less, []string{"F: removed", "error: some programs that use v1.2.3 no longer compile"}, true},
		"broken, not yet ripe": {"v0.2.3", less, []string{"F: removed", "::warning::some programs that use v0.2.3"}, false},
	} {
		r := newRepository(t)
		r.write("p/p.go", before)
		r.export(test.version, "./p")
		r.write("q/q.go", "package q\n")
		r.write("p/p.go", test.now)
		output, failed := r.run(script(t), "./p", "./q")
		for _, want := range test.prints {
			if !strings.Contains(output, want) || failed != test.fails {
				t.Errorf("%s: failed: %v, and does not say %q:\n%s", name, failed, want, output)
			}
		}
	}
}

// A package can belong to another module.
func TestAPIDiffOfAnotherModule(t *testing.T) {
	r := newRepository(t)
	r.write("n/go.mod", "module example.com/m/n\n\ngo 1.26.0\n")
	r.write("n/n.go", "package n\n\nfunc F() {}\n")
	r.export("v1.0.0", "./n")
	r.write("n/n.go", "package n\n")
	if output, failed := r.run(script(t), "./n"); !failed || !strings.Contains(output, "F: removed") {
		t.Error(output)
	}
}

// A removed package and missing exports are reported.
func TestAPIDiffOfNothing(t *testing.T) {
	r := newRepository(t)
	if output, failed := r.run(script(t), "./p"); !failed || !strings.Contains(output, "error: there are no exports to compare with") {
		t.Error(output)
	}
	r.write("gone/gone.go", "package gone\n")
	r.export("v1.0.0", "./gone")
	if err := os.RemoveAll(filepath.Join(r.path, "gone")); err != nil {
		t.Fatal(err)
	}
	if output, failed := r.run(script(t), "./gone"); !failed || !strings.Contains(output, "./gone: was in v1.0.0, and no longer exists") {
		t.Error(output)
	}
}

// The repository has an export of each public package.
func TestExports(t *testing.T) {
	makefile, err := os.ReadFile("../../packaging/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, public, found := strings.Cut(string(makefile), "\nPUBLIC := ")
	public, _, _ = strings.Cut(public, "\n")
	if !found || len(strings.Fields(public)) < 5 {
		t.Fatalf("the public packages are %q", public)
	}
	for _, name := range strings.Fields(public) {
		if _, err := os.Stat(filepath.Join("../../.ci/exports", name, "export")); err != nil {
			t.Error(err)
		}
	}
}

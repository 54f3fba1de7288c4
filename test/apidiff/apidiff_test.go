package apidiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is one of a module with the package p.
type repository struct {
	t    *testing.T
	path string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.run("git", "init", "--quiet")
	r.write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	return r
}

// run runs a command in the repository, and returns what it says and whether it
// failed.
func (r repository) run(name string, args ...string) (string, bool) {
	r.t.Helper()
	command := exec.Command(name, args...)
	command.Dir = r.path
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", // as all programs are compiled
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := command.CombinedOutput()
	if err != nil && name == "git" {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
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

// release commits the package, with a tag if there is one.
func (r repository) release(text, tag string) {
	r.t.Helper()
	r.write("p/p.go", text)
	r.run("git", "add", "-A")
	r.run("git", "commit", "--quiet", "--message=x")
	if tag != "" {
		r.run("git", "tag", tag)
	}
}

func TestAPIDiff(t *testing.T) {
	script, err := filepath.Abs("../../.ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	const before, more = "package p\n\nfunc F() {}\n", "package p\n\nfunc F() {}\n\nfunc G() {}\n"
	const less = "package p\n\nfunc G() {}\n"
	for name, test := range map[string]struct {
		tag, now string
		says     []string
		fails    bool
	}{
		"no release":           {"", less, []string{"::warning::nothing was compared: there is no release yet"}, false},
		"a tag of another":     {"docs-1", less, []string{"there is no release yet"}, false},
		"the same":             {"v1.2.3", before, []string{"./p: as in v1.2.3", "./q: not in v1.2.3"}, false},
		"more":                 {"v1.2.3", more, []string{"./p, since v1.2.3:", "G: added"}, false},
		"broken":               {"v1.2.3", less, []string{"F: removed", "that is a new major version"}, true},
		"broken, not yet ripe": {"v0.2.3", less, []string{"F: removed", "::warning::programs that use v0.2.3"}, false},
	} {
		r := newRepository(t)
		r.release(before, test.tag)
		r.write("q/q.go", "package q\n")
		r.release(test.now, "")
		said, failed := r.run(script, "./p", "./q")
		for _, want := range test.says {
			if !strings.Contains(said, want) || failed != test.fails {
				t.Errorf("%s: failed: %v, and does not say %q:\n%s", name, failed, want, said)
			}
		}
		if left, _ := r.run("git", "worktree", "list", "--porcelain"); strings.Count(left, "worktree ") != 1 {
			t.Errorf("%s leaves %s", name, left)
		}
	}
}

// A package may be of a module of its own.
func TestAPIDiffOfAnotherModule(t *testing.T) {
	script, err := filepath.Abs("../../.ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	r.write("n/go.mod", "module example.com/m/n\n\ngo 1.26.0\n")
	r.write("n/n.go", "package n\n\nfunc F() {}\n")
	r.release("package p\n", "v1.0.0")
	r.write("n/n.go", "package n\n")
	if said, failed := r.run(script, "./n"); !failed || !strings.Contains(said, "F: removed") {
		t.Error(said)
	}
}

// A package that is gone, and a clone without tags, are no silence.
func TestAPIDiffOfNothing(t *testing.T) {
	script, err := filepath.Abs("../../.ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	r.write("gone/gone.go", "package gone\n")
	r.release("package p\n", "v1.0.0")
	if err := os.RemoveAll(filepath.Join(r.path, "gone")); err != nil {
		t.Fatal(err)
	}
	r.release("package p\n\nfunc F() {}\n", "")
	if said, failed := r.run(script, "./gone"); !failed || !strings.Contains(said, "./gone: was in v1.0.0, and is no more") {
		t.Error(said)
	}
	shallow := repository{t, t.TempDir()}
	shallow.run("git", "clone", "--quiet", "--depth=1", "file://"+r.path, ".")
	if said, failed := shallow.run(script, "./p"); !failed || !strings.Contains(said, "shallow clone") {
		t.Error(said)
	}
}

package scripts

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every module that has the plugin's version of Kubernetes gets the new one, and the tests build its kubectl. The
// modules come from a proxy of files, so nothing is downloaded.
func TestBump(t *testing.T) {
	m := newMachine(t, nil)
	m.dir = t.TempDir()
	proxy := t.TempDir()
	for _, version := range []string{"v0.33.0", "v0.37.2", "v0.37.3"} {
		publishModule(t, proxy, "k8s.io/api", version, "")
		publishModule(t, proxy, "k8s.io/client-go", version, "require k8s.io/api "+version)
	}
	m.env = append(m.env, "GOPROXY=file://"+proxy, "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	build, err := os.ReadFile(root + "test/controlplane/build.go")
	if err != nil {
		t.Fatal(err)
	}
	const program = "package main\n\nimport _ \"k8s.io/api\"\nimport _ \"k8s.io/client-go\"\n\nfunc main() {}\n"
	const requires = "module %s\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/client-go %s\n\tk8s.io/api %[2]s\n)\n"
	for path, text := range map[string]string{
		"go.mod": fmt.Sprintf(requires, "example.com/plugin", "v0.37.2"), "main.go": program,
		"examples/controller/go.mod": fmt.Sprintf(requires, "example.com/controller", "v0.37.2"), "examples/controller/main.go": program,
		"pkg/once/go.mod": fmt.Sprintf(requires, "example.com/once", "v0.33.0"), "pkg/once/main.go": program,
		// go mod tidy doesn't read the imports of an ignored file.
		"test/controlplane/build.go": "//go:build ignore\n\n" + strings.Replace(string(build), kubectlVersion(t, string(build)), "v1.37.2", 1),
	} {
		m.write(path, text)
	}
	m.git("init", "--quiet")
	m.git("add", "--all")
	m.git("commit", "--quiet", "--message=a")

	for _, test := range []struct{ version, want string }{
		{"v1.37.3", `error: KUBERNETES must be a version of k8s.io/client-go like v0.37.3, not "v1.37.3"`},
		{"v0.37.2", "error: go.mod has v0.37.2 already"},
		{"v0.37.9", "error: nothing was changed, because go can't get the modules of Kubernetes v0.37.9 (above)"},
	} {
		if out, failed := m.run(".ci/bump", test.version); !failed || !strings.Contains(out, test.want) {
			t.Errorf("bump %s: failed %t, and printed\n%s\nwant %s", test.version, failed, out, test.want)
		}
		if changed := m.git("status", "--porcelain"); changed != "" {
			t.Errorf("bump %s changed\n%s", test.version, changed)
		}
	}

	if out, failed := m.run(".ci/bump", "v0.37.3"); failed {
		t.Fatalf("bump v0.37.3 fails, want success\n%s", out)
	}
	for path, want := range map[string]string{"go.mod": "v0.37.3", "examples/controller/go.mod": "v0.37.3", "pkg/once/go.mod": "v0.33.0"} {
		text := m.read(path)
		if strings.Count(text, " "+want) != 2 || strings.Count(text, "k8s.io/") != 2 {
			t.Errorf("want %s of both modules in %s:\n%s", want, path, text)
		}
	}
	if got := kubectlVersion(t, m.read("test/controlplane/build.go")); got != "v1.37.3" {
		t.Errorf("the tests build kubectl %s, want v1.37.3", got)
	}
	if out, failed := m.run(".ci/bump", "v0.37.4"); !failed || !strings.Contains(out, "there are uncommitted changes") {
		t.Errorf("with uncommitted changes: failed %t, and printed\n%s", failed, out)
	}
}

func kubectlVersion(t *testing.T, build string) string {
	t.Helper()
	_, after, _ := strings.Cut(build, "KubectlVersion ")
	fields := strings.Split(after, `"`)
	if len(fields) < 2 {
		t.Fatal("test/controlplane/build.go has no KubectlVersion")
	}
	return fields[1]
}

// publishModule adds a module with one empty package to a proxy of files.
func publishModule(t *testing.T, proxy, module, version, requires string) {
	t.Helper()
	at := filepath.Join(proxy, module, "@v", version)
	mod := "module " + module + "\n\ngo 1.24.0\n\n" + requires + "\n"
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(at + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }() // Close of the zip writer has written all
	w := zip.NewWriter(archive)
	for name, text := range map[string]string{"go.mod": mod, "a.go": "package a\n"} {
		file, err := w.Create(module + "@" + version + "/" + name)
		if err == nil {
			_, err = file.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for extension, text := range map[string]string{".mod": mod, ".info": fmt.Sprintf(`{"Version":%q}`, version)} {
		if err := os.WriteFile(at+extension, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (m machine) write(path, text string) {
	m.t.Helper()
	path = filepath.Join(m.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) read(path string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, path))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

func (m machine) git(args ...string) string {
	m.t.Helper()
	command := exec.CommandContext(m.t.Context(), "git", args...)
	command.Dir, command.Env = m.dir, m.env
	out, err := command.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

package release

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	plugin  = "github.com/kubectl-genname/kubectl-genname"
	library = plugin + "/pkg/once"
	adapter = library + "/oncecr"
	version = "v0.999.0" // go.sum of a release commit has a checksum of another version
)

// workspace is a copy of the repository and a module proxy in files. The module
// cache is its own, because these versions exist nowhere else. The modules of
// others come from the cache of the environment.
type workspace struct {
	t                *testing.T
	repository, home string
	env              []string
	remote           string // the module proxies of the environment
}

func newWorkspace(t *testing.T) workspace {
	t.Helper()
	settings, err := run(nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		t.Fatal(err)
	}
	cache, remote, _ := strings.Cut(strings.TrimSpace(settings), "\n")
	w := workspace{t: t, repository: t.TempDir(), home: t.TempDir(), remote: strings.TrimSuffix(remote, ",direct")}
	known := filepath.Join(cache, "cache", "download")
	w.env = append(os.Environ(), "GOMODCACHE="+filepath.Join(w.home, "cache"), "GOBIN="+filepath.Join(w.home, "bin"),
		"GOPROXY=file://"+filepath.Join(w.home, "proxy")+",file://"+known, "GOSUMDB=off", "GOFLAGS=-trimpath -modcacherw",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	w.copyRepository()
	return w
}

// copyRepository commits a copy of the current files, even if they are not committed here.
func (w workspace) copyRepository() {
	w.t.Helper()
	w.must(w.repository, "git", "init", "--quiet")
	w.must(root, "git", "--git-dir="+w.repository+"/.git", "--work-tree=.", "add", "--all")
	w.must(w.repository, "git", "checkout-index", "--all")
	// The tests of a release run on its commit, which has no replacements.
	w.must(w.repository, "go", "mod", "edit", "-replace="+library+"=./pkg/once")
	w.must(w.repository, "go", "mod", "edit", "-replace="+library+"=..", "pkg/once/oncecr/go.mod")
	w.commit()
}

func (w workspace) commit() {
	w.t.Helper()
	w.must(w.repository, "git", "add", "--all")
	w.must(w.repository, "git", "commit", "--quiet", "--message=x")
}

func (w workspace) write(path, text string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

// run returns the output of a program. An error has its stderr.
func (w workspace) run(dir, program string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(w.t.Context(), program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, w.env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), errors.New(program + " " + strings.Join(args, " ") + ": " + err.Error() + "\n" + stderr.String())
	}
	return stdout.String(), nil
}

func (w workspace) must(dir, program string, args ...string) string {
	w.t.Helper()
	out, err := w.run(dir, program, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// online also asks the module proxies of the environment for modules of others. The go command must not ask these
// proxies for modules of this repository.
func (w workspace) online() workspace {
	for i, variable := range w.env {
		if strings.HasPrefix(variable, "GOPROXY=file:") {
			w.env = slices.Clone(w.env)
			w.env[i] = variable + "," + w.remote
		}
	}
	return w
}

// publish puts the committed files of a module into the proxy. Modules below
// the module are not part of it.
func (w workspace) publish(module, version string) {
	w.t.Helper()
	dir := filepath.Join(w.repository, strings.TrimPrefix(module, plugin))
	at := filepath.Join(w.home, "proxy", module, "@v", version)
	w.write(at+".mod", file(w.t, filepath.Join(dir, "go.mod")))
	w.write(at+".info", `{"Version":"`+version+`","Time":"2026-01-01T00:00:00Z"}`)
	w.write(filepath.Join(filepath.Dir(at), "list"), version+"\n")
	archive := []string{"archive", "--format=zip", "--prefix=" + module + "@" + version + "/", "--output=" + at + ".zip", "HEAD", "."}
	for below := range strings.Lines(w.must(dir, "git", "ls-files", "*/go.mod")) {
		archive = append(archive, ":(exclude)"+filepath.Dir(strings.TrimSpace(below)))
	}
	w.must(dir, "git", archive...)
}

// install installs the plugin from the proxy, and returns the version that it prints.
func (w workspace) install(version string) (string, error) {
	if _, err := w.run(w.home, "go", "install", plugin+"/cmd/kubectl-genname@"+version); err != nil {
		return "", err
	}
	return w.run(w.home, filepath.Join(w.home, "bin", "kubectl-genname"), "version", "--client")
}

// modules writes a user's module that requires a module, and returns its go.mod and its build list.
func (w workspace) modules(required string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	w.write(filepath.Join(dir, "go.mod"), "module example.com/importer\n\ngo 1.24.0\n\nrequire (\n\tk8s.io/client-go v0.33.0\n\t"+
		required+" "+version+"\n)\n")
	w.write(filepath.Join(dir, "main.go"), "package main\n\nimport (\n\t_ \"k8s.io/client-go/rest\"\n\n\t_ \""+
		required+"\"\n)\n\nfunc main() {}\n")
	w = w.online()
	w.must(dir, "go", "mod", "tidy")
	w.must(dir, "go", "build", "-o", filepath.Join(w.home, "bin", "importer"), ".")
	list := w.must(dir, "go", "list", "-m", "all")
	return file(w.t, filepath.Join(dir, "go.mod")) + list
}

// The commit of a release makes the modules installable, in the order of docs/internals/release.md. The library
// upgrades no dependency of an importer, and the other modules still compile.
func TestReleaseCommit(t *testing.T) {
	w := newWorkspace(t)
	w.online().must(w.repository, "go", "list", "-deps", "./cmd/kubectl-genname") // downloads modules of others
	w.publish(plugin, "v0.0.1")
	if _, err := w.install("v0.0.1"); err == nil || !strings.Contains(err.Error(), "replace directives") {
		t.Errorf("the plugin is installed with a replacement: %v", err)
	}
	w.must(w.repository, "git", "tag", "pkg/once/"+version)
	w.publish(library, version)
	w.must(w.repository, "bash", ".ci/release-commit", version)
	w.publish(adapter, version)
	w.publish(plugin, version)
	if _, tag := deployed(t, w.repository); tag != version {
		t.Errorf("deploy/exporter has the image of %s after the release commit of %s", tag, version)
	}
	for _, module := range []string{"test/monitoring", "examples/controller"} {
		w.online().must(filepath.Join(w.repository, module), "go", "list", "-mod=readonly", "./...")
	}
	if out, err := w.install(version); err != nil || out != "Client Version: "+version+"\n" {
		t.Errorf("%q, want %s: %v", out, version, err)
	}
	for _, required := range []string{library, adapter} {
		modules := w.modules(required)
		for _, want := range []string{"\ngo 1.24.0\n", "\nk8s.io/client-go v0.33.0\n", "\n" + required + " " + version + "\n"} {
			if !strings.Contains(modules, want) {
				t.Errorf("%q is not in the build list:\n%s", want, modules)
			}
		}
		if strings.Contains(modules, "\n"+plugin+" ") || strings.Contains(modules, "\ntoolchain ") {
			t.Errorf("the importer of %s needs more than the library:\n%s", required, modules)
		}
	}
}

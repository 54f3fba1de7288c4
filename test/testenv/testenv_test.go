package testenv

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Tests don't depend on the variables of the machine. They get a home without a kubeconfig, an empty
// directory for temporary files, one directory on PATH, and only the variables that this package
// names.
func TestEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the environment stays as it is")
	}
	inside := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInside$")
	temporary := t.TempDir()
	inside.Env = append(os.Environ(), marker+"=", "GENNAME_SEED=7", "LC_ALL=de_DE.UTF-8", "HOME="+t.TempDir(), "TMPDIR="+temporary,
		"PATH=/nonexistent"+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG=/nonexistent", "KUBERC=/nonexistent", "EDITOR=vi")
	if out, err := inside.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("after the tests there are %v, %v", left, err)
	}
}

func TestInside(t *testing.T) {
	if os.Getenv("GENNAME_SEED") != "7" {
		t.Skip("run by TestEnvironment")
	}
	known := slices.Concat(kept, ofGo, []string{marker, cacheVariable, "HOME", "TMPDIR", "PATH", "LANG", "TERM", "TZ", "CGO_ENABLED"})
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains(known, name) {
			t.Errorf("%s is set", variable)
		}
	}
	if entries, err := os.ReadDir(os.TempDir()); err != nil || len(entries) > 0 {
		t.Errorf("TMPDIR has %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("HOME"), ".kube")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("HOME has .kube: %v", err)
	}
	if dirs := filepath.SplitList(os.Getenv("PATH")); len(dirs) != 1 {
		t.Errorf("PATH has %q", dirs)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(out))) {
		t.Errorf("go says %s, %v", out, err)
	}
}

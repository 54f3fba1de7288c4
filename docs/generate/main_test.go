package main

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// The reference agrees with the commands.
func TestReferenceHasNotDrifted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the reference has the defaults of other systems: $HOME and a slash in paths, and their line endings")
	}
	t.Setenv("HOME", "/home/of/whoever/runs/this")
	t.Setenv("KUBECACHEDIR", "/tmp/cache")
	fresh := t.TempDir()
	if err := run(fresh, "", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	want, got := pages(t, fresh), pages(t, "../reference/commands")
	if w, g := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(w, g) {
		t.Errorf("docs/reference/commands has %q, and the commands make %q: run make docs", g, w)
	}
	for name, page := range want {
		if got[name] != page {
			t.Errorf("docs/reference/commands/%s has drifted: run make docs", name)
		}
	}
}

func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[entry.Name()] = string(data)
	}
	if len(pages) == 0 {
		t.Fatalf("%s is empty", dir)
	}
	return pages
}

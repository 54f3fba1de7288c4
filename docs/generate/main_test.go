package main

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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

func TestPackageHasManualAndCompletions(t *testing.T) {
	dir := t.TempDir()
	if err := run("", dir, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	manual := pages(t, filepath.Join(dir, "man"))
	if man := manual["kubectl-genname-create.1"]; !strings.Contains(man, `.TH "KUBECTL-GENNAME-CREATE" "1" "Nov 2026"`) {
		t.Errorf("the man page begins with %.200s", man)
	}
	config, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name := range manual { // a cask has no patterns
		if !strings.Contains(string(config), "\n      - man/"+name+"\n") {
			t.Errorf("the manpages of the cask in .goreleaser.yaml don't have %s", name)
		}
	}
	for name, script := range pages(t, filepath.Join(dir, "completions")) {
		if !strings.Contains(script, "kubectl-genname") {
			t.Errorf("%s is %.200s", name, script)
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

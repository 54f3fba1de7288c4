package rules

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/rules")

// pages is the directory of the rules' pages.
const pages = "../../../docs/rules"

// The pages are generated from the rules, and there are no other pages.
func TestPages(t *testing.T) {
	want := map[string]string{"README.md": overview()}
	for _, rule := range All {
		want[rule.Name+".md"] = rule.Page()
	}
	for name, text := range want {
		path := filepath.Join(pages, name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s is not what the rule says (%v): go test ./internal/lint/rules -run Pages -update writes it", path, err)
		}
	}
	found, err := filepath.Glob(filepath.Join(pages, "*"))
	if err != nil || len(found) != len(want) {
		t.Errorf("%d files in %s, and %d pages", len(found), pages, len(want))
	}
}

// overview is the list of all rules.
func overview() string {
	rows := []string{
		"# Lint rules", "",
		"The rules of [kubectl genname lint](../guides/lint.md). Each page has the problem, its reason, bad and good examples, and the place " +
			"in the source of Kubernetes. `kubectl genname lint --explain RULE` prints the page.", "",
		"| rule | level | finds |", "|---|---|---|",
	}
	for _, rule := range All {
		rows = append(rows, "| ["+rule.Name+"]("+rule.Name+".md) | "+strings.ToLower(rule.levels())+" | "+rule.Finds+" |")
	}
	return strings.Join(rows, "\n") + "\n"
}

func TestRulesAreListedOnce(t *testing.T) {
	var names []string
	for _, rule := range All {
		names = append(names, rule.Name)
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(All) {
		t.Error(names)
	}
}

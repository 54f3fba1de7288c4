package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allListed are directories in which all tests are about properties and adversities.
var allListed = []string{
	"lab/faults", "lab/reconcile", "pkg/once/protocol", "test/census", "test/e2e", "test/kustomize", "test/logs",
	"test/monitoring", "test/parity", "test/pruning", "test/waiting",
}

// test/README.md names tests that exist, and all tests of the directories in allListed.
func TestTested(t *testing.T) {
	named := map[string][]string{} // by directory
	row := regexp.MustCompile("(?m)^\\| [^|`]+(?:`[^|]*)? \\| `([^`|]+)` \\| (.*) \\|$")
	for _, match := range row.FindAllStringSubmatch(read(t, "test/README.md"), -1) {
		named[match[1]] = append(named[match[1]], strings.Fields(strings.ReplaceAll(match[2], "`", ""))...)
	}
	if len(named) < 10 {
		t.Fatalf("the page names tests of %d directories", len(named))
	}
	for dir, names := range named {
		text := goTests(t, dir)
		for _, name := range names {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(t `).MatchString(text) {
				t.Errorf("%s has no test %s. test/README.md names it", dir, name)
			}
		}
	}
	for _, dir := range allListed {
		for _, name := range testsIn(goTests(t, dir)) {
			if !slices.Contains(named[dir], name) {
				t.Errorf("test/README.md does not have %s of %s", name, dir)
			}
		}
	}
}

// testsIn returns the names of the tests and of the steps of onOneServer.
func testsIn(text string) (names []string) {
	for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	for _, steps := range regexp.MustCompile(`(?s)\bonOneServer\{\n.*?\n\t\}\.run`).FindAllString(text, -1) {
		for _, match := range regexp.MustCompile(`", (\w+)\},`).FindAllStringSubmatch(steps, -1) {
			names = append(names, match[1])
		}
	}
	return names
}

// goTests returns the text of the test files in a directory.
func goTests(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

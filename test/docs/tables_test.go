package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Every row of a table has as many cells as its heading. GitHub silently drops surplus cells. A | in a cell is
// written as \|, even in code.
func TestTables(t *testing.T) {
	tables := 0
	for _, p := range pages(t) {
		found, wrong := checkTables(p.text)
		tables += found
		for _, w := range wrong {
			t.Errorf("%s:%s", p.path, w)
		}
	}
	if tables == 0 {
		t.Error("no page has a table")
	}
}

// separator is a | that ends a cell.
var separator = regexp.MustCompile(`(^|[^\\])\|`)

// startsText matches the beginning of a paragraph or a list. A heading, a comment and a block end a table.
var startsText = regexp.MustCompile("^([^#<`]|`[^`])")

// checkTables counts the tables of a page. It lists the rows that don't have as many cells as the first row of their
// table, and text directly below a table.
func checkTables(text string) (tables int, wrong []string) {
	cells, fenced, number := 0, false, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(line, "|") {
			if cells > 0 && startsText.MatchString(line) {
				wrong = append(wrong, fmt.Sprintf("%d: without an empty line before it, this is a row of the table: %s", number, line))
			}
			cells = 0
			continue
		}
		n := len(separator.FindAllString(strings.ReplaceAll(line, "||", "| |"), -1)) - 1
		if cells == 0 {
			tables++
			cells = n
		}
		if n != cells || !strings.HasSuffix(line, "|") {
			wrong = append(wrong, fmt.Sprintf("%d: %d cells, and the heading has %d: %s", number, n, cells, line))
		}
	}
	return tables, wrong
}

func TestCheckTables(t *testing.T) {
	for text, want := range map[string]int{
		"| a | b |\n|---|---|\n| 1 | |\n":           0,
		"| a | b |\n|---|---|\n| `x \\| y` | 2 |\n": 0,
		"| a | b |\n|---|---|\n| `x | y` | 2 |\n":   1,
		"| a | b |\n|---|---|\n| 1 |\n":             1,
		"| a | b |\n|---|---|\n| 1 | 2\n":           1,
		"| a | b |\n|---|---|\n| 1 | 2 |\ntext\n":   1,
		"| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n": 0,
		"```\n| a | b |\n| 1 |\n```\n":              0,
		"| a |\n|---|\n| 1 |\n\n| a | b |\n|-|-|\n": 0,
	} {
		if _, wrong := checkTables(text); len(wrong) != want {
			t.Errorf("%q: %q", text, wrong)
		}
	}
}

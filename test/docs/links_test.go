package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// Every link within the repository leads to an existing file, and to an existing heading.
func TestLinks(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		for _, match := range inlineLink.FindAllStringSubmatch(withoutBlocks(p.text), -1) {
			link := match[1]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
			target, anchor, _ := strings.Cut(link, "#")
			file := p.path
			if target != "" {
				file = path.Join(path.Dir(p.path), target)
			}
			text, err := os.ReadFile(root + file)
			info, statErr := os.Stat(root + file)
			switch {
			case statErr != nil:
				t.Errorf("%s: the link to %s leads nowhere", p.path, link)
			case anchor == "" || info.IsDir():
			case err != nil:
				t.Error(err)
			case !slugs(string(text))[anchor]:
				t.Errorf("%s: %s has no heading #%s", p.path, file, anchor)
			}
		}
	}
	if checked == 0 {
		t.Error("no link was checked")
	}
}

// The README or another page links to every page of docs.
func TestEveryPageIsLinked(t *testing.T) {
	linked := map[string]bool{}
	all := pages(t)
	for _, p := range all {
		for _, match := range inlineLink.FindAllStringSubmatch(withoutBlocks(p.text), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if file := path.Join(path.Dir(p.path), target); file != p.path {
				linked[file] = true
			}
		}
	}
	for _, p := range all {
		if strings.HasPrefix(p.path, "docs/") && !linked[p.path] {
			t.Errorf("no page links to %s", p.path)
		}
	}
}

// slugs returns the anchors that GitHub gives to the headings of a page.
func slugs(text string) map[string]bool {
	slugs := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(withoutBlocks(text), -1) {
		title := inlineLink.ReplaceAllStringFunc(match[1], func(link string) string { return link[1:strings.Index(link, "]")] })
		slug := notInSlug.ReplaceAllString(strings.ToLower(title), "")
		slugs[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return slugs
}

// withoutBlocks removes the fenced blocks of a page.
func withoutBlocks(text string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
}

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

// checkTables counts the tables of a page. checkTables lists the rows that don't have as many cells as the first row
// of their table, and text directly below a table.
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
			t.Errorf("%q: %q, want %d wrong rows", text, wrong, want)
		}
	}
}

// No Markdown of the repository has a table that an empty line splits. GitHub shows the rows after such a line as
// text.
func TestTablesAreWhole(t *testing.T) {
	command := exec.Command("git", "ls-files", "*.md")
	command.Dir = root
	paths, err := command.Output()
	if err != nil || len(paths) == 0 {
		t.Fatalf("no page: %v", err)
	}
	for path := range strings.Lines(string(paths)) {
		path = strings.TrimSpace(path)
		for _, number := range splitRows(read(t, path)) {
			t.Errorf("%s:%d: an empty line splits the table before this row", path, number)
		}
	}
}

// delimiterRow matches the second row of a table.
var delimiterRow = regexp.MustCompile(`^\|[-:| ]+\|$`)

// splitRows returns the numbers of the lines that are rows after an empty line after a row, unless they begin another
// table.
func splitRows(text string) (numbers []int) {
	lines, fenced := strings.Split(text, "\n"), false
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
		if strings.HasPrefix(lines[i], "```") {
			fenced = !fenced
		}
		if fenced {
			lines[i] = "code"
		}
	}
	isRow := func(i int) bool { return i < len(lines) && strings.HasPrefix(lines[i], "|") }
	for i := 2; i < len(lines); i++ {
		begins := i+1 < len(lines) && delimiterRow.MatchString(lines[i+1])
		if isRow(i) && lines[i-1] == "" && isRow(i-2) && !begins {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

func TestSplitRows(t *testing.T) {
	const table = "| a | b |\n|---|--:|\n| 1 | 2 |\n"
	for text, want := range map[string]int{
		table:                                  0,
		table + "| 3 | 4 |\n":                  0,
		table + "\n| 3 | 4 |\n| 5 | 6 |\n":     1,
		table + "\n" + table:                   0,
		table + "\ntext\n\n" + table:           0,
		"  " + table + "\n  | 3 | 4 |\n":       1,
		"```\n" + table + "\n| 3 | 4 |\n```\n": 0,
	} {
		if rows := splitRows(text); len(rows) != want {
			t.Errorf("%q: lines %v", text, rows)
		}
	}
}

// older are the modules of older versions, which must not change.
const older = "/test/controlplane/versions/*/*"

// Dependabot keeps every module and every image up to date, not only the plugin's.
func TestDependabotKnowsAllModules(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	patterns := map[string][]string{"gomod": {older}}
	for _, update := range config.Updates {
		patterns[update.Ecosystem] = append(patterns[update.Ecosystem], update.Directories...)
	}
	for ecosystem, name := range map[string]string{"gomod": "go.mod", "docker": "Dockerfile"} {
		command := exec.Command("git", "ls-files", name, "*/"+name)
		command.Dir = root
		files, err := command.Output()
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", name, err)
		}
		for file := range strings.Lines(string(files)) {
			dir := path.Join("/", path.Dir(strings.TrimSpace(file)))
			matches := func(p string) bool { matches, _ := path.Match(p, dir); return matches }
			if !slices.ContainsFunc(patterns[ecosystem], matches) {
				t.Errorf(".github/dependabot.yml does not have %s of %s", dir, ecosystem)
			}
		}
	}
}

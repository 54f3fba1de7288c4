package prose

import (
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

// Each text passes its bars: the pages, the warnings, and the help of each command.
func TestProse(t *testing.T) {
	texts := allTexts(t)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		values := Of(texts[name])
		for _, measure := range slices.Sorted(maps.Keys(Bars)) {
			if got := math.Round(10*values[measure]) / 10; got > Bars[measure] {
				longest := slices.MaxFunc(texts[name], func(a, b string) int { return length(a) - length(b) })
				t.Errorf("%s: %s is %.1f, above the bar of %.1f. The longest sentence is:\n  %s", name, measure, got, Bars[measure], longest)
			}
		}
	}
}

// allTexts returns the sentences of all texts by name.
func allTexts(t *testing.T) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	for path, page := range pages(t) {
		texts[path] = Sentences(results.ReplaceAllString(page, ""))
	}
	for _, m := range warnings(t) {
		texts["warnings"] = append(texts["warnings"], m.Sentences()...)
	}
	for name, help := range helpOf(cmd.NewCommand()) {
		texts["help of "+name] = help
	}
	return texts
}

// results matches the sections that a program has written.
var results = regexp.MustCompile(`(?ms)^<!-- [\w, ]+: begin -->.*?^<!-- [\w, ]+: end -->$`)

// longPages have tables that a program writes, or are the README with its own limit.
var longPages = map[string]int{
	"README.md": 1000, "docs/reference/derived-names.md": 2000, "docs/reference/server-versions.md": 2000,
}

// kinds are the pages with a common limit of words, without code and sections that a program has written.
var kinds = map[string]struct {
	path *regexp.Regexp
	most int
}{
	"internals":     {regexp.MustCompile(`^docs/internals/`), 12_000},
	"specification": {regexp.MustCompile(`^docs/spec/`), 3_000},
	"for users":     {regexp.MustCompile(`^README\.md$|^docs/([^/]+$|[^is]|install)`), 14_000},
}

// written is a page that "make clients" writes.
const written = "docs/concepts/lost-responses.md"

// blocks matches the code of a page.
var blocks = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^ {4,}\\S.*?$")

// A page for users has up to 900 words, including code and tables, and the pages of a kind have up to its limit.
func TestLengthOfPages(t *testing.T) {
	const most = 900
	sums := map[string]int{}
	for path, page := range pages(t) {
		for kind, k := range kinds {
			if path == written || !k.path.MatchString(path) {
				continue
			}
			sums[kind] += wordsIn(blocks.ReplaceAllString(results.ReplaceAllString(page, ""), ""))
			if words, limit := wordsIn(page), max(longPages[path], most); kind == "for users" && words > limit {
				t.Errorf("%s has %d words, above the limit of %d", path, words, limit)
			}
		}
	}
	for kind, k := range kinds {
		if sums[kind] > k.most || sums[kind] == 0 {
			t.Errorf("the pages of the kind %q have %d words, and the limit is %d", kind, sums[kind], k.most)
		}
	}
}

// hasLetter matches a text that has a letter or a digit.
var hasLetter = regexp.MustCompile(`[\pL\pN]`)

// wordsIn counts the fields of a text that have a letter or a digit.
func wordsIn(text string) int {
	words := 0
	for _, field := range strings.Fields(text) {
		if hasLetter.MatchString(field) {
			words++
		}
	}
	return words
}

// warnings returns the warnings of all commands.
func warnings(t *testing.T) []Message {
	t.Helper()
	found, err := Printed(root)
	found = slices.DeleteFunc(found, func(m Message) bool { return !m.Warns })
	if err != nil || len(found) == 0 {
		t.Fatalf("%d warnings, %v", len(found), err)
	}
	return found
}

// generated matches the pages that programs write from the help and the rules. The tests measure the help and the rules
// instead.
var generated = regexp.MustCompile(`^docs/(reference/(commands|formats)/.*|rules/.*)\.md$`)

// pages returns the text of all pages by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, dir := range []string{"docs", "examples", "lab", "clients", "test", "."} {
		err := filepath.WalkDir(root+dir, func(path string, entry fs.DirEntry, err error) error {
			relative := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root)))
			relative = strings.TrimPrefix(relative, "./")
			below := err == nil && dir == "." && entry.IsDir() && filepath.Clean(path) != filepath.Clean(root)
			if below || filepath.Base(path) == "node_modules" {
				return fs.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".md" || generated.MatchString(relative) {
				return err
			}
			data, err := os.ReadFile(path)
			found[relative] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// kubectls are the flags with kubectl's descriptions.
var kubectls = map[string]bool{
	"allow-missing-template-keys": true, "dry-run": true, "edit": true, "field-manager": true, "filename": true, "help": true,
	"kustomize": true, "output": true, "raw": true, "record": true, "recursive": true, "save-config": true,
	"show-managed-fields": true, "template": true, "validate": true, "windows-line-endings": true, "selector": true,
	"all-namespaces": true, "chunk-size": true, "no-headers": true,
}

// helpLabel begins the description of a column, or of the values of a flag.
var helpLabel = regexp.MustCompile(`^[A-Z][\w/,-]*(?: [A-Z][\w/-]*)*: `)

// helpOf returns the sentences of the help of a command and of those below it, by name.
// Its examples are introduced by comments.
func helpOf(command *cobra.Command) map[string][]string {
	found := map[string][]string{}
	help := append(Sentences(list(command.Long)), command.Short)
	for line := range strings.SplitSeq(command.Example, "\n") {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
			help = append(help, comment)
		}
	}
	command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !kubectls[f.Name] && !f.Hidden {
			help = append(help, split(f.Usage)...)
		}
	})
	for i := range help {
		help[i] = helpLabel.ReplaceAllString(help[i], "")
	}
	found[command.CommandPath()] = help
	for _, c := range command.Commands() {
		maps.Copy(found, helpOf(c))
	}
	return found
}

// list returns a text that kubectl's templates have wrapped, as Markdown.
func list(long string) string {
	return regexp.MustCompile(`(?m)^ +`).ReplaceAllString(long, "")
}

// notWords are terms that contain a word of the list, such as a frame of HTTP/2.
var notWords = regexp.MustCompile(`(?i)\bgo ?away\b|\b(quotation|question|byte order) mark`)

// comment matches a line of a comment.
var comment = regexp.MustCompile(`(?m)(?:^|\s)// ?(.*)$`)

// comments returns the comments of each Go file by its path.
func comments(t *testing.T) map[string]string {
	t.Helper()
	list, err := exec.Command("git", "-C", root, "ls-files", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range strings.Fields(string(list)) {
		code, err := os.ReadFile(root + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range comment.FindAllSubmatch(code, -1) {
			all[path] += string(line[1]) + "\n"
		}
	}
	return all
}

// Messages, help, pages and comments have no word of the list.
func TestWords(t *testing.T) {
	check := func(place, text string) {
		for _, w := range Words {
			for _, found := range w.Pattern.FindAllString(text, -1) {
				t.Errorf("%s has %q: use %s", place, found, w.Instead)
			}
		}
	}
	for _, m := range warnings(t) {
		check(m.Package, m.Text)
	}
	for name, help := range helpOf(cmd.NewCommand()) {
		check("help of "+name, strings.Join(help, "\n"))
	}
	for path, page := range pages(t) {
		check(path, strings.Join(Sentences(page), "\n"))
	}
	lines, nouns := 0, 0
	for path, text := range comments(t) {
		check(path, notWords.ReplaceAllString(text, ""))
		lines, nouns = lines+strings.Count(text, "\n"), nouns+len(whatNoun.FindAllString(text, -1))
	}
	if 100*nouns > lines {
		t.Errorf("%d lines of comments have \"what …\" as a noun %d times, above the bar of 1 per 100 lines", lines, nouns)
	}
}

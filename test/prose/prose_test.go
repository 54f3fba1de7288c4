package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const root = "../../"

// commentsLimit is the largest number of "what …" as a noun per 100 lines of Go comments. Other texts have the
// same bar per 100 sentences.
const commentsLimit = 1

// text is a measured text: a page, the messages or the help of a command, or all comments.
type text struct {
	values Values
	bars   Values
	worst  string // the longest sentence
}

// Each text passes its bars.
func TestProse(t *testing.T) {
	texts := allTexts(t)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, measure := range slices.Sorted(maps.Keys(texts[name].bars)) {
			if got, bar := round(texts[name].values[measure]), texts[name].bars[measure]; got > bar {
				t.Errorf("%s: %s is %.1f, above the bar of %.1f. The longest sentence is:\n  %s", name, measure, got, bar, texts[name].worst)
			}
		}
	}
}

// longPages have tables that a program writes, or are the README with its own limit.
var longPages = map[string]int{
	"README.md": 1000, "docs/reference/derived-names.md": 2000, "docs/reference/server-versions.md": 2000,
	"docs/spec/README.md": 2000,
}

// wholeWords are the largest numbers of words of all pages of a kind, without code and tables that a program writes.
var wholeWords = map[string]int{users: 14_000, specification: 3_000, internals: 12_000}

// blocks matches the code of a page, and results the sections that a program has written.
var (
	blocks  = regexp.MustCompile("(?ms)^ *```.*?^ *```$|^ {4,}\\S.*?$")
	results = regexp.MustCompile(`(?ms)^<!-- [\w, ]+: begin -->.*?^<!-- [\w, ]+: end -->$`)
)

// A page for users has up to 900 words, including code and tables. Other pages are limited by their sum.
func TestLengthOfPages(t *testing.T) {
	const most = 900
	sums := map[string]int{}
	for path, page := range pages(t) {
		kind := kindOf(path)
		sums[kind] += wordsIn(blocks.ReplaceAllString(results.ReplaceAllString(page, ""), ""))
		limit := max(longPages[path], most)
		if words := wordsIn(page); words > limit && (kind == users || kind == specification) {
			t.Errorf("%s has %d words, above the limit of %d", path, words, limit)
		}
	}
	for kind, limit := range wholeWords {
		if sums[kind] > limit || sums[kind] == 0 {
			t.Errorf("the pages of the kind %q have %d words, and the limit is %d", kind, sums[kind], limit)
		}
	}
}

const users, specification, internals = "for users", "specification", "internals"

// kindOf returns for whom a page is. Pages that programs write, and pages beside code, have no limit.
func kindOf(path string) string {
	switch {
	case path == "docs/concepts/lost-responses.md": // "make clients" writes it
		return ""
	case strings.HasPrefix(path, "docs/internals/"):
		return internals
	case strings.HasPrefix(path, "docs/spec/"):
		return specification
	case path == "README.md", strings.HasPrefix(path, "docs/"):
		return users
	}
	return ""
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

// round rounds a value to one decimal.
func round(value float64) float64 { return math.Round(10*value) / 10 }

// allTexts returns all measured texts by name.
func allTexts(t *testing.T) map[string]text {
	t.Helper()
	texts := map[string]text{"Go comments": comments(t)}
	for path, page := range pages(t) {
		texts[path] = textOfSentences(Sentences(results.ReplaceAllString(page, "")), Bars)
	}
	var warned []string
	for _, m := range warnings(t) {
		warned = append(warned, m.Sentences()...)
	}
	texts["warnings"] = textOfSentences(warned, Bars)
	for name, help := range helpOf(cmd.NewCommand()) {
		texts["help of "+name] = textOfSentences(help, Bars)
	}
	return texts
}

func textOfSentences(sentences []string, bars Values) text {
	longest := func(a, b string) int { return len(word.FindAllString(a, -1)) - len(word.FindAllString(b, -1)) }
	worst := ""
	if len(sentences) > 0 {
		worst = slices.MaxFunc(sentences, longest)
	}
	return text{Of(sentences), bars, worst}
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

// generated matches the pages that programs write. The tests measure the help and the rules that they are written
// from.
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

// list returns a text as kubectl's templates wrap it, as Markdown.
func list(long string) string {
	return regexp.MustCompile(`(?m)^ +`).ReplaceAllString(long, "")
}

// comments measures the comments of all Go code. It counts their most frequent phrase per 100 lines.
func comments(t *testing.T) text {
	t.Helper()
	lines, found := 0, 0
	goFiles(t, func(_ string, file *ast.File) {
		for _, group := range file.Comments {
			text := group.Text()
			lines += strings.Count(text, "\n")
			found += len(whatNoun.FindAllString(text, -1))
		}
	})
	return text{Values{"what": 100 * float64(found) / float64(max(lines, 1))}, Values{"what": commentsLimit}, ""}
}

// goFiles passes each Go file with its path to check.
func goFiles(t *testing.T, check func(path string, file *ast.File)) {
	t.Helper()
	for _, dir := range []string{"cmd", "docs", "examples", "internal", "krew", "lab", "packaging", "pkg", "test"} {
		err := filepath.WalkDir(root+dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err == nil {
				check(filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(root))), file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Messages, help and pages have no word of the list.
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
}

// Names and comments of the Go code have no word of the list. Files of other directories are checked, too.
func TestWordsOfCode(t *testing.T) {
	// The frame of HTTP/2, and signs with these names.
	other := regexp.MustCompile(`(?i)\bgo ?away\b|\b(quotation|question|byte order) mark`)
	check := func(file, name string) {
		if found := nameWords.FindString(other.ReplaceAllString(Split(name), "")); found != "" {
			t.Errorf("%s: the name %s has %q", file, name, found)
		}
	}
	goFiles(t, func(file string, code *ast.File) {
		check(file, path.Base(file))
		ast.Inspect(code, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				check(file, name.Name)
			}
			return true
		})
		for _, group := range code.Comments {
			text := other.ReplaceAllString(group.Text(), "")
			for _, w := range Words {
				if found := w.Pattern.FindString(text); found != "" {
					t.Errorf("%s: a comment has %q: use %s\n  %s", file, found, w.Instead, text)
				}
			}
		}
	})
}

func TestSentences(t *testing.T) {
	const page = `---
title: x
---
# A heading is no sentence
One sentence here, with ` + "`code; here`" + `. A [second; one](https://example.com) follows:
it has **a splice**.

| a | table; no |
|---|---|

1. An item of a list
2. Too short

` + "```console\n$ no sentence either\n```\n"
	want := []string{
		"One sentence here, with CODE.", "A second; one follows: it has a splice.", "An item of a list",
	}
	got := Sentences(page)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v := Of(got); v["median"] != 5 || v["longest"] != 8 || round(v["spliced"]) != 33.3 || v["over25"] != 0 {
		t.Errorf("%v, want a median of 5, a longest of 8, 33.3 spliced, and none over 25", v)
	}
}

func TestMeasures(t *testing.T) {
	long := strings.Repeat("word ", 30) + "end."
	v := Of([]string{"What is said here is what nobody says so.", long, "So who may read it is told.", "A plain short sentence."})
	want := Values{"median": 8, "p90": 9, "longest": 31, "over25": 25, "spliced": 0, "what": 50, "said": 75, "nobody": 50}
	v["what"], v["said"], v["nobody"] = round(v["what"]), round(v["said"]), round(v["nobody"])
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v := Of(nil); v["longest"] != 0 || v["median"] != 0 {
		t.Errorf("nothing has %v", v)
	}
}

func TestMessageSentences(t *testing.T) {
	m := Message{Text: "Warning: --compare: %s: the audit skipped %d types, which takes 5%%. Grant list on them:\n  kubectl auth can-i; x"}
	want := []string{"the audit skipped CODE types, which takes 5%.", "Grant list on them:"}
	if diff := cmp.Diff(want, m.Sentences()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

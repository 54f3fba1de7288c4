package prose

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// allowed are the places that have a word of the list, with the reasons. The key is a constant, the help of a
// command, or a page, and then the word.
var allowed = map[string]string{}

// Messages, help and pages have no word of the list.
func TestWords(t *testing.T) {
	used := map[string]bool{}
	check := func(place, text string) {
		for _, w := range Words {
			for _, found := range w.Pattern.FindAllString(text, -1) {
				key := place + ": " + strings.ToLower(found)
				if used[key] = true; allowed[key] == "" {
					t.Errorf("%s has %q: use %s", place, found, w.Instead)
				}
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
	for key := range allowed {
		if !used[key] {
			t.Errorf("%s is allowed, and does not occur", key)
		}
	}
}

// fieldWords matches parts of field names that have another word.
var fieldWords = regexp.MustCompile(`(?i)tries|maker|madeBy|headroom|conflict|answer|space$|stranger|judge|^marked`)

// Names of JSON fields use the list of words.
func TestWordsOfFields(t *testing.T) {
	property := regexp.MustCompile(`"(\w+)": \{`)
	schemas := 0
	err := filepath.WalkDir(root+"docs/schemas", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		schemas++
		data, err := os.ReadFile(path)
		for _, name := range property.FindAllStringSubmatch(string(data), -1) {
			if fieldWords.MatchString(name[1]) && name[1] != "namespace" {
				t.Errorf("%s: a field is called %s", path, name[1])
			}
		}
		return err
	})
	if err != nil || schemas == 0 {
		t.Fatal(err, schemas)
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

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"waitsFor": "waits for", "HTTPServer": "http server", "parseID": "parse id", "watch_test.go": "watch test go",
		"TestV1Object": "test v1 object", "x": "x",
	} {
		if got := Split(name); got != want {
			t.Errorf("%s is split into %q, want %q", name, got, want)
		}
	}
}

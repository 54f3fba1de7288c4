// Package main prints the sizes of the repository: lines without blanks and comments, small files, imports against the
// layers of docs/internals/architecture.md, arrows between the files of pkg/cmd/create, comments, and Go modules. Run it in the directory of the repository.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/kubectl-genname/kubectl-genname/"

// smallFile is the number of lines below which a file is small.
const smallFile = 60

type sizes struct {
	program                                 map[string]int // by directory
	tests, small, modules, private, comment int
	upward                                  []string
	arrows, back                            int // between the files of pkg/cmd/create
}

func main() {
	s := sizes{program: map[string]int{}}
	err := s.walk()
	if err == nil {
		s.arrows, s.back, err = arrows("pkg/cmd/create")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	s.print()
}

func (s *sizes) walk() error {
	layers, err := readLayers()
	if err != nil {
		return err
	}
	return filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "vendor" || name == "bin" || name != "." && strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case name == "go.mod":
			s.modules++
		case filepath.Ext(name) == ".go":
			return s.file(path, layers)
		}
		return nil
	})
}

// layer matches a row of the table of packages.
var layer = regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)` \\|")

func readLayers() (map[string]int, error) {
	page, err := os.ReadFile("docs/internals/architecture.md")
	if err != nil {
		return nil, err
	}
	layers := map[string]int{}
	for _, row := range layer.FindAllStringSubmatch(string(page), -1) {
		if layers[row[2]], err = strconv.Atoi(row[1]); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

func (s *sizes) file(path string, layers map[string]int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	top, _, _ := strings.Cut(path, "/")
	if strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{"cmd", "internal", "pkg"}, top) {
		s.tests += lines
		return nil
	}
	at := filepath.Dir(path)
	s.program[at] += lines
	if strings.Count(string(text), "\n") < smallFile {
		s.small++
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	s.functions(parsed)
	for _, imported := range parsed.Imports {
		other, own := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), module)
		if own && layers[at] > 0 && layers[other] > 0 && layers[other] <= layers[at] {
			s.upward = append(s.upward, at+" imports "+other)
		}
	}
	return nil
}

func (s *sizes) functions(file *ast.File) {
	for _, declaration := range file.Decls {
		if f, is := declaration.(*ast.FuncDecl); is && !f.Name.IsExported() {
			s.private++
			if f.Doc != nil {
				s.comment++
			}
		}
	}
}

func (s *sizes) print() {
	all := 0
	for _, directory := range slices.Sorted(maps.Keys(s.program)) {
		all += s.program[directory]
		fmt.Printf("%7d  %s\n", s.program[directory], directory)
	}
	fmt.Printf("%7d  lines of the program (pkg, internal, cmd), without blanks and comments\n", all)
	fmt.Printf("%7d  lines of pkg/cmd/create\n", s.program["pkg/cmd/create"])
	fmt.Printf("%7d  of %d arrows between its files run back\n", s.back, s.arrows)
	fmt.Printf("%7d  lines of tests, test, lab and other Go\n", s.tests)
	fmt.Printf("%7d  files of the program under %d lines\n", s.small, smallFile)
	fmt.Printf("%7d  imports that run up\n", len(slices.Compact(slices.Sorted(slices.Values(s.upward)))))
	fmt.Printf("%6d%%  of the unexported functions have a comment\n", 100*s.comment/max(1, s.private))
	fmt.Printf("%7d  go.mod files\n", s.modules)
}

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// Only files.go opens files, so that a file which the user didn't name is read by repository.read.
func TestOnlyFilesOpensFiles(t *testing.T) {
	allowed := []string{"Getwd", "WriteFile"} // WriteFile is for --write-baseline
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if source == "files.go" || strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			of, isName := selector.X.(*ast.Ident)
			opens := isName && (of.Name == "os" && !slices.Contains(allowed, selector.Sel.Name) ||
				of.Name == "syscall" || of.Name == "filepath" && slices.Contains([]string{"Glob", "EvalSymlinks"}, selector.Sel.Name))
			if opens {
				t.Errorf("%s uses %s.%s", source, of.Name, selector.Sel.Name)
			}
			return true
		})
	}
}

// Patterns match as git's do. git check-ignore is the reference.
func TestPatternsMatchAsGit(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths := []string{"a", "ab", "a/a", "a/b/a", "b/a/b", "a/b/ab", "{a,b}", "a/{a}/b", "!a", "#a", "*", "a.b"}
	pieces := rapid.SampledFrom([]string{"a", "b", "*", "/**/", "?", "/", "/", "[ab]", "[!a]", "{a,b}", "{", "!", "#", ".", "\\*"})
	check := func(t *rapid.T) {
		var lines []string
		// Only as a whole name, ** has the meaning of gitignore(5).
		odd := regexp.MustCompile(`[^/]\*\*|\*\*[^/]`)
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			lines = append(lines, strings.Join(rapid.SliceOfN(pieces, 1, 6).Draw(t, "pattern"), ""))
			if odd.MatchString(lines[len(lines)-1]) {
				t.Skip()
			}
		}
		if err := os.WriteFile(filepath.Join(dir, ignoreFile), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		list, _ := newIgnoreList(dir, lines)
		command := exec.Command("git", "-C", dir, "check-ignore", "--no-index", "--stdin")
		command.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
		out, _ := command.Output() // fails if no path is ignored
		ignored := strings.Split(strings.TrimSpace(string(out)), "\n")
		for _, p := range paths {
			got := false // a walk doesn't enter an ignored directory
			for at := range p {
				if p[at] == '/' && !got {
					got, _ = list.match(filepath.Join(dir, p[:at]), true)
				}
			}
			if !got {
				got, _ = list.match(filepath.Join(dir, p), false)
			}
			if want := slices.Contains(ignored, p); got != want {
				t.Fatalf("%q and %s: ignored %v, git says %v", lines, p, got, want)
			}
		}
	}
	rapid.Check(t, check)
}

// Reading and matching any .gitignore ends soon. Comments and empty lines match nothing, as in git.
func FuzzIgnoreList(f *testing.F) {
	for _, seed := range [][2]string{
		{"*.yaml\n!a.yaml\n/b/\n**/c/**\n", "a/b/c.yaml"},
		{"[!a-z]?\\*{", "a"},
		{strings.Repeat("{a,a}", 26), "a"},
		{strings.Repeat("**/", 100) + "b", strings.Repeat("a/", 200)},
		{strings.Repeat("**/a/", 50) + "b", strings.Repeat("a/", 200)},
		{strings.Repeat("*a", 100) + "b", strings.Repeat("a", 200)},
		{strings.Repeat("{", 100), "a"},
		{strings.Repeat("{a,", 30) + strings.Repeat("}", 30), "a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if len(text)+len(name) > 10_000 {
			t.Skip()
		}
		start := time.Now()
		list, _ := newIgnoreList("/r", strings.Split(text, "\n"))
		list.match(filepath.Join("/r", name), false)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("it took %s, want at most a minute", took)
		}
		comments, wrong := newIgnoreList("/r", []string{"#" + strings.ReplaceAll(text, "\n", ""), ""})
		if len(comments.patterns) > 0 || wrong != "" {
			t.Errorf("a comment has the patterns %+v, %q", comments.patterns, wrong)
		}
	})
}

// No line of a rule's page is wider than the terminal, except in code.
func TestWrapPage(t *testing.T) {
	page := "# rule\n\none two three\n\n```yaml\none two three\n```\n"
	if got := wrapPage(page, 7); got != strings.Replace(page, "one two three", "one two\nthree", 1) {
		t.Errorf("%q, want a break in the text only", got)
	}
}

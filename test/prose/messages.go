package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Message is a text of a command.
type Message struct {
	Package string // like pkg/cmd/lint
	Text    string
	Warns   bool
}

// Printed returns the string literals of the commands below a root, also with the labels that Errorf and Warningf of
// package terminal put before them.
func Printed(root string) (found []Message, err error) {
	err = filepath.WalkDir(filepath.Join(root, "pkg", "cmd"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && isWarning(call.Fun) {
				if text, is := textOf(call.Args[0]); is {
					found = append(found, Message{Package: packageOf(root, path), Text: "Warning: " + text, Warns: true})
					return false
				}
			}
			if value, is := n.(ast.Expr); is {
				if text, is := textOf(value); is {
					warns := strings.HasPrefix(text, "Warning: ")
					found = append(found, Message{Package: packageOf(root, path), Text: text, Warns: warns},
						Message{Package: packageOf(root, path), Text: "error: " + text})
					return false
				}
			}
			return true
		})
		return nil
	})
	return found, err
}

// isWarning reports whether a call is one of terminal.Warningf.
func isWarning(called ast.Expr) bool {
	selector, is := called.(*ast.SelectorExpr)
	return is && selector.Sel.Name == "Warningf"
}

// packageOf returns the directory of a file below a root.
func packageOf(root, path string) string {
	relative, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(relative)
}

// textOf returns the value of a literal, or of several that are joined by +.
func textOf(value ast.Expr) (string, bool) {
	switch v := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(v.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return textOf(v.X)
	case *ast.BinaryExpr:
		left, ok1 := textOf(v.X)
		right, ok2 := textOf(v.Y)
		return left + right, ok1 && ok2 && v.Op == token.ADD
	}
	return "", false
}

var (
	verb = regexp.MustCompile(`%[-+# 0]*(?:\[\d+\])?[0-9.]*[a-zA-Z]`)
	// label begins a message: a severity, a flag, a file, or the value of one.
	label = regexp.MustCompile(`^(?:(?:error|Warning|warning|Note): )?(?:(?:CODE|-[-\w/ ]+): )*`)
)

// Shown returns the first line of a message as pages show it, with … for its values.
func (m Message) Shown() string {
	line, _, _ := strings.Cut(m.Text, "\n")
	return strings.TrimSpace(strings.ReplaceAll(verb.ReplaceAllString(line, "…"), "%%", "%"))
}

// Sentences returns the sentences of a message, without the labels at its beginning, and without the commands and
// examples on separate lines.
func (m Message) Sentences() []string {
	var sentences []string
	for line := range strings.SplitSeq(m.Text, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		line = strings.ReplaceAll(line, "%%", "%")
		line = code.ReplaceAllString(verb.ReplaceAllString(line, "CODE"), "CODE")
		line = label.ReplaceAllString(line, "")
		for _, s := range split(line) {
			if len(word.FindAllString(s, -1)) >= 3 {
				sentences = append(sentences, strings.TrimSpace(s))
			}
		}
	}
	return sentences
}

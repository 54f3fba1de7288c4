// Package prose measures the readability of texts by the bars of CONTRIBUTING.md: the length of sentences, and
// phrases that hide the actor. Its tests check the pages, the messages, the help and the comments.
package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The phrases that are counted. A splice joins two sentences by ";" or ":".
var (
	whatNoun = regexp.MustCompile(`\b[Ww]hat (is|was|are|were|has|have|had|it|they|the|a|an|comes?|came|goes|cannot|can|could|` +
		`nobody|somebody|stands|follows|this|that|must|happens|happened|else|others|kubectl|controllers)\b`)
	passive = regexp.MustCompile(`\b(is|are|was|were|be|been) (said|told)\b|\bsays? so\b`)
	ghost   = regexp.MustCompile(`\b(nobody|somebody|whoever|anybody|` +
		`who (may|can|makes|guesses|asks|reads|knows|names|wants|has|writes|cannot))\b`)
	splice = regexp.MustCompile(`;|:\s+[a-z]`)
)

// The parts of Markdown.
var (
	frontMatter = regexp.MustCompile(`(?s)^---\n.*?\n---\n|<!--.*?-->`)
	fence       = regexp.MustCompile("^\\s*(```|~~~)")
	listItem    = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(.*)`)
	notProse    = regexp.MustCompile(`^\s*[#|<]|^\s*!\[|^    \S`)
	image       = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link        = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	code        = regexp.MustCompile("`[^`]*`")
	emphasis    = regexp.MustCompile(`[*_]{1,2}([^*_]+)[*_]{1,2}`)
	sentenceEnd = regexp.MustCompile(`[.!?]["”)]?\s+[A-Z“"(0-9]`)
	word        = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9'’.,:/^_-]*`)
)

// length returns the number of words.
func length(sentence string) int { return len(word.FindAllString(sentence, -1)) }

// Values are the measures of a text. Lengths are in words, shares in percent, and phrases per 100 sentences.
type Values map[string]float64

// Bars are the largest values that pass.
var Bars = Values{
	"median": 14, "p90": 25, "longest": 40, "over25": 8, "spliced": 8, "what": 1, "said": 0, "nobody": 1,
}

// Of returns the measures of some sentences.
func Of(sentences []string) Values {
	if len(sentences) == 0 {
		return Values{}
	}
	var lengths []int
	long, spliced := 0, 0
	for _, s := range sentences {
		n := length(s)
		lengths = append(lengths, n)
		if n > 25 {
			long++
		}
		if splice.MatchString(s) {
			spliced++
		}
	}
	slices.Sort(lengths)
	n := len(sentences)
	per100 := func(r *regexp.Regexp) float64 {
		found := 0
		for _, s := range sentences {
			found += len(r.FindAllString(s, -1))
		}
		return 100 * float64(found) / float64(n)
	}
	half := len(lengths) / 2
	median := float64(lengths[half])
	if len(lengths)%2 == 0 {
		median = float64(lengths[half-1]+lengths[half]) / 2
	}
	return Values{
		"median": median, "p90": float64(lengths[int(0.9*float64(len(lengths)-1))]),
		"longest": float64(lengths[len(lengths)-1]),
		"over25":  100 * float64(long) / float64(n), "spliced": 100 * float64(spliced) / float64(n),
		"what": per100(whatNoun), "said": per100(passive), "nobody": per100(ghost),
	}
}

// Sentences returns the sentences of a Markdown page, without code, tables, headings and comments.
func Sentences(page string) []string {
	var sentences []string
	for _, p := range paragraphs(frontMatter.ReplaceAllString(page, "")) {
		p = image.ReplaceAllString(p, "")
		p = link.ReplaceAllString(p, "$1")
		p = code.ReplaceAllString(p, "CODE")
		p = emphasis.ReplaceAllString(p, "$1")
		for _, s := range split(p) {
			if length(s) >= 3 {
				sentences = append(sentences, strings.TrimSpace(s))
			}
		}
	}
	return sentences
}

// paragraphs returns the paragraphs and the list items of a page, each in one line.
func paragraphs(page string) []string {
	var found, current []string
	end := func() {
		if len(current) > 0 {
			found = append(found, strings.Join(current, " "))
		}
		current = nil
	}
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		if fence.MatchString(line) {
			fenced, line = !fenced, ""
		}
		item := listItem.FindStringSubmatch(line)
		switch {
		case fenced, strings.TrimSpace(line) == "", item == nil && notProse.MatchString(line):
			end()
		case item != nil:
			end()
			current = []string{item[1]}
		default:
			current = append(current, strings.TrimSpace(line))
		}
	}
	end()
	return found
}

// split returns the sentences of a paragraph.
func split(paragraph string) []string {
	var sentences []string
	for {
		at := sentenceEnd.FindStringIndex(paragraph)
		if at == nil {
			return append(sentences, paragraph)
		}
		_, size := utf8.DecodeLastRuneInString(paragraph[:at[1]])
		next := at[1] - size
		sentences = append(sentences, paragraph[:next])
		paragraph = paragraph[next:]
	}
}

// Word is a word to avoid, and its replacement.
type Word struct {
	Pattern *regexp.Regexp
	Instead string
}

// Words are words that texts use instead of the project's words. Some patterns are narrower than the word, because the
// word also has another meaning.
var Words = []Word{
	{words(`answer(s|ed|ing)?`), "response"},
	{words(`rights`), "permission"},
	{words(`(you|user|who) may( not)?`), "can, can't, have permission"},
	{words(`says? (the|a|that|no) prefix`), "has this generateName"},
	{words(`names that clients make|named by clients?`), "client-generated names"},
	{words(`(one|\d+|extra|more|unknown|of|its|the server's) tr(y|ies)`), "attempt"},
	{words(`makers?|made by`), "creator, created by"},
	{words(`un?marked|marks?`), "creation ID annotation"},
	{words(`look(s|ed|ing)? (at|for|what)`), "check"},
	{words(`comes? and goe?s?|came and went`), "is created and deleted"},
	{words(`(is|are|was|were|be|been) (told|said)|says? so`), "prints, reports, warns"},
	{words(`(is|are|was|be) away`), "is unreachable"},
	{words(`under way`), "in progress"},
	{words(`headroom`), "room"},
	{words(`folders?|for ever|anew|amid|some \d+|milliards?|misspel[t]`), "US English"},
}

// words returns the expression for whole words.
func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(` + pattern + `)\b`) }

// Message is a text of a command.
type Message struct {
	Package string // like pkg/cmd/lint
	Text    string
	Warns   bool
}

// Printed returns the string literals of the commands and of the engine of create below a root, also with the labels
// that Errorf and Warningf of package terminal put before them.
func Printed(root string) (found []Message, err error) {
	for _, below := range []string{"pkg/cmd", "internal/create"} {
		messages, err := printedBelow(root, below)
		if err != nil {
			return nil, err
		}
		found = append(found, messages...)
	}
	return found, nil
}

func printedBelow(root, below string) (found []Message, err error) {
	err = filepath.WalkDir(filepath.Join(root, below), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && isWarning(call.Fun, below) {
				if text, is := textOf(call.Args[0]); is {
					if below == "pkg/cmd" {
						text = "Warning: " + text
					}
					found = append(found, Message{Package: packageOf(root, path), Text: text, Warns: true})
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

// isWarning reports whether a call is one of terminal.Warningf, or one of warn in an engine.
func isWarning(called ast.Expr, below string) bool {
	selector, is := called.(*ast.SelectorExpr)
	return is && (selector.Sel.Name == "Warningf" || selector.Sel.Name == "warn" && below != "pkg/cmd")
}

// packageOf returns the directory of a file below a root.
func packageOf(root, path string) string {
	relative, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(relative)
}

// textOf returns the value of a literal, or of several that are joined by +, up to the first operand that is no literal.
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
		if !ok2 {
			right = ""
		}
		return left + right, ok1 && v.Op == token.ADD
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
			if length(s) >= 3 {
				sentences = append(sentences, strings.TrimSpace(s))
			}
		}
	}
	return sentences
}

// Package rules has the pages of the lint rules, which are also the texts of kubectl genname lint.
package rules

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.md
var pages embed.FS

// Page is the page of a rule.
type Page struct {
	Text string // Markdown
	// Finds describes the findings in one line, Why the problem in paragraphs, and Fix the fix.
	Finds, Why, Fix string
	Examples        []Example
}

// Example is a manifest. Its level is that of the rule's finding in it, or empty in a good example.
type Example struct{ About, Manifest, Level string }

// Of returns the page of a rule.
func Of(rule string) Page { return parsed()[rule] }

var parsed = sync.OnceValue(func() map[string]Page {
	all := map[string]Page{}
	entries, _ := pages.ReadDir(".") // it is embedded
	for _, entry := range entries {
		text, _ := pages.ReadFile(entry.Name())
		all[strings.TrimSuffix(entry.Name(), ".md")] = parse(string(text))
	}
	return all
})

func parse(text string) Page {
	p := Page{Text: text}
	sections := strings.Split(p.Text, "\n## ")
	_, p.Finds, _ = strings.Cut(sections[0], ": ")
	p.Finds, p.Why, _ = strings.Cut(p.Finds, ".\n\n")
	p.Why, p.Fix, _ = strings.Cut(p.Why, "\n\nFix: ")
	p.Fix = strings.TrimRight(p.Fix, ".\n")
	for _, section := range sections[1:] {
		title, body, _ := strings.Cut(section, "\n\n")
		level, bad := strings.CutPrefix(title, "Bad: ")
		if !bad && title != "Good" {
			continue
		}
		if !bad {
			level = ""
		}
		about, manifest, _ := strings.Cut(body, "\n\n```yaml\n")
		manifest, _, _ = strings.Cut(manifest, "```")
		p.Examples = append(p.Examples, Example{about, manifest, level})
	}
	return p
}

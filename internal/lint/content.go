package lint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// content has the parts of a source that stay in memory after the check.
type content struct {
	facts        rules.Facts
	findings     []Finding
	silences     []*Silence
	objects      int
	exported     int
	placeholders int
	skipped      v1alpha1.LintSkipReason
	unreadable   []Unreadable
}

func (c *content) check(ctx context.Context, source Source, config Config) {
	text, err := untrusted.Within(ctx, func() ([]byte, error) { return source.Read(ctx) })
	if err != nil {
		c.unreadable = []Unreadable{{File: source.Name, Err: err}}
		return
	}
	var failures []manifest.Broken
	manifest.Each(text, func(objects []*manifest.Object, broken *manifest.Broken) {
		if broken != nil {
			failures = append(failures, *broken)
		}
		c.silences = append(c.silences, silencesOf(source.Name, objects)...)
		for _, o := range objects {
			c.add(rules.NewManifest(o, source.Name, source.Tree), config)
		}
		if len(objects) > 0 {
			objects[0].Document.Forget()
		}
	})
	isTemplate := false
	ofBroken := sync.OnceValue(func() v1alpha1.LintSkipReason { return skipReason(source, text) })
	for _, b := range failures {
		reason := v1alpha1.LintNoObject
		if !errors.Is(b.Err, manifest.ErrForeign) {
			reason = ofBroken() // once, because ofBroken reads the whole text, which can have many broken documents
		}
		if isTemplate && reason == v1alpha1.LintTemplate {
			continue // one error for the file
		}
		isTemplate = isTemplate || reason == v1alpha1.LintTemplate
		switch {
		case source.Found && reason != "":
			if c.skipped = cmp.Or(c.skipped, reason); reason != v1alpha1.LintNoObject {
				c.skipped = reason
			}
			continue
		case reason == v1alpha1.LintTemplate:
			first := ofTemplate.FindIndex(text)[0] // the YAML parser reports another line
			b.Position, b.Err = manifest.Position{Line: 1 + bytes.Count(text[:first], []byte("\n"))}, errTemplate
		case manifest.IsHTML(text):
			b.Err = manifest.ErrHTML
		}
		c.unreadable = append(c.unreadable, Unreadable{source.Name, b.Position, b.Err})
	}
	if c.objects > 0 && !isTemplate { // two lines with template actions look like two JSON values
		for _, lost := range manifest.Lost(text) {
			c.unreadable = append(c.unreadable, Unreadable{source.Name, lost.Position, lost.Err})
		}
	}
	switch {
	case c.skipped == v1alpha1.LintNoObject && c.objects > 0:
		c.skipped = ""
	case c.skipped != "" || c.objects > 0 || len(c.unreadable) > 0:
	case source.Found:
		c.skipped = v1alpha1.LintNoObject
	default:
		c.unreadable = []Unreadable{{source.Name, manifest.Position{Line: 1, Column: 1}, manifest.ErrForeign}}
	}
}

func (c *content) add(m rules.Manifest, config Config) {
	c.objects++
	c.facts.Add(m)
	switch {
	case m.Exported():
		c.exported++
	case m.Placeholder():
		c.placeholders++
	}
	for _, rule := range rules.All {
		if slices.Contains(config.Disabled, rule.Name) {
			continue
		}
		for _, found := range rule.Check(config.Minor, m) {
			c.findings = append(c.findings, Finding{Finding: found, Position: found.Position()})
		}
	}
}

var (
	ofManifest = regexp.MustCompile(`(?m)^\s*"?apiVersion"?\s*:`)
	ofKind     = regexp.MustCompile(`(?m)^\s*"?kind"?\s*:`)
)

// action matches an action of a Go, Helm, Jinja or ERB template, or a variable.
const action = `(?:\{\{(?:[^}]|\}[^}])*\}\}|\{%(?:[^%]|%[^}])*%\}|<%(?:[^%]|%[^>])*%>|@\w+@|%\w+%|__\w+?__)`

var (
	ofTemplate  = regexp.MustCompile(`\{\{|\{%|<%|@\w+@|%\w+%|__\w+?__`)
	actionLines = regexp.MustCompile(`(?m)^\s*(?:(?:` + action + `|\{\{.*?\}\})\s*)+(?:#.*)?$`)
	actions     = regexp.MustCompile(action)
)

var errTemplate = errors.New("a template. Render it, and check the result")

// skipReason returns the reason to skip the unreadable documents of a text, or "" if they are broken manifests. A text
// is a template if it is in a chart, or if it is readable without its template actions.
func skipReason(source Source, text []byte) v1alpha1.LintSkipReason {
	foreign := func(b manifest.Broken) bool { return errors.Is(b.Err, manifest.ErrForeign) }
	if ofTemplate.Match(text) {
		rest := actionLines.ReplaceAll(text, nil)
		for _, value := range []string{"x", ""} { // the action stands for a value, or for whole lines
			_, broken := manifest.Read(actions.ReplaceAll(rest, []byte(value)))
			if source.Tree.Chart != "" || len(slices.DeleteFunc(broken, foreign)) == 0 {
				return v1alpha1.LintTemplate
			}
		}
	}
	if ofManifest.Match(text) && ofKind.Match(text) {
		return ""
	}
	return v1alpha1.LintInvalid
}

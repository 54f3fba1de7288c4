package lint

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// content is the part of a source that stays in memory.
type content struct {
	facts        rules.Facts
	findings     []Finding
	silences     []*Silence
	objects      int
	exported     int
	placeholders int
	skipped      bool
	unreadable   []Unreadable
}

// check reads a source document by document, and checks each object by itself.
func (c *content) check(ctx context.Context, source Source, config Config) {
	text, err := load(ctx, source)
	if err != nil {
		c.unreadable = []Unreadable{{File: source.Name, Err: err}}
		return
	}
	file := manifest.NewFile(text, func() ([]byte, error) { return load(ctx, source) })
	file.Slim = true // no rule needs schemas
	defer file.Release()
	var failures []manifest.Broken
	file.Each(func(objects []*manifest.Object, broken *manifest.Broken) {
		if broken != nil {
			failures = append(failures, *broken)
		}
		c.silences = append(c.silences, silencesOf(source.Name, objects)...)
		for _, o := range objects {
			c.add(rules.NewManifest(o, source.Name, source.Tree), config)
		}
	})
	for _, b := range failures {
		if source.Found && other(b.Err, source, text) {
			c.skipped = c.skipped || c.objects == 0 || !errors.Is(b.Err, manifest.ErrForeign)
			continue
		}
		c.unreadable = append(c.unreadable, Unreadable{source.Name, b.Position, b.Err})
	}
	c.skipped = c.skipped || source.Found && c.objects == 0 && len(c.unreadable) == 0
}

// add checks an object.
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

// load returns the content of a source. It returns early when ctx is done, because reading a pipe
// may never end.
func load(ctx context.Context, source Source) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := source.Read(ctx)
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.text, r.err
	}
}

var (
	ofManifest = regexp.MustCompile(`(?m)^\s*"?apiVersion"?\s*:`)
	ofKind     = regexp.MustCompile(`(?m)^\s*"?kind"?\s*:`)
)

// The template actions of Go and Helm, Jinja, and ERB.
var (
	ofTemplate  = regexp.MustCompile(`\{\{|\{%|<%`)
	actionLines = regexp.MustCompile(`(?m)^\s*(?:(?:\{\{.*?\}\}|\{%.*?%\}|<%.*?%>)\s*)+$`)
	actions     = regexp.MustCompile(`\{\{.*?\}\}|\{%.*?%\}|<%.*?%>`)
)

// other reports whether an unreadable document is something other than a broken manifest. It may be
// no Kubernetes object, a file of a chart, or a template that is readable without its actions.
func other(err error, source Source, text []byte) bool {
	switch {
	case errors.Is(err, manifest.ErrForeign), !ofManifest.Match(text), !ofKind.Match(text):
		return true
	case !ofTemplate.Match(text):
		return false
	case source.Tree.Chart != "":
		return true
	}
	_, broken := manifest.Read(actions.ReplaceAll(actionLines.ReplaceAll(text, nil), []byte("x")))
	return !slices.ContainsFunc(broken, func(b manifest.Broken) bool { return !errors.Is(b.Err, manifest.ErrForeign) })
}

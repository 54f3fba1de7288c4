package lint

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// Source is a file to look at.
type Source struct {
	Name string
	Tree rules.Tree
	// Found is true of a file that was found in a folder: what it has may be
	// something else than manifests.
	Found bool
	// Rendered is true if the content is made of other files: then the lines are
	// not those of Name.
	Rendered bool
	// Read returns its content.
	Read func(context.Context) ([]byte, error)
}

// Config is what is asked for.
type Config struct {
	// Disabled are the names of rules that are left out.
	Disabled []string
	// Minor is the minor version of the Kubernetes that the objects are for.
	Minor int
}

// Result is what was found.
type Result struct {
	// Read are the files with objects.
	Read    []string
	Objects int
	// Skipped are the files that were found in folders and are no manifests.
	Skipped []string
	// Unreadable is what should have been read and could not be.
	Unreadable []Unreadable
	// Findings are in the order of the files, and of the lines in them.
	Findings []Finding
	// Idle are the silences that silence nothing.
	Idle []*Silence
}

// Finding is what a rule finds, and where.
type Finding struct {
	rules.Finding
	manifest.Position

	// Silence is what silences it; nil if nothing does.
	Silence *Silence
}

// Unreadable is a file, or a document of it, that cannot be read.
type Unreadable struct {
	File string
	manifest.Position
	Err error
}

// Run reads the sources and looks at what is in them. It ends early only if ctx
// does.
func Run(ctx context.Context, sources []Source, config Config) (*Result, error) {
	contents := make([]content, len(sources))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, source := range sources {
		group.Go(func() error {
			contents[i] = read(within, source)
			return within.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	result := &Result{}
	var objects []rules.Object
	order := map[string]int{}
	rendered := map[string]bool{}
	for i, source := range sources {
		result.take(source, contents[i])
		order[source.Name] = i
		rendered[source.Name] = source.Rendered
		for _, object := range contents[i].objects {
			objects = append(objects, rules.Object{Object: object, File: source.Name, Tree: source.Tree})
		}
	}
	result.Objects = len(objects)
	result.check(rules.NewInput(objects, config.Minor), config, order, rendered)
	return result, ctx.Err()
}

// content is what a source has.
type content struct {
	objects    []*manifest.Object
	skipped    bool
	unreadable []Unreadable
}

// read reads one source.
func read(ctx context.Context, source Source) content {
	file, err := source.Read(ctx)
	if err != nil {
		return content{unreadable: []Unreadable{{File: source.Name, Err: err}}}
	}
	objects, broken := manifest.Read(file)
	for _, o := range objects {
		forgetSchemas(o)
	}
	c := content{objects: objects}
	for _, b := range broken {
		if source.Found && other(b.Err, file) {
			c.skipped = c.skipped || len(objects) == 0 || !errors.Is(b.Err, manifest.ErrForeign)
			continue
		}
		c.unreadable = append(c.unreadable, Unreadable{source.Name, b.Position, b.Err})
	}
	c.skipped = c.skipped || source.Found && len(objects) == 0 && len(c.unreadable) == 0
	return c
}

// forgetSchemas removes from a CustomResourceDefinition the schemas of its versions,
// which no rule looks at and which can be most of an input.
func forgetSchemas(o *manifest.Object) {
	if o.GetKind() != "CustomResourceDefinition" {
		return
	}
	versions, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "versions")
	list, _ := versions.([]any)
	for _, version := range list {
		if version, is := version.(map[string]any); is {
			delete(version, "schema")
		}
	}
}

var (
	ofManifest = regexp.MustCompile(`(?m)^\s*"?apiVersion"?\s*:`)
	ofKind     = regexp.MustCompile(`(?m)^\s*"?kind"?\s*:`)
)

// ofTemplate finds what is to be filled in: by Helm and Go, Jinja, ERB, or sed.
var ofTemplate = regexp.MustCompile(`\{\{|\{%|<%|__[A-Z][A-Z0-9_]*__`)

// other reports whether a document that cannot be read is something else than a
// broken manifest: no Kubernetes object at all, or a template.
func other(err error, file []byte) bool {
	return errors.Is(err, manifest.ErrForeign) || ofTemplate.Match(file) ||
		!ofManifest.Match(file) || !ofKind.Match(file)
}

// take counts what a source has.
func (r *Result) take(source Source, c content) {
	if c.skipped {
		r.Skipped = append(r.Skipped, source.Name)
	}
	if len(c.objects) > 0 {
		r.Read = append(r.Read, source.Name)
	}
	r.Unreadable = append(r.Unreadable, c.unreadable...)
}

// check looks at the input by all rules that are not disabled.
func (r *Result) check(in *rules.Input, config Config, order map[string]int, rendered map[string]bool) {
	silences := silencesOf(in.Objects, config.Disabled)
	for _, rule := range rules.All {
		if slices.Contains(config.Disabled, rule.Name) {
			continue
		}
		for _, found := range rule.Check(in) {
			f := Finding{Finding: found, Position: found.Position()}
			f.Silence = silences.of(f)
			if rendered[f.Object.File] {
				f.Position = manifest.Position{Line: 1, Column: 1}
			}
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.Object.File], order[b.Object.File]),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r.Idle = silences.idle()
}

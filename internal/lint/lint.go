// Package lint checks the names in manifests. The package reads the manifests with internal/lint/manifest, checks
// them with internal/lint/rules, and finds the comments that disable findings. The package opens no file itself and
// prints nothing.
package lint

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Source is a file to check.
type Source struct {
	Name string
	Tree rules.Tree
	// Found is true if the file was found in a directory. Such a file need not be a manifest.
	Found bool
	// Rendered means that the content was built from other files. Its line numbers are not those of the file Name.
	Rendered bool
	// Read returns the content of the file.
	Read func(context.Context) ([]byte, error)
}

// Config is the configuration of a run.
type Config struct {
	// Disabled are the names of rules to leave out.
	Disabled []string
	// Levels overrides the default levels of rules.
	Levels map[string]v1alpha1.LintLevel
	// Minor is the minor version of Kubernetes that the objects are meant for.
	Minor int
	// NoInlineDisable means that comments and annotations disable nothing.
	NoInlineDisable bool
}

// Result has the findings, and lists the input that was checked or skipped.
type Result struct {
	// Read are the files with objects.
	Read    []string
	Objects int
	// Exported is the number of objects with a resourceVersion, which are not checked.
	Exported int
	// Placeholders is the number of objects with a variable in their name. The rules don't check the length and the
	// characters of such a name.
	Placeholders int
	// Skipped has the files that were found in directories, but are not manifests.
	Skipped []v1alpha1.LintSkipped
	// Unreadable has the files and documents that can't be read.
	Unreadable []Unreadable
	// Findings are sorted by file and line.
	Findings []Finding
	// Idle has the comments and annotations that disable no finding.
	Idle []*Silence
}

// Finding is a finding of a rule with its position in a file.
type Finding struct {
	rules.Finding
	manifest.Position

	// Related has the same objects as Finding.Related, with their positions.
	Related []Related
	// Silence is the comment or annotation that disables the finding, or nil.
	Silence *Silence
}

// Related is another object that a finding is about, with its position in a file.
type Related struct {
	rules.Related
	manifest.Position
}

// Unreadable is a file that can't be read, or a document that can't be read.
type Unreadable struct {
	File string
	manifest.Position
	Err error
}

// Run reads the sources and checks their objects. Run returns early only if ctx ends.
func Run(ctx context.Context, sources []Source, config Config) (*Result, error) {
	read := make([]content, len(sources))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, source := range sources {
		group.Go(func() error {
			if ctx.Err() == nil {
				read[i].check(ctx, source, config)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	result := &Result{}
	var facts []rules.Facts
	var all []*Silence
	order, rendered := map[string]int{}, map[string]bool{}
	for i, source := range sources {
		order[source.Name], rendered[source.Name] = i, source.Rendered
		result.take(source, &read[i])
		facts = append(facts, read[i].facts)
		all = append(all, read[i].silences...)
	}
	result.compare(rules.NewInput(config.Minor, facts...), config)
	if !config.NoInlineDisable {
		result.silence(all, config.Disabled)
	}
	result.finish(config, order, rendered)
	return result, ctx.Err()
}

func (r *Result) finish(config Config, order map[string]int, rendered map[string]bool) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Level = cmp.Or(config.Levels[f.Rule.Name], f.Level)
		if rendered[f.Object.File] {
			f.Position = manifest.Position{Line: 1, Column: 1}
		}
		for j := range f.Related {
			if rendered[f.Related[j].Object.File] {
				f.Related[j].Position = manifest.Position{Line: 1, Column: 1}
			}
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.Object.File], order[b.Object.File]),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(slices.Index(rules.All, a.Rule), slices.Index(rules.All, b.Rule)))
	})
}

func (r *Result) take(source Source, c *content) {
	if c.skipped != "" {
		r.Skipped = append(r.Skipped, v1alpha1.LintSkipped{File: source.Name, Reason: c.skipped})
	}
	if c.objects > 0 {
		r.Read = append(r.Read, source.Name)
	}
	r.Objects += c.objects
	r.Exported += c.exported
	r.Placeholders += c.placeholders
	r.Unreadable = append(r.Unreadable, c.unreadable...)
	r.Findings = append(r.Findings, c.findings...)
}

// compare adds the findings of the rules that compare objects.
func (r *Result) compare(in *rules.Input, config Config) {
	for _, rule := range rules.All {
		if slices.Contains(config.Disabled, rule.Name) {
			continue
		}
		for _, found := range rule.Compare(in) {
			f := Finding{Finding: found, Position: found.Position()}
			for _, related := range found.Related {
				f.Related = append(f.Related, Related{related, related.Position()})
			}
			r.Findings = append(r.Findings, f)
		}
	}
}

// NewestMinor is the newest minor version of Kubernetes that the rules were checked with.
const NewestMinor = 37

// maxPrefixes is the number of prefixes that Prefixes checks. It limits the memory of Prefixes.
const maxPrefixes = 10_000

// Prefixes checks each prefix once. The create command uses it during its run.
type Prefixes struct {
	seen map[prefix]bool
	// first has the first truncated prefix of each name pool. Later prefixes in the pool are compared with it.
	first map[prefix]rules.Facts
}

// prefix is a generateName, or an effective prefix, of one kind in one namespace.
type prefix struct {
	kind            schema.GroupKind
	namespace, text string
}

// Errors returns the errors that lint finds in the generateName of an object. Errors also compares it with earlier
// objects. Errors returns nothing if an earlier object had the same prefix.
func (p *Prefixes) Errors(object *unstructured.Unstructured) (found []rules.Finding) {
	at := prefix{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetGenerateName()}
	if rules.ClusterScoped(at.kind) {
		at.namespace = "" // the server removes the namespace of the manifest
	}
	if at.text == "" || object.GetName() != "" || p.seen[at] || len(p.seen) == maxPrefixes {
		return nil
	}
	if p.seen == nil {
		p.seen, p.first = map[prefix]bool{}, map[prefix]rules.Facts{}
	}
	p.seen[at] = true
	m := rules.NewManifest(&manifest.Object{Unstructured: object}, "", rules.Tree{})
	var facts rules.Facts
	facts.Add(m)
	pool := prefix{at.kind, at.namespace, names.EffectivePrefix(at.text)}
	in := rules.NewInput(NewestMinor, p.first[pool], facts)
	if len(p.first[pool].Objects) == 0 && m.Truncated() {
		p.first[pool] = facts
	}
	for _, rule := range rules.All {
		for _, f := range append(rule.Check(NewestMinor, m), rule.Compare(in)...) {
			if f.Level == v1alpha1.LintError && isAbout(f, at.text) {
				found = append(found, f)
			}
		}
	}
	return found
}

func isAbout(f rules.Finding, generateName string) bool {
	return f.Object.GenerateName == generateName || slices.ContainsFunc(f.Related, func(r rules.Related) bool {
		return r.Object.GenerateName == generateName
	})
}

package lint

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// NewestMinor is the newest minor version of Kubernetes that the rules were checked with.
const NewestMinor = 37

// maxPrefixes is the number of prefixes that Prefixes checks. maxPrefixes bounds the memory.
const maxPrefixes = 10_000

// Prefixes checks each prefix once. create uses it while it creates objects.
type Prefixes struct {
	seen map[prefix]bool
	// first has the first truncated prefix of each name pool. Later prefixes share the pool with
	// it.
	first map[prefix]rules.Facts
}

// prefix is a generateName, or an effective prefix, of one kind in one namespace.
type prefix struct {
	kind            schema.GroupKind
	namespace, text string
}

// Errors returns the errors that lint finds in the generateName of an object, alone and together with earlier
// objects. Errors returns none if an earlier object had the same prefix.
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

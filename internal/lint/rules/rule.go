package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Rule is one check.
type Rule struct {
	Name string
	// Levels are those of its findings, the worst one first.
	Levels []v1alpha1.LintLevel
	// Finds says in one line what it finds.
	Finds string
	// Why says what goes wrong, in paragraphs.
	Why string
	// Fix says what to do.
	Fix string
	// Sources are the places that say so.
	Sources []derived.Source
	// Examples are manifests with and without findings.
	Examples []Example

	// check tells what is wrong with one object of the input.
	check func(in *Input, o Object, tell func(Finding))
}

// Example is a manifest, and what the rule finds in it.
type Example struct {
	// About says what it shows.
	About string
	// Manifest is YAML. In the place of TREE stands where the file lies.
	Manifest string
	// Tree is where the file lies, if that matters.
	Tree Tree
	// Finds are the levels of what is found, by line; none for a good example.
	Finds []v1alpha1.LintLevel
}

// Finding is something wrong with an object.
type Finding struct {
	Level   v1alpha1.LintLevel
	Message string
	// Help is what to do here; that of the rule if empty.
	Help string
	// Path is the field.
	Path []any
	// Related are the generateName fields of other objects that it is about.
	Related []Related

	Rule   *Rule
	Object Object
}

// Related is another object that a finding is about.
type Related struct {
	Object Object
	// About says in a few words what it has to do with the finding.
	About string
}

// Position returns where the object's generateName stands.
func (r Related) Position() manifest.Position { return r.Object.Position("metadata", "generateName") }

// Position returns where the finding stands.
func (f Finding) Position() manifest.Position { return f.Object.Position(f.Path...) }

// All are the rules, in the order of the documentation.
var All = []*Rule{
	bothNames, invalidPrefix, truncatedPrefix, childNames, fixedName, sharedLabels, referenceByPrefix, notAppliable,
	onePerCluster, noSeparator, ignoredPrefix,
}

// Named returns the rule of a name, or an error that says which there are.
func Named(name string) (*Rule, error) {
	for _, rule := range All {
		if rule.Name == name {
			return rule, nil
		}
	}
	return nil, fmt.Errorf("there is no rule %q", name)
}

// Check returns what the rule finds in the input.
func (r *Rule) Check(in *Input) []Finding {
	var found []Finding
	for _, o := range in.Objects {
		r.check(in, o, func(f Finding) {
			f.Rule, f.Object = r, o
			if f.Help == "" {
				f.Help = r.Fix
			}
			found = append(found, f)
		})
	}
	return found
}

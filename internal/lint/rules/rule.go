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

	// letters is true of a rule that needs to know each letter of the name. It leaves
	// out names with placeholders.
	letters bool
	// check finds the problems of one object.
	check func(minor int, o Manifest, tell func(Finding))
	// compare finds problems between the objects of the input.
	compare func(in *Input, tell func(*Object, Finding))
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
	// Related are other objects that it is about.
	Related []Related

	Rule   *Rule
	Object Object
}

// Related is another object that a finding is about, by its generateName.
type Related struct {
	Object Object
	// About says in a few words what it has to do with the finding.
	About string
}

// Position returns where the object's generateName stands.
func (r Related) Position() manifest.Position { return r.Object.Position(generateName...) }

// Position returns where the finding stands.
func (f Finding) Position() manifest.Position { return f.Object.Position(f.Path...) }

// All are the rules, in the order of the documentation.
var All = []*Rule{
	bothNames, missingName, invalidPrefix, truncatedPrefix, childNames, fixedName, sharedLabels, referenceByPrefix,
	notAppliable, hookNames, onePerCluster, noSeparator, ignoredPrefix,
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

// Check returns what the rule finds in one object.
func (r *Rule) Check(minor int, o Manifest) []Finding {
	if r.check == nil || o.exported || r.letters && o.Placeholder() {
		return nil
	}
	var found []Finding
	r.check(minor, o, func(f Finding) { found = append(found, r.finding(o.Object, f)) })
	return found
}

// Compare returns what the rule finds between the objects of the input.
func (r *Rule) Compare(in *Input) []Finding {
	if r.compare == nil {
		return nil
	}
	var found []Finding
	r.compare(in, func(o *Object, f Finding) { found = append(found, r.finding(*o, f)) })
	return found
}

// finding completes a finding.
func (r *Rule) finding(o Object, f Finding) Finding {
	f.Rule, f.Object = r, o
	if f.Help == "" {
		f.Help = r.Fix
	}
	return f
}

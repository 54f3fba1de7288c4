// Package rules has the rules of lint. Each rule is in a file with its findings and the Kubernetes sources that explain
// it. Its page under docs/rules has good and bad examples, which are also the tests of the rule. A rule receives
// objects of manifests. It reads no file and sends no request.
package rules

import (
	"cmp"
	"fmt"
	"strings"

	pages "github.com/kubectl-genname/kubectl-genname/docs/rules"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Rule is one check. Its page in docs/rules has the texts of the rule.
type Rule struct {
	Name string
	// Levels are the levels of the rule's findings, the worst one first.
	Levels []v1alpha1.LintLevel

	// letters means that the rule needs each character of the name. Such a rule ignores names with variables.
	letters bool
	// check finds the problems of one object.
	check func(minor int, o Manifest, report func(Finding))
	// compare finds problems that need several objects of the input.
	compare func(in *Input, report func(*Object, Finding))
}

// Page returns the page of the rule, which has its texts and examples.
func (r *Rule) Page() pages.Page { return pages.Of(r.Name) }

// Finding is a problem that a rule finds in an object.
type Finding struct {
	Level   v1alpha1.LintLevel // empty means the rule's first level
	Message string
	// Help is the fix for this finding. If Help is empty, the rule's Fix applies.
	Help string
	// Path is the path of the field with the problem. nil means metadata.generateName.
	Path []any
	// Related are other objects that the finding is about.
	Related []Related

	Rule   *Rule
	Object Object
}

// Related is another object that a finding is about. Its position is the position of its generateName.
type Related struct {
	Object Object
	// About describes in a few words the relation to the finding.
	About string
}

// Position returns the position of the object's generateName.
func (r Related) Position() manifest.Position { return r.Object.Position(generateName...) }

// Position returns the position of the finding.
func (f Finding) Position() manifest.Position { return f.Object.Position(f.Path...) }

// All are the rules, in the order of the documentation.
var All = []*Rule{
	bothNames, missingName, invalidName, truncatedPrefix, childNames, fixedName, sharedLabels, referenceByPrefix,
	notAppliable, hookNames, onePerCluster, noSeparator, ignoredPrefix,
}

// Named returns the rule with the given name. If there is none, the error has the most similar name, or all names.
func Named(name string) (*Rule, error) {
	var others []string
	for _, rule := range All {
		if rule.Name == name {
			return rule, nil
		}
		others = append(others, rule.Name)
	}
	if nearest := humanize.DidYouMean("", name, others); nearest != "" {
		return nil, fmt.Errorf("there is no rule %q%s", name, nearest)
	}
	return nil, fmt.Errorf("there is no rule %q. The rules are %s", name, strings.Join(others, ", "))
}

// Check returns the findings of the rule in one object.
func (r *Rule) Check(minor int, o Manifest) []Finding {
	if r.check == nil || o.exported || r.letters && o.Placeholder() {
		return nil
	}
	var found []Finding
	r.check(minor, o, func(f Finding) { found = append(found, r.finding(o.Object, f)) })
	return found
}

// Compare returns the findings of the rule that need several objects of the input.
func (r *Rule) Compare(in *Input) []Finding {
	if r.compare == nil {
		return nil
	}
	var found []Finding
	r.compare(in, func(o *Object, f Finding) { found = append(found, r.finding(*o, f)) })
	return found
}

func (r *Rule) finding(o Object, f Finding) Finding {
	f.Rule, f.Object, f.Level = r, o, cmp.Or(f.Level, r.Levels[0])
	if f.Path == nil {
		f.Path = generateName
	}
	if f.Help == "" {
		f.Help = r.Page().Fix
	}
	return f
}

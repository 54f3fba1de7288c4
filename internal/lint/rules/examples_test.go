package rules

import (
	"slices"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// newest is the minor version of Kubernetes that the examples are meant for.
const newest = 37

// check returns the findings of one rule for the objects in a text.
func check(t *testing.T, rule *Rule, text string, tree Tree) []Finding {
	t.Helper()
	objects, broken := manifest.Read([]byte(text))
	if len(broken) > 0 || len(objects) == 0 {
		t.Fatalf("%d objects, broken %v:\n%s", len(objects), broken, text)
	}
	var found []Finding
	var facts Facts
	for _, o := range objects {
		m := NewManifest(o, "manifest.yaml", tree)
		found = append(found, rule.Check(newest, m)...)
		facts.Add(m)
	}
	return append(found, rule.Compare(NewInput(newest, facts))...)
}

// places maps an example's description to the tree around its file. Other examples need no tree.
var places = map[string]Tree{
	"The kustomization lists the file.":        {Kustomization: "kustomization.yaml"},
	"The file is in the templates of a chart.": {Chart: "Chart.yaml"},
	"The hook is in the templates of a chart.": {Chart: "Chart.yaml"},
}

// Every page has a good example, and a bad example for each level of the rule. The heading of an example has the level
// that the rule must find, and the finding must have a text and a position.
func TestExamples(t *testing.T) {
	for _, rule := range All {
		var levels []v1alpha1.LintLevel
		good := false
		for _, example := range rule.Page().Examples {
			t.Run(rule.Name+"/"+example.About, func(t *testing.T) {
				found := check(t, rule, example.Manifest, places[example.About])
				got := ""
				for _, f := range found {
					got += string(f.Level)
					if f.Message == "" || f.Help == "" || f.Position().Line == 1 {
						t.Errorf("%+v at %+v", f, f.Position())
					}
				}
				if got != example.Level {
					t.Errorf("finds %q, want %q", got, example.Level)
				}
			})
			levels = append(levels, v1alpha1.LintLevel(example.Level))
			good = good || example.Level == ""
		}
		for _, level := range rule.Levels {
			if !slices.Contains(levels, level) {
				t.Errorf("%s has no example of its level %s", rule.Name, level)
			}
		}
		if !good {
			t.Errorf("%s has no good example", rule.Name)
		}
	}
}

func TestNamed(t *testing.T) {
	if rule, err := Named("both-names"); err != nil || rule != bothNames {
		t.Error(rule, err)
	}
	if _, err := Named("none"); err == nil {
		t.Error("there is no such rule")
	}
}

package rules

import (
	"slices"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// newest is the minor version of the Kubernetes that examples are for.
const newest = 37

// check returns the findings of the rule in the objects of a text.
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

// places are the places of files in examples that need one.
var places = map[string]Tree{
	"The kustomization lists the file.":        {Kustomization: "kustomization.yaml"},
	"The file is in the templates of a chart.": {Chart: "Chart.yaml"},
	"The hook is in the templates of a chart.": {Chart: "Chart.yaml"},
}

// Every page has a good example and a bad example of each level of the rule. The examples have the
// finding of their heading, which can be shown.
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

package lint

import (
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// report returns the result as a LintReport.
func report(result *lint.Result) *v1alpha1.LintReport {
	r := &v1alpha1.LintReport{
		TypeMeta: v1alpha1.TypeOf("LintReport"),
		Summary: v1alpha1.LintSummary{
			Files: len(result.Read), Objects: result.Objects, Skipped: len(result.Skipped),
			Findings: countLevels(result),
		},
		Items: []v1alpha1.LintItem{},
	}
	for _, f := range result.Findings {
		if f.Silence != nil {
			continue
		}
		r.Items = append(r.Items, v1alpha1.LintItem{
			Rule: f.Rule.Name, Level: f.Level, Message: f.Message, Help: f.Help,
			File: f.Object.File, Line: f.Line, Column: f.Column,
			Object: objectOf(f.Object), Related: relatedPlaces(f),
		})
	}
	return r
}

// relatedPlaces returns the places of the other objects that a finding is about.
func relatedPlaces(f lint.Finding) []v1alpha1.LintPlace {
	places := []v1alpha1.LintPlace{}
	for _, r := range f.Related {
		at := r.Position()
		places = append(places, v1alpha1.LintPlace{
			File: r.Object.File, Line: at.Line, Column: at.Column, Object: objectOf(r.Object), About: r.About,
		})
	}
	return places
}

// objectOf returns what a manifest says of an object.
func objectOf(o rules.Object) v1alpha1.LintObject {
	kind := o.GroupVersionKind()
	return v1alpha1.LintObject{
		Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
		Namespace: o.GetNamespace(), Name: o.GetName(), GenerateName: o.GetGenerateName(),
	}
}

// countLevels returns how many findings there are that nothing silences.
func countLevels(result *lint.Result) (count v1alpha1.LintFindings) {
	for _, f := range result.Findings {
		switch {
		case f.Silence != nil:
		case f.Level == v1alpha1.LintError:
			count.Error++
		case f.Level == v1alpha1.LintWarning:
			count.Warning++
		default:
			count.Note++
		}
	}
	return count
}

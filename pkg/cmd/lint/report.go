package lint

import (
	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func report(result *lint.Result) *v1alpha1.LintReport {
	r := &v1alpha1.LintReport{
		TypeMeta: v1alpha1.TypeOf("LintReport"),
		Summary: v1alpha1.LintSummary{
			Files: len(result.Read), Objects: result.Objects, Skipped: len(result.Skipped),
			Exported: result.Exported, Placeholders: result.Placeholders,
			Findings: countLevels(result),
		},
		Items: []v1alpha1.LintItem{}, Disabled: []v1alpha1.LintDisabled{},
		Unreadable: []v1alpha1.LintUnreadable{}, SkippedFiles: append([]v1alpha1.LintSkipped{}, result.Skipped...),
	}
	for _, u := range result.Unreadable {
		r.Unreadable = append(r.Unreadable, v1alpha1.LintUnreadable{
			File: u.File, Line: u.Line, Message: unreadable(u).Error(),
		})
	}
	for _, f := range result.Findings {
		item := v1alpha1.LintItem{
			Rule: f.Rule.Name, Level: f.Level, Message: f.Message, Help: f.Help,
			File: f.Object.File, Line: f.Line, Column: f.Column,
			Object: objectOf(f.Object), Related: relatedPlaces(f),
		}
		if f.Silence != nil {
			r.Disabled = append(r.Disabled, v1alpha1.LintDisabled{LintItem: item, Reason: f.Silence.Reason})
			continue
		}
		r.Items = append(r.Items, item)
	}
	return r
}

func relatedPlaces(f lint.Finding) []v1alpha1.LintPlace {
	places := []v1alpha1.LintPlace{}
	for _, r := range f.Related {
		places = append(places, v1alpha1.LintPlace{
			File: r.Object.File, Line: r.Line, Column: r.Column, Object: objectOf(r.Object), About: r.About,
		})
	}
	return places
}

func objectOf(o rules.Object) v1alpha1.LintObject {
	return v1alpha1.LintObject{
		Group: o.Kind.Group, Version: o.Kind.Version, Kind: o.Kind.Kind,
		Namespace: o.Namespace, Name: o.Name, GenerateName: o.GenerateName,
	}
}

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

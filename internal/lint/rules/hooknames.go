package rules

import (
	"slices"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var hookNames = &Rule{
	Name:   "hook-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	compare: func(in *Input, report func(*Object, Finding)) {
		done := map[*Object]bool{}
		for _, o := range in.Objects {
			if !o.hook() || o.exported || done[o] {
				continue
			}
			finding := Finding{
				Level:   v1alpha1.LintError,
				Message: "Argo CD generates the same name for two hooks of one phase",
				Path:    generateName,
			}
			for _, other := range in.generating[prefixKey{o.kind(), o.GenerateName}] {
				if other != o && in.meet(o, other) {
					done[other] = true
					finding.Related = append(finding.Related, Related{*other, "same phase and generateName"})
				}
			}
			if len(finding.Related) > 0 {
				report(o, finding)
			}
		}
	},
}

// meet reports whether one sync creates two hooks in one phase.
func (in *Input) meet(o, other *Object) bool {
	near := o.together(other) || o.distance(other) == 1
	return near && in.namespaceOf(o) == in.namespaceOf(other) && slices.ContainsFunc(o.phases, func(phase string) bool {
		return slices.Contains(other.phases, phase)
	})
}

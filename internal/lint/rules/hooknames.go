package rules

import (
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var hookNames = &Rule{
	Name:   "hook-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	Finds:  "Argo CD generates the same name for two hooks",
	Why: `Argo CD generates the name of a hook itself, from generateName, the revision, the phase and the time
of the sync. It appends 23 to 27 bytes, does not truncate the prefix at 58 bytes, and uses no random
characters. Two hooks of one kind and one phase with the same generateName get the same name, so the second
create fails.`,
	Fix: "use another generateName for each hook of a phase",
	Sources: []derived.Source{{
		Project: "github.com/argoproj/gitops-engine", Version: "v0.7.1-0.20250617174952-093aef0dad58",
		File: "pkg/sync/sync_context.go", Symbol: "getSyncTasks",
	}},
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
	Examples: []Example{
		{
			About:    "The name of both Jobs is migrate-REVISION-presync-TIME.",
			Manifest: hookExample("migrate-", "PreSync") + "---\n" + hookExample("migrate-", "PreSync"),
			Finds:    []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The hooks have different prefixes, or different phases.",
			Manifest: hookExample("migrate-", "PreSync") + "---\n" + hookExample("check-", "PreSync") + "---\n" +
				hookExample("migrate-", "PostSync"),
		},
	},
}

// meet reports whether one sync creates two hooks in one phase.
func (in *Input) meet(o, other *Object) bool {
	near := o.together(other) || o.distance(other) == 1
	return near && in.namespaceOf(o) == in.namespaceOf(other) && slices.ContainsFunc(o.phases, func(phase string) bool {
		return slices.Contains(other.phases, phase)
	})
}

// hookExample returns a Job that is a hook of Argo CD.
func hookExample(prefix, phase string) string {
	return `apiVersion: batch/v1
kind: Job
metadata:
  generateName: ` + prefix + `
  annotations: {argocd.argoproj.io/hook: ` + phase + `}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: example.com/migrate}]}}
`
}

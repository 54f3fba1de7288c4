package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	argoHook    = "argocd.argoproj.io/hook"
)

var notAppliable = &Rule{
	Name:   "not-appliable",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning, v1alpha1.LintNote},
	Finds:  "generateName where a tool takes it that applies: kubectl apply, kustomize, Argo CD, Helm",
	Why: `A tool that applies looks an object up by its name. kubectl apply refuses an object without one; kustomize
before it, as do kubectl create -k and apply -k; Argo CD takes one only as a hook. Helm creates it, and at
each upgrade another one, and removes none of them. A file lies where kustomize takes it if the
kustomization beside it names it, and is Helm's if it is in the folder templates of a chart.`,
	Fix: "give it a name, or keep it apart and create it with kubectl genname create",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubectl", Version: "v0.37.2",
			File: "pkg/cmd/apply/apply.go", Symbol: "cannot use generate name with apply",
		},
		{
			Project: "sigs.k8s.io/kustomize/api", Version: "v0.21.1",
			File: "resource/factory.go", Symbol: "missing metadata.name",
		},
		{Project: "github.com/helm/helm", Version: "issues 3348, 9488"},
		{Project: "github.com/argoproj/argo-cd", Version: "issue 1639"},
	},
	check: func(_ *Input, o Object, tell func(Finding)) {
		if !o.generates() {
			return
		}
		finding := Finding{Level: v1alpha1.LintWarning, Path: []any{"metadata", "generateName"}}
		annotations := o.GetAnnotations()
		switch {
		case annotations[argoHook] != "" || annotations["helm.sh/hook"] != "":
			return
		case o.Tree.Kustomization != "":
			finding.Message = fmt.Sprintf(
				"%s has this file among its resources, and kustomize refuses an object without a name",
				o.Tree.Kustomization)
			finding.Help = "give it a name, or build with kubectl genname create -k, which takes it"
		case annotations[lastApplied] != "":
			finding.Message = "it was applied under a name, and kubectl apply refuses it with a generateName alone"
		case tracked(annotations):
			finding.Message = "Argo CD applies it, and takes generateName in hooks only"
			finding.Help = "give it a name, or make it a hook: " + argoHook
		case o.Tree.Chart != "" || o.GetLabels()["app.kubernetes.io/managed-by"] == "Helm":
			finding.Level = v1alpha1.LintNote
			finding.Message = "each helm upgrade makes another one, and removes none"
			finding.Help = "give it a name, or make it a hook: helm.sh/hook"
		default:
			return
		}
		tell(finding)
	},
	Examples: []Example{
		{
			About: "The kustomization beside the file names it.",
			Tree:  Tree{Kustomization: "kustomization.yaml"},
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Argo CD has it in sync waves, so applies it.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  annotations: {argocd.argoproj.io/sync-wave: "1"}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: example.com/migrate}]}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Helm makes one more of it with each upgrade.",
			Tree:  Tree{Chart: "Chart.yaml"},
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintNote},
		},
		{
			About: "A hook of Argo CD is created anew with each sync, and may have a generated name.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: migrate-
  annotations: {argocd.argoproj.io/hook: PreSync}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: example.com/migrate}]}}
`,
		},
	},
}

// tracked reports whether annotations are those of what Argo CD applies.
func tracked(annotations map[string]string) bool {
	for _, name := range []string{"sync-wave", "sync-options", "tracking-id", "compare-options"} {
		if _, has := annotations["argocd.argoproj.io/"+name]; has {
			return true
		}
	}
	return false
}

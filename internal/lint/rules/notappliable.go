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
	Finds:  "a tool applies this file and needs a name: kubectl apply, kustomize, Argo CD, Helm",
	Why: `A tool that applies objects finds them by name. kubectl apply and kustomize refuse an object without a
name, and so do kubectl create -k and kubectl apply -k. Argo CD accepts one only as a hook. Helm creates the
object, creates another one at each upgrade, and removes none of them. A file belongs to a kustomization if
its kustomization.yaml lists it, and to Helm if it is in the templates directory of a chart.`,
	Fix: "set metadata.name, or move the object to another file and create it with kubectl genname create",
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
				"kustomize refuses an object without a name, and %s lists this file",
				o.Tree.Kustomization)
			finding.Help = "set metadata.name, or use kubectl genname create -k, which accepts generateName"
		case annotations[lastApplied] != "":
			finding.Message = "kubectl apply refuses an object without a name, and this one was applied before"
		case tracked(annotations):
			finding.Message = "Argo CD applies this object, and accepts generateName only in hooks"
			finding.Help = "set metadata.name, or make the object a hook with the annotation " + argoHook
		case o.Tree.Chart != "" || o.GetLabels()["app.kubernetes.io/managed-by"] == "Helm":
			finding.Level = v1alpha1.LintNote
			finding.Message = "each helm upgrade creates another object and removes none"
			finding.Help = "set metadata.name, or make the object a hook with the annotation helm.sh/hook"
		default:
			return
		}
		tell(finding)
	},
	Examples: []Example{
		{
			About: "The kustomization lists the file.",
			Tree:  Tree{Kustomization: "kustomization.yaml"},
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "The object is in a sync wave, so Argo CD applies it.",
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
			About: "Helm creates another object at each upgrade.",
			Tree:  Tree{Chart: "Chart.yaml"},
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintNote},
		},
		{
			About: "Argo CD creates a hook again with each sync, so a hook can have a generated name.",
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

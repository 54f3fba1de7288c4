package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var ignoredPrefix = &Rule{
	Name:   "ignored-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintNote},
	Finds:  "generateName in a template has no effect",
	Why: `A controller takes labels, annotations and finalizers from the metadata of a template, and derives the
names itself. The name of a Pod comes from its owner. The name of a CronJob's Job comes from the CronJob and
the time. The name of a StatefulSet's claim comes from the template, the set and a number.`,
	Fix: "remove generateName from the template",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/controller_utils.go", Symbol: "GetPodFromTemplate",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/cronjob/utils.go", Symbol: "getJobFromTemplate2",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/statefulset/stateful_set_utils.go", Symbol: "getPersistentVolumeClaims",
		},
	},
	check: func(_ int, o Manifest, report func(Finding)) {
		content := o.Unstructured.Object
		for _, template := range templatesOf(o.kind()) {
			if stringAt(content, append(template[:len(template):len(template)], "metadata", "generateName")...) != "" {
				report(ignored(o, pathOf(template, "metadata", "generateName")))
			}
		}
		for i, item := range listAt(content, "spec", "volumeClaimTemplates") {
			claim, _ := item.(map[string]any)
			if o.Kind.Kind == "StatefulSet" && stringAt(claim, "metadata", "generateName") != "" {
				report(ignored(o, []any{"spec", "volumeClaimTemplates", i, "metadata", "generateName"}))
			}
		}
	},
	Examples: []Example{
		{
			About: "The names of the Pods come from the name of the Job.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: report-
spec:
  template:
    metadata:
      generateName: report-pod-
    spec: {restartPolicy: Never, containers: [{name: report, image: example.com/report}]}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintNote},
		},
		{
			About: "The template has labels only.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: report-
spec:
  template:
    metadata:
      labels: {app: report}
    spec: {restartPolicy: Never, containers: [{name: report, image: example.com/report}]}
`,
		},
	},
}

func ignored(o Manifest, path []any) Finding {
	return Finding{
		Level: v1alpha1.LintNote,
		Message: fmt.Sprintf("generateName in the template of a %s has no effect: the controller derives the names",
			o.Kind.Kind),
		Path: path,
	}
}

// templatesOf returns the paths of the templates of a kind.
func templatesOf(kind schema.GroupKind) [][]string {
	pods := podTemplates[kind]
	if len(pods) == 0 { // a Pod is none
		return nil
	}
	if kind.Kind == "CronJob" {
		return [][]string{{"spec", "jobTemplate"}, pods}
	}
	return [][]string{pods}
}

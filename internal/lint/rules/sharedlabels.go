package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var sharedLabels = &Rule{
	Name:   "shared-labels",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	Finds:  "two copies share the labels of their Pods",
	Why: `Every copy of the manifest has the same selector and the same labels on its Pods. Autoscalers, disruption
budgets and Services cannot tell the Pods of one copy from those of another: a HorizontalPodAutoscaler
counts all of them, a PodDisruptionBudget that more than one controller's Pods match is not honoured, a
Service sends traffic to all. A Pod that has lost its owner is adopted by whichever copy sees it first. A
Job is safe unless manualSelector is true: its labels have its UID.`,
	Fix: "give each copy a label of its own in selector and template, or a fixed name",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/controller_ref_manager.go", Symbol: "ClaimObject",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/podautoscaler/horizontal.go", Symbol: "validateAndParseSelector",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/registry/batch/job/strategy.go", Symbol: "generateSelector",
		},
	},
	check: func(_ *Input, o Object, tell func(Finding)) {
		fields, has := selectors[o.kind()]
		if !has || !o.generates() || mapAt(o.Object.Object, fields...) == nil {
			return
		}
		if o.GetKind() == "Job" && !boolAt(o.Object.Object, "spec", "manualSelector") {
			return
		}
		tell(Finding{
			Level: v1alpha1.LintWarning,
			Message: fmt.Sprintf(
				"all copies of this %s select each other's Pods: nothing in the labels tells them apart",
				o.GetKind()),
			Path: pathOf(fields),
		})
	},
	Examples: []Example{
		{
			About: "Two copies have Pods with app=preview.",
			Manifest: `apiVersion: apps/v1
kind: Deployment
metadata:
  generateName: preview-
spec:
  selector: {matchLabels: {app: preview}}
  template:
    metadata: {labels: {app: preview}}
    spec: {containers: [{name: web, image: example.com/web}]}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "A Job that selects for itself.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: import-
spec:
  manualSelector: true
  selector: {matchLabels: {app: import}}
  template:
    metadata: {labels: {app: import}}
    spec: {restartPolicy: Never, containers: [{name: import, image: example.com/import}]}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "A Job gets a selector with its UID.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: import-
spec:
  template:
    metadata: {labels: {app: import}}
    spec: {restartPolicy: Never, containers: [{name: import, image: example.com/import}]}
`,
		},
	},
}

// selectors are where kinds say which Pods are theirs.
var selectors = map[schema.GroupKind][]string{
	{Kind: "ReplicationController"}:      {"spec", "selector"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "selector"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "selector"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "selector"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "selector"},
	{Group: "batch", Kind: "Job"}:        {"spec", "selector"},
}

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
	Finds:  "all copies select the same Pods",
	Why: `Every copy of the manifest has the same selector and the same Pod labels. Autoscalers, disruption
budgets and Services can't tell the Pods of the copies apart. A HorizontalPodAutoscaler counts the Pods of
all copies, a Service sends traffic to all of them, and the server ignores a PodDisruptionBudget that
matches Pods of several controllers. If a Pod loses its owner, any copy can adopt it. A Job is safe unless
manualSelector is true, because its selector contains its UID.`,
	Fix: "add a label with a different value for each copy to the selector and the template, or use a fixed name",
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
	check: func(_ int, o Manifest, report func(Finding)) {
		fields, has := selectors[o.kind()]
		if !has || !o.generates() || mapAt(o.Unstructured.Object, fields...) == nil {
			return
		}
		if o.Kind.Kind == "Job" && !boolAt(o.Unstructured.Object, "spec", "manualSelector") {
			return
		}
		report(Finding{
			Level:   v1alpha1.LintWarning,
			Message: fmt.Sprintf("all copies of this %s select the same Pods", o.Kind.Kind),
			Path:    pathOf(fields),
		})
	},
	Examples: []Example{
		{
			About: "The Pods of all copies have the label app=preview.",
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
			About: "With manualSelector, the server adds no UID to the selector, so all copies select the same Pods.",
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
			About: "The server adds a selector with the UID of the Job.",
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

// selectors are the paths of the Pod selectors of kinds.
var selectors = map[schema.GroupKind][]string{
	{Kind: "ReplicationController"}:         {"spec", "selector"},
	{Group: "apps", Kind: "ReplicaSet"}:     {"spec", "selector"},
	{Group: "apps", Kind: "Deployment"}:     {"spec", "selector"},
	{Group: "apps", Kind: "StatefulSet"}:    {"spec", "selector"},
	{Group: "apps", Kind: "DaemonSet"}:      {"spec", "selector"},
	{Group: "batch", Kind: "Job"}:           {"spec", "selector"},
	{Group: "argoproj.io", Kind: "Rollout"}: {"spec", "selector"},
}

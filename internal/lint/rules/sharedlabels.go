package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var sharedLabels = &Rule{
	Name:   "shared-labels",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
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

package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var onePerCluster = &Rule{
	Name:   "one-per-cluster",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	check: func(_ int, o Manifest, report func(Finding)) {
		if !o.generates() {
			return
		}
		for _, single := range singles(o) {
			report(single.finding(o.Object))
		}
	},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, r := range in.references {
			forOnePod := r.to == claim && in.named[nameKey{claim, r.namespace, r.name}]
			if forOnePod && r.from.generates() && !r.from.exported {
				claimed := single{"the claim " + r.name, "waits until the first one is deleted", r.path}
				report(r.from, claimed.finding(*r.from))
			}
		}
	},
}

// refusedTwice describes a second copy of an object with a value that the server allocates once.
const refusedTwice = "is refused by the server"

// single is a field value that only one object can have.
type single struct {
	what, fate string
	path       []any
}

func (s single) finding(o Object) Finding {
	return Finding{
		Message: fmt.Sprintf("only one object can have %s, so a second %s %s", s.what, o.Kind.Kind, s.fate),
		Path:    s.path,
	}
}

func singles(o Manifest) []single {
	var found []single
	content := o.Unstructured.Object
	switch {
	case o.kind() == service:
		if ip := stringAt(content, "spec", "clusterIP"); ip != "" && ip != "None" {
			found = append(found, single{"the cluster IP " + ip, refusedTwice, []any{"spec", "clusterIP"}})
		}
		for i, item := range listAt(content, "spec", "ports") {
			port, _ := item.(map[string]any)
			if number, given := numberAt(port, "nodePort"); given && number > 0 {
				what := fmt.Sprintf("the node port %d", number)
				found = append(found, single{what, refusedTwice, []any{"spec", "ports", i, "nodePort"}})
			}
		}
	case o.kind() == claim:
		if volume := stringAt(content, "spec", "volumeName"); volume != "" {
			found = append(found, single{"the volume " + volume, "is never bound", []any{"spec", "volumeName"}})
		}
	}
	return found
}

// forOnePod reports whether an object is a claim that only one Pod can mount.
func forOnePod(o Manifest) bool {
	modes := listAt(o.Unstructured.Object, "spec", "accessModes")
	return o.kind() == claim && len(modes) == 1 && modes[0] == "ReadWriteOncePod"
}

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
			Message: fmt.Sprintf("all copies of this %s select the same Pods", o.Kind.Kind),
			Path:    pathOf(fields),
		})
	},
}

// selectors are the paths of the Pod selectors, by kind.
var selectors = map[schema.GroupKind][]string{
	{Kind: "ReplicationController"}:         {"spec", "selector"},
	{Group: "apps", Kind: "ReplicaSet"}:     {"spec", "selector"},
	{Group: "apps", Kind: "Deployment"}:     {"spec", "selector"},
	{Group: "apps", Kind: "StatefulSet"}:    {"spec", "selector"},
	{Group: "apps", Kind: "DaemonSet"}:      {"spec", "selector"},
	{Group: "batch", Kind: "Job"}:           {"spec", "selector"},
	{Group: "argoproj.io", Kind: "Rollout"}: {"spec", "selector"},
}

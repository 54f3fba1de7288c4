package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var ignoredPrefix = &Rule{
	Name:   "ignored-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintNote},
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

package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var missingName = &Rule{
	Name:   "missing-name",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote},
	check: func(_ int, o Manifest, report func(Finding)) {
		metadata := mapAt(o.Unstructured.Object, "metadata")
		value, given := metadata["generateName"]
		_, isText := value.(string)
		misspelled, path := misspelledIn(o)
		switch {
		case given && value != nil && !isText:
			report(Finding{
				Level:   v1alpha1.LintError,
				Message: fmt.Sprintf("generateName is a %s, and the server needs a string", typeOf(value)),
				Help:    "quote the value",
				Path:    generateName,
			})
		case misspelled != "" && !isText:
			finding := Finding{
				Level:   v1alpha1.LintWarning,
				Message: fmt.Sprintf("the server ignores the field %s", misspelled),
				Help:    "use metadata.generateName",
				Path:    path,
			}
			if o.Name == "" {
				finding.Level = v1alpha1.LintError
				finding.Message += ", so the object has no name"
			}
			report(finding)
		case o.Name == "" && o.GenerateName == "" && known(o):
			report(Finding{
				Level:   v1alpha1.LintNote, // in most such files a program sets the name
				Message: "the object has neither name nor generateName, and the server refuses it",
				Help:    "set metadata.name or metadata.generateName",
				Path:    []any{"metadata"},
			})
		}
	},
}

// separators removes the characters that separate words in misspelled fields. It is made once, because it
// has a table of all bytes, and create checks every prefix.
var separators = strings.NewReplacer("_", "", "-", "")

// misspelledIn returns a field that was meant as generateName, and its path.
func misspelledIn(o Manifest) (field string, path []any) {
	for _, place := range [][]string{{"metadata"}, {}} {
		fields := o.Unstructured.Object
		if len(place) > 0 {
			fields = mapAt(fields, place...)
		}
		var found []string
		for name := range fields {
			like := strings.EqualFold(separators.Replace(name), "generateName")
			if like && (len(place) == 0 || name != "generateName") {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			slices.Sort(found)
			return strings.Join(append(place, found[0]), "."), pathOf(place, found[0])
		}
	}
	return "", nil
}

// typeOf returns the type of a value in YAML.
func typeOf(value any) string {
	switch value.(type) {
	case bool:
		return "boolean"
	case map[string]any:
		return "mapping"
	case []any:
		return "list"
	}
	return "number"
}

// known reports whether a server stores objects of the kind under a name. Many files have a kind
// that only a tool reads.
func known(o Manifest) bool {
	_, pods := podTemplates[o.kind()]
	_, refers := inKinds[o.kind()]
	return pods || refers || stored[o.kind()]
}

// stored are kinds that a server stores, besides those of other tables.
var stored = map[schema.GroupKind]bool{
	configMap: true, secret: true, service: true, serviceAccount: true, namespace: true, volume: true,
	{Group: rbac, Kind: "Role"}: true, {Group: rbac, Kind: "ClusterRole"}: true,
	{Group: rbac, Kind: "RoleBinding"}: true, {Group: rbac, Kind: "ClusterRoleBinding"}: true,
}

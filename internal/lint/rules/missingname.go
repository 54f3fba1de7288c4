package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var missingName = &Rule{
	Name:   "missing-name",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning, v1alpha1.LintNote},
	Finds:  "generateName is misspelled, misplaced or not a string, or the object has no name",
	Why: `The value of metadata.generateName must be a string. YAML reads yes as a boolean and 0123 as a number,
and the server refuses both. The server ignores fields that it does not know, so an object with a misspelled
generateName has no name. The server refuses an object that has neither metadata.name nor
metadata.generateName.`,
	Fix: "set metadata.generateName to a string",
	Sources: []derived.Source{
		{
			Project: "k8s.io/apimachinery", Version: "v0.37.2",
			File: "pkg/api/validation/objectmeta.go", Symbol: "name or generateName is required",
		},
		{
			Project: "k8s.io/apimachinery", Version: "v0.37.2",
			File: "pkg/apis/meta/v1/types.go", Symbol: "ObjectMeta",
		},
	},
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
	Examples: []Example{
		{
			About: "YAML reads 0123 as a number.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: 0123
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The server does not know the field generatename.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generatename: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The ConfigMap has a name, and the server ignores generate_name.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  name: run
  generate_name: run-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "The ConfigMap has neither a name nor a generateName.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  labels: {app: run}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintNote},
		},
		{
			About: "The value is a string.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: "0123"
`,
		},
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

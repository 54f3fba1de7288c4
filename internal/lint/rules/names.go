package rules

import (
	"fmt"
	"net/netip"
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
		for _, field := range []string{"generateName", "name"} {
			if value := metadata[field]; value != nil && typeOf(value) != "string" {
				report(Finding{
					Level:   v1alpha1.LintError,
					Message: fmt.Sprintf("%s is a %s, and the server needs a string", field, typeOf(value)),
					Help:    "quote the value",
					Path:    []any{"metadata", field},
				})
				return
			}
		}
		_, given := metadata["generateName"].(string)
		misspelled, path := misspelledIn(o)
		switch {
		case misspelled != "" && !given:
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
		case o.Name == "" && o.GenerateName == "" && known(o) && !o.Tree.Change:
			report(Finding{
				Level:   v1alpha1.LintNote, // in most such files, a program sets the name
				Message: "the object has neither name nor generateName, and the server refuses it",
				Help:    "set metadata.name or metadata.generateName",
				Path:    []any{"metadata"},
			})
		}
	},
}

// separators removes the characters between words from misspelled fields. All rules share it, because it contains a
// table of all bytes, and create checks each prefix.
var separators = strings.NewReplacer("_", "", "-", "")

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

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case map[string]any:
		return "mapping"
	case []any:
		return "list"
	}
	return "number"
}

// known reports whether a server stores objects of the kind under a name. Many files have kinds that only a tool reads.
func known(o Manifest) bool {
	_, pods := podTemplates[o.kind()]
	_, refers := inKinds[o.kind()]
	return pods || refers || stored[o.kind()]
}

// stored are kinds that a server stores, and that are in no other table.
var stored = map[schema.GroupKind]bool{
	configMap: true, secret: true, service: true, serviceAccount: true, namespace: true, volume: true,
	{Group: rbac, Kind: "Role"}: true, {Group: rbac, Kind: "ClusterRole"}: true,
	{Group: rbac, Kind: "RoleBinding"}: true, {Group: rbac, Kind: "ClusterRoleBinding"}: true,
}

var bothNames = &Rule{
	Name:   "both-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	check: func(_ int, o Manifest, report func(Finding)) {
		if o.Name == "" || o.GenerateName == "" {
			return
		}
		report(Finding{
			Message: "generateName has no effect next to metadata.name, and a second create fails", Help: keepName(o),
		})
	},
}

// keepName returns the fix for an object that must keep its fixed name, and otherwise "". If the user removed the name,
// another rule would report the object.
func keepName(o Manifest) string {
	if applier(o) == "" && fixedNames[o.kind()].is == "" {
		return ""
	}
	return "remove metadata.generateName"
}

var fixedName = &Rule{
	Name:   "fixed-name",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	check: func(_ int, o Manifest, report func(Finding)) {
		fixed, is := fixedNames[o.kind()]
		if !is || !o.generates() {
			return
		}
		finding := Finding{
			Level:   v1alpha1.LintWarning,
			Message: fmt.Sprintf("the name of this object must be %s, and a generated name matches nothing", fixed.is),
		}
		switch {
		case fixed.refused && isAddress(o.Object):
			finding.Message = "the server adds no random characters for an IPAddress: the name is generateName"
		case fixed.refused:
			finding.Level = v1alpha1.LintError
			finding.Message = fmt.Sprintf(
				"the name of this object must be %s, and the server refuses a generated one", fixed.is)
		}
		report(finding)
	},
}

type fixed struct {
	is      string // the meaning of the name
	refused bool   // the server refuses any other name
}

var fixedNames = map[schema.GroupKind]fixed{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {"PLURAL.GROUP", true},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             {"VERSION.GROUP", true},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                   {"the address", true},
	{Kind: "Node"}: {"the name of the machine", false},
	{Group: "storage.k8s.io", Kind: "CSINode"}:   {"the name of the Node", false},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {"the name that the driver registers", false},
	{Kind: "Endpoints"}:                          {"the name of the Service", false},
}

func isAddress(o Object) bool {
	address, err := netip.ParseAddr(o.GenerateName)
	return o.Kind.Kind == "IPAddress" && err == nil && address.String() == o.GenerateName
}

var hookNames = &Rule{
	Name:   "hook-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	compare: func(in *Input, report func(*Object, Finding)) {
		done := map[*Object]bool{}
		for _, o := range in.Objects {
			if !o.hook() || o.exported || done[o] {
				continue
			}
			finding := Finding{Message: "Argo CD generates the same name for two hooks of one phase"}
			for _, other := range in.hooks[nameKey{o.kind(), in.namespaceOf(o), o.GenerateName}] {
				if other != o && o.meets(other) {
					done[other] = true
					finding.Related = append(finding.Related, Related{*other, "same phase and generateName"})
				}
			}
			if len(finding.Related) > 0 {
				report(o, finding)
			}
		}
	},
}

func (o *Object) meets(other *Object) bool {
	near := o.together(other) || o.distance(other) == 1
	return near && slices.ContainsFunc(o.phases, func(phase string) bool {
		return slices.Contains(other.phases, phase)
	})
}

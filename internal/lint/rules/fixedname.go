package rules

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var fixedName = &Rule{
	Name:   "fixed-name",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	Finds:  "the type needs a certain name, so a generated name is refused or has no effect",
	Why: `The name of a CustomResourceDefinition must be PLURAL.GROUP, the name of an APIService VERSION.GROUP,
and the name of an IPAddress the address. The server refuses other names, so it refuses generated names.
For an IPAddress, the server adds no random characters and uses generateName as the name. A Node, a CSINode, a
CSIDriver and Endpoints must have the name of something else, such as a machine, a driver or a Service. A
generated name matches nothing.`,
	Fix: "set metadata.name instead of metadata.generateName",
	Sources: []derived.Source{
		{
			Project: "k8s.io/apiextensions-apiserver", Version: "v0.37.2",
			File: "pkg/apis/apiextensions/validation/validation.go", Symbol: "ValidateCustomResourceDefinition",
		},
		{
			Project: "k8s.io/kube-aggregator", Version: "v0.34.4",
			File: "pkg/apis/apiregistration/validation/validation.go", Symbol: "ValidateAPIService",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/registry/networking/ipaddress/strategy.go", Symbol: "noopNameGenerator",
		},
	},
	check: func(_ int, o Manifest, report func(Finding)) {
		fixed, is := fixedNames[o.kind()]
		if !is || !o.generates() {
			return
		}
		finding := Finding{
			Level:   v1alpha1.LintWarning,
			Message: fmt.Sprintf("the name of this object must be %s, and a generated name matches nothing", fixed.is),
			Path:    generateName,
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
	Examples: []Example{
		{
			About: "The name of a CustomResourceDefinition is PLURAL.GROUP.",
			Manifest: `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  generateName: widgets-
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The name of an APIService is VERSION.GROUP.",
			Manifest: `apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  generateName: v1.example.com-
spec:
  group: example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  service: {name: api, namespace: default}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The name of an IPAddress is the address.",
			Manifest: `apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata:
  generateName: address-
spec: {parentRef: {resource: services, namespace: default, name: web}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "Endpoints belong to the Service with the same name.",
			Manifest: `apiVersion: v1
kind: Endpoints
metadata:
  generateName: web-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "The CustomResourceDefinition has the required name.",
			Manifest: `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`,
		},
	},
}

type fixed struct {
	is      string // the meaning of the name
	refused bool   // another one by the server
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

// isAddress reports whether generateName is a valid name of an IPAddress.
func isAddress(o Object) bool {
	address, err := netip.ParseAddr(o.GenerateName)
	return o.Kind.Kind == "IPAddress" && err == nil && address.String() == o.GenerateName
}

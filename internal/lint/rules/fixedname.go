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
	Finds:  "a type whose name is not free",
	Why: `The name of a CustomResourceDefinition is PLURAL.GROUP, that of an APIService VERSION.GROUP, that of an
IPAddress is the address: a server refuses any other, so it refuses what it generates. An IPAddress is not
even given a random part: it is called as its generateName says. The name of a Node, a CSINode, a CSIDriver
or of Endpoints says whose it is: under a generated name it is nobody's.`,
	Fix: "give it metadata.name in the place of metadata.generateName",
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
	check: func(_ *Input, o Object, tell func(Finding)) {
		fixed, is := fixedNames[o.kind()]
		if !is || !o.generates() {
			return
		}
		finding := Finding{
			Level: v1alpha1.LintWarning,
			Message: fmt.Sprintf("the name of this %s is %s: under a generated one it means nothing",
				o.GetKind(), fixed.is),
			Path: []any{"metadata", "generateName"},
		}
		switch {
		case fixed.refused && isAddress(o):
			finding.Message = "no name is generated for an IPAddress: it will be called " + o.GetGenerateName()
		case fixed.refused:
			finding.Level = v1alpha1.LintError
			finding.Message = fmt.Sprintf("the name of this %s is %s: a server refuses a generated one",
				o.GetKind(), fixed.is)
		}
		tell(finding)
	},
	Examples: []Example{
		{
			About: "A CustomResourceDefinition is called PLURAL.GROUP.",
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
			About: "An APIService is called VERSION.GROUP.",
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
			About: "An IPAddress is called like the address.",
			Manifest: `apiVersion: networking.k8s.io/v1
kind: IPAddress
metadata:
  generateName: address-
spec: {parentRef: {resource: services, namespace: default, name: web}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "Endpoints are those of the Service with their name.",
			Manifest: `apiVersion: v1
kind: Endpoints
metadata:
  generateName: web-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "With the name that it must have.",
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
	is      string // what the name is
	refused bool   // another one by the server
}

var fixedNames = map[schema.GroupKind]fixed{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {"PLURAL.GROUP", true},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             {"VERSION.GROUP", true},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                   {"the address", true},
	{Kind: "Node"}: {"that of the machine", false},
	{Group: "storage.k8s.io", Kind: "CSINode"}:   {"that of the Node", false},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {"that by which the driver registers", false},
	{Kind: "Endpoints"}:                          {"that of the Service", false},
}

// isAddress reports whether generateName is what an IPAddress may be called.
func isAddress(o Object) bool {
	address, err := netip.ParseAddr(o.GetGenerateName())
	return o.GetKind() == "IPAddress" && err == nil && address.String() == o.GetGenerateName()
}

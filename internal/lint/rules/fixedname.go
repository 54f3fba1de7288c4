package rules

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

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

package rules

import (
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var bothNames = &Rule{
	Name:   "both-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	check: func(_ int, o Manifest, report func(Finding)) {
		if o.Name == "" || o.GenerateName == "" {
			return
		}
		report(Finding{
			Level:   v1alpha1.LintWarning,
			Message: "generateName has no effect next to metadata.name, and a second create fails",
			Path:    generateName,
			Help:    keepName(o),
		})
	},
}

// keepName returns the fix if the object needs its name. Without the name, another rule would have
// a finding.
func keepName(o Manifest) string {
	if applier(o) == "" && fixedNames[o.kind()].is == "" {
		return ""
	}
	return "remove metadata.generateName"
}

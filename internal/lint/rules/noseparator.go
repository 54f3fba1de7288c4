package rules

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var noSeparator = &Rule{
	Name:    "no-separator",
	Levels:  []v1alpha1.LintLevel{v1alpha1.LintNote},
	letters: true,
	check: func(minor int, o Manifest, report func(Finding)) {
		prefix := o.GenerateName
		if !o.generates() || o.hook() || len(prefix) > names.MaxPrefixLength || fixedNames[o.kind()].is != "" ||
			strings.ContainsAny(prefix[len(prefix)-1:], "-.:_/") {
			return
		}
		report(Finding{
			Level:   v1alpha1.LintNote,
			Message: "generateName does not end with -, so the random characters follow it directly",
			Path:    generateName,
			Help:    separated(o, minor),
		})
	},
}

// separated returns the fix if a separator does not fit.
func separated(o Manifest, minor int) string {
	limit := tightest(o, minor) - names.SuffixLength
	if len(o.GenerateName) < limit {
		return ""
	}
	return fmt.Sprintf("shorten generateName to %d bytes, and end it with -", limit)
}

package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

var truncatedPrefix = &Rule{
	Name:   "truncated-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	Finds:  "generateName has more than 58 bytes, and the rest is lost",
	Why: `A generated name has at most 63 bytes: the first 58 bytes of generateName and 5 random characters.
Bytes after the 58th are not in the name. Two prefixes with the same first 58 bytes share one name pool
(27^5 names), and the names don't show which prefix an object has. The object keeps its whole generateName.`,
	Fix: fmt.Sprintf("shorten generateName to %d bytes, with the distinguishing part within them",
		names.MaxPrefixLength),
	Sources: []derived.Source{{
		Project: "k8s.io/apiserver", Version: "v0.37.2", File: "pkg/storage/names/generate.go", Symbol: "GenerateName",
	}},
	check: func(in *Input, o Object, tell func(Finding)) {
		prefix := o.GetGenerateName()
		if !o.generates() || len(prefix) <= names.MaxPrefixLength || fixedNames[o.kind()].refused {
			return
		}
		finding := Finding{
			Level: v1alpha1.LintWarning,
			Message: fmt.Sprintf("generateName has %d bytes, and the server truncates it to %d",
				len(prefix), names.MaxPrefixLength),
			Path: []any{"metadata", "generateName"},
		}
		first, others := in.index.sharing(o)
		switch {
		case !first:
			return // the finding of the first object names this one
		case len(others) > 0:
			finding.Level = v1alpha1.LintError
			finding.Message += ", so other prefixes have the same names"
			finding.Related = others
		}
		tell(finding)
	},
	Examples: []Example{
		{
			About: "The names do not have the end of the prefix, with the dash.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-production-eu-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Both prefixes give names like nightly-integration-tests-of-the-payment-service-producti2x9kz.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-production-eu-
---
apiVersion: v1
kind: ConfigMap
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-production-us-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The distinguishing part is within 58 bytes.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: eu-nightly-integration-tests-of-the-payment-service-
---
apiVersion: v1
kind: ConfigMap
metadata:
  generateName: us-nightly-integration-tests-of-the-payment-service-
`,
		},
	},
}

// sharing returns the objects whose different prefixes are truncated to that of o,
// and whether o is the first object of the input with its own prefix in that name
// pool's finding.
func (x *index) sharing(o Object) (first bool, others []Related) {
	first = true
	for _, other := range x.spaces[x.spaceOf(o)] {
		if other.Object == o.Object {
			continue
		}
		if other.GetGenerateName() != o.GetGenerateName() {
			others = append(others, Related{other, "same first 58 bytes"})
		}
	}
	if len(others) > 0 {
		first = x.spaces[x.spaceOf(o)][0].Object == o.Object
	}
	return first, others
}

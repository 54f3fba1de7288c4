package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

var cutPrefix = &Rule{
	Name:   "cut-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	Finds:  "over 58 bytes: what follows is lost; an error if two objects of the input share a name space through it",
	Why: `A generated name has 63 bytes at most: the first 58 of generateName, and 5 random characters. What follows
the 58th byte is not in the name, nor does it keep names apart: two prefixes that agree in their first 58
bytes share 27^5 names, and nobody can tell by its name what an object is of. generateName itself is kept in
full.`,
	Fix: fmt.Sprintf("shorten it to %d bytes, with what tells it apart among them", names.MaxPrefixLength),
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
			Message: fmt.Sprintf("generateName has %d bytes: %s is lost", len(prefix),
				quoted(prefix[names.MaxPrefixLength:])),
			Path: []any{"metadata", "generateName"},
		}
		for _, other := range in.index.spaces[in.index.spaceOf(o)] {
			if other.GetGenerateName() != prefix {
				finding.Level = v1alpha1.LintError
				finding.Message += fmt.Sprintf(", and its names are those of %s too, in %s:%d",
					quoted(other.GetGenerateName()), other.File, other.Position("metadata", "generateName").Line)
				break
			}
		}
		tell(finding)
	},
	Examples: []Example{
		{
			About: "The end of the prefix, with the dash, is not in the names.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-production-eu-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Both make names like nightly-integration-tests-of-the-payment-service-producti2x9kz.",
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
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintError},
		},
		{
			About: "What tells them apart is within 58 bytes.",
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

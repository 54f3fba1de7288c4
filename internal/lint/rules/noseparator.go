package rules

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

var noSeparator = &Rule{
	Name:   "no-separator",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintNote},
	Finds:  "run gives runx4k2z",
	Why: `A server adds nothing but random characters: what stands between them and the prefix is for generateName to
say. Without it, people and tools that take the name apart at its last dash see another prefix.`,
	Fix: "end generateName with -",
	Sources: []derived.Source{{
		Project: "k8s.io/apiserver", Version: "v0.37.2", File: "pkg/storage/names/generate.go", Symbol: "GenerateName",
	}},
	check: func(_ *Input, o Object, tell func(Finding)) {
		prefix := o.GetGenerateName()
		if !o.generates() || len(prefix) > names.MaxPrefixLength || fixedNames[o.kind()].is != "" ||
			strings.ContainsAny(prefix[len(prefix)-1:], "-.:_/") {
			return
		}
		tell(Finding{
			Level:   v1alpha1.LintNote,
			Message: fmt.Sprintf("nothing parts the prefix from the random characters: %sx4k2z", prefix),
			Path:    []any{"metadata", "generateName"},
		})
	},
	Examples: []Example{
		{
			About: "The names are like runx4k2z.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintNote},
		},
		{
			About: "The names are like run-x4k2z.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: run-
`,
		},
	},
}

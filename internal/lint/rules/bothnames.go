package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var bothNames = &Rule{
	Name:   "both-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	Finds:  "name and generateName: the name wins, a second create conflicts",
	Why: `A server generates a name only for an object that has none. With both fields, the object gets its name, and
generateName stays in it as a remark. The second create of such a manifest fails: AlreadyExists. What the
server says then is misleading, "the server was not able to generate a unique name for the object", because
it looks only at whether generateName is there.`,
	Fix: "leave out metadata.name to have names generated, or metadata.generateName",
	Sources: []derived.Source{
		{
			Project: "k8s.io/apiserver", Version: "v0.37.2",
			File: "pkg/registry/generic/registry/store.go", Symbol: "needsNameGeneration",
		},
		{
			Project: "k8s.io/apiserver", Version: "v0.37.2",
			File: "pkg/registry/rest/create.go", Symbol: "CheckGeneratedNameError",
		},
	},
	check: func(_ *Input, o Object, tell func(Finding)) {
		if o.GetName() == "" || o.GetGenerateName() == "" {
			return
		}
		tell(Finding{
			Level: v1alpha1.LintWarning,
			Message: fmt.Sprintf(
				"name %s wins over generateName %s: no name is generated, and a second create conflicts",
				quoted(o.GetName()), quoted(o.GetGenerateName())),
			Path: []any{"metadata", "generateName"},
		})
	},
	Examples: []Example{
		{
			About: "The Job is called report, and a second one cannot be created.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  name: report
  generateName: report-
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: report, image: example.com/report}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Each create makes another Job.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: report-
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: report, image: example.com/report}
`,
		},
	},
}

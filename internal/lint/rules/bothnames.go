package rules

import (
	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var bothNames = &Rule{
	Name:   "both-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	Finds:  "the object has a name, so generateName has no effect",
	Why: `The server generates a name only for an object without metadata.name. If a manifest has both fields,
the object gets the fixed name, and the server keeps generateName without using it. A second create of the
manifest fails with AlreadyExists. The server's message is then misleading: "the server was not able to
generate a unique name for the object". The server returns this message because generateName is set.`,
	Fix: "remove metadata.name to get generated names, or remove metadata.generateName",
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
	Examples: []Example{
		{
			About: "The name of the Job is report, and a second create fails.",
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
			About: "Each create of the manifest creates another Job.",
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

// keepName returns the fix if the object needs its name. Without the name, another rule would have
// a finding.
func keepName(o Manifest) string {
	if applier(o) == "" && fixedNames[o.kind()].is == "" {
		return ""
	}
	return "remove metadata.generateName"
}

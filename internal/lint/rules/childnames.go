package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var childNames = &Rule{
	Name:   "child-names",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	Finds:  "derived names are too long, or lose their random characters",
	Why: `Controllers derive names of other objects, and values of labels, from the name of an object. Most of
these have a limit of 63 bytes. A generated name is 5 bytes longer than its prefix. If a derived name is too
long, the server refuses the create, or the object exists and its controller can't create its children. If
the derived name is a prefix, the server truncates it to 58 bytes. The random characters of the owner's name
are at its end, so they are lost first, and the children of all copies share one name pool. The page on
derived names has a table of the names that each controller derives.`,
	Fix: "shorten the name",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/apis/batch/validation/validation.go", Symbol: "ValidateCronJobCreate",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/controller_utils.go", Symbol: "getPodsPrefix",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/statefulset/stateful_set_utils.go", Symbol: "setPodRevision",
		},
	},
	letters: true,
	check: func(minor int, o Manifest, report func(Finding)) {
		for _, row := range derived.Of(o.kind(), minor) {
			if finding, is := worst(o, row); is {
				if finding.Help == "" {
					finding.Help = budget(o.Object, tightest(o, minor))
				}
				report(finding)
				return // the rows of a kind are sorted by severity
			}
		}
	},
	Examples: []Example{
		{
			About: "The name of a Job is NAME-MINUTES, so the CronJob's name has at most 52 bytes. This one has 53.",
			Manifest: `apiVersion: batch/v1
kind: CronJob
metadata:
  generateName: nightly-integration-tests-of-the-payment-system-
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: tests, image: example.com/tests}]}}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The label controller-revision-hash has up to 66 bytes. The limit is 63, so the controller " +
				"can't create Pods.",
			Manifest: `apiVersion: apps/v1
kind: StatefulSet
metadata:
  generateName: replicated-store-of-the-payment-service-in-europe-
spec:
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: store, image: example.com/store}]}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The host name of a Pod of an Indexed Job is NAME-INDEX. " +
				"Here it has up to 64 bytes, and the limit is 63.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-in-eu-
spec:
  completionMode: Indexed
  completions: 1001
  template: {spec: {restartPolicy: Never, containers: [{name: tests, image: example.com/tests}]}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The prefix of the Pods is truncated to 58 bytes, so it has none of the Job's random characters.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-in-europe-
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: tests, image: example.com/tests}]}}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "The prefix has 53 bytes. So the names of the Pods contain all random characters of the Job's name.",
			Manifest: `apiVersion: batch/v1
kind: Job
metadata:
  generateName: nightly-integration-tests-of-the-payment-service-eur-
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: tests, image: example.com/tests}]}}
`,
		},
		{
			About: "The prefix has 47 bytes, so the name has 52.",
			Manifest: `apiVersion: batch/v1
kind: CronJob
metadata:
  generateName: nightly-integration-tests-of-the-payment-syste-
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: tests, image: example.com/tests}]}}}
`,
		},
	},
}

// worst returns the finding of a row of the table for the object, if there is one.
func worst(o Manifest, row derived.Child) (Finding, bool) {
	adds, applies := added(o, row)
	length, prefix := o.nameLength()
	if !applies || length == 0 {
		return Finding{}, false
	}
	limit := row.MaxOwner(adds)
	finding := Finding{Path: o.nameField()}
	switch {
	case row.Over == derived.Truncated && o.generates() && !o.hook() && prefix+names.SuffixLength > limit && limit >= 0:
		left := max(0, limit-prefix)
		finding.Level = v1alpha1.LintWarning
		finding.Message = fmt.Sprintf("the generateName of each %s is truncated to %d bytes, so %s",
			row.Makes, names.MaxPrefixLength, remains(o.Object, left))
	case row.Over == derived.Truncated && o.Kind.Kind == "Deployment" && length+len("-") >= names.MaxPrefixLength:
		finding.Level = v1alpha1.LintWarning
		finding.Message = fmt.Sprintf(
			"the generateName of each %s is truncated to %d bytes, and the hash of the ReplicaSet is lost",
			row.Makes, names.MaxPrefixLength)
	case (row.Over == derived.Refused || row.Over == derived.Broken) && length > limit:
		finding.Level = v1alpha1.LintError
		finding.Message = fmt.Sprintf("the %s (%s) has up to %d bytes, and the limit is %d: %s",
			row.Makes, row.Formula, length+row.Limit-limit, row.Limit, consequences[row.Over])
	case row.Variant == derived.Indexed && row.Over == derived.Refused && row.Owner != derived.JobSet &&
		dotted(o.Object):
		finding.Level = v1alpha1.LintError
		finding.Message = fmt.Sprintf("the %s (%s) can't have dots: the server refuses the create",
			row.Makes, row.Formula)
		finding.Help = "remove the dots"
	default:
		return Finding{}, false
	}
	return finding, true
}

// tightest returns the number of bytes that the name can have, so that no row of the
// table finds anything.
func tightest(o Manifest, minor int) int {
	limit := names.MaxPrefixLength + o.suffix()
	for _, row := range derived.Of(o.kind(), minor) {
		adds, applies := added(o, row)
		switch {
		case !applies || row.Over == derived.Fits:
		case row.Over != derived.Truncated:
			limit = min(limit, row.MaxOwner(adds))
		case o.Kind.Kind == "Deployment":
			limit = min(limit, names.MaxPrefixLength-len("-")-1)
		case o.generates() && !o.hook() && row.MaxOwner(adds) > names.SuffixLength:
			limit = min(limit, row.MaxOwner(adds))
		}
	}
	return limit
}

var consequences = map[derived.Consequence]string{
	derived.Refused: "the server refuses the create",
	derived.Broken:  "the controller can't create it",
}

// remains describes the remaining random part of a generated name.
func remains(o Object, left int) string {
	if left == 0 {
		return fmt.Sprintf("all copies of this %s share one name pool", o.Kind.Kind)
	}
	return fmt.Sprintf("only %d of the %d random characters of the %s are left", left, names.SuffixLength, o.Kind.Kind)
}

// budget describes the maximum length of the name.
func budget(o Object, limit int) string {
	switch {
	case o.hook():
		return fmt.Sprintf(
			"shorten generateName to %d bytes, because Argo CD appends revision, phase and time (%d bytes)",
			limit-o.suffix(), o.suffix())
	case o.generates():
		return fmt.Sprintf("shorten generateName to %d bytes", limit-names.SuffixLength)
	}
	return fmt.Sprintf("shorten the name to %d bytes", limit)
}

// dotted reports whether the object's name is a subdomain of several labels.
func dotted(o Object) bool {
	name := o.Name
	if o.generates() {
		name = o.GenerateName + names.Alphabet[:names.SuffixLength]
	}
	return strings.Contains(name, ".") && len(validation.IsDNS1123Subdomain(name)) == 0
}

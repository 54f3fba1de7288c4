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
	Name:    "child-names",
	Levels:  []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
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
}

// worst returns the finding about an object for one row of the table. ok is false if there is no finding.
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
		if row.Limit == derived.MaxClaim { // the controller truncates both names, in proportion to their lengths
			generated := prefix + names.SuffixLength
			left = max(0, generated*row.Limit/(generated+row.Adds+adds)-prefix)
		}
		finding.Level = v1alpha1.LintWarning
		finding.Message = fmt.Sprintf("the generateName of each %s is truncated to %d bytes, so %s",
			row.Makes, row.Limit, remains(o.Object, left))
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

func tightest(o Manifest, minor int) int {
	limit := names.MaxPrefixLength + o.suffix()
	for _, row := range derived.Of(o.kind(), minor) {
		adds, applies := added(o, row)
		switch {
		case !applies:
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

func remains(o Object, left int) string {
	if left == 0 {
		return fmt.Sprintf("all copies of this %s share one name pool", o.Kind.Kind)
	}
	return fmt.Sprintf("only %d of the %d random characters of the %s are left", left, names.SuffixLength, o.Kind.Kind)
}

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

func dotted(o Object) bool {
	name := o.Name
	if o.generates() {
		name = o.GenerateName + names.Alphabet[:names.SuffixLength]
	}
	return strings.Contains(name, ".") && len(validation.IsDNS1123Subdomain(name)) == 0
}

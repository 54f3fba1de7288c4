package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var truncatedPrefix = &Rule{
	Name:   "truncated-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintWarning},
	compare: func(in *Input, report func(*Object, Finding)) {
		done := map[*Object]bool{}
		for _, o := range in.Objects {
			if !o.Truncated() || done[o] {
				continue
			}
			finding := Finding{
				Level: v1alpha1.LintWarning,
				Message: fmt.Sprintf("generateName has %d bytes, and the server truncates it to %d",
					len(o.GenerateName), names.MaxPrefixLength),
				Path: generateName,
			}
			if others := in.sharing(o); len(others) > 0 {
				finding.Level = v1alpha1.LintError
				finding.Message += ", so other prefixes have the same names"
				for _, other := range others {
					finding.Related = append(finding.Related, Related{*other, "same first 58 bytes"})
					done[other] = true
				}
			}
			report(o, finding)
		}
	},
}

// Truncated reports whether the server truncates the prefix of an object, so that names
// of other prefixes can be the same.
func (o *Object) Truncated() bool {
	return o.generates() && len(o.GenerateName) > names.MaxPrefixLength &&
		!o.exported && !o.hook() && !o.Placeholder() && !fixedNames[o.kind()].refused
}

// sharing returns the other objects in the name pool of o that can exist beside it: objects of one
// namespace, file or kustomization. It returns none if all have the same prefix.
func (in *Input) sharing(o *Object) []*Object {
	var others []*Object
	differ := false
	for _, other := range in.pools[in.poolOf(o)] {
		if other == o || !other.Truncated() || in.namespaceOf(o) == "" && !o.together(other) {
			continue
		}
		others = append(others, other)
		differ = differ || other.GenerateName != o.GenerateName
	}
	if !differ {
		return nil
	}
	return others
}

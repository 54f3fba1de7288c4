package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var invalidName = &Rule{
	Name:   "invalid-name",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	check: func(minor int, o Manifest, report func(Finding)) {
		renamed := o.Tree.Change || // kustomize sets a Namespace's name, too
			o.kind() == namespace && (o.Tree.Kustomized == path.Dir(o.Tree.Path) || o.Tree.Kustomization != "")
		if o.Name == "" || o.GenerateName != "" || o.Exported() || o.Placeholder() || !known(o) || renamed {
			return
		}
		if reasons := nameRuleOf(o.kind(), minor)(o.Name, false); len(reasons) > 0 {
			report(Finding{
				Message: "the server refuses the name: " + withoutPattern(reasons[0]),
				Help:    cmp.Or(shortened(reasons[0]), "use lower case letters, digits and -"),
				Path:    []any{"metadata", "name"},
			})
		}
	},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, o := range in.Objects {
			if o.GenerateName == "" || o.exported || o.Placeholder() || fixedNames[o.kind()].refused {
				continue
			}
			if reason := in.refusal(o); reason != "" {
				report(o, Finding{Message: "the server refuses generateName: " + reason, Help: shortened(reason)})
			}
		}
	},
}

// shortened returns the fix for a name that the server refuses for its length, or "".
func shortened(reason string) string {
	if strings.HasPrefix(reason, "must be no more than") {
		return "shorten it"
	}
	return ""
}

// nameRule checks a name as kube-apiserver does for one type. If prefix is true, it checks a generateName. A
// generateName can end with a character that a name can't end with.
type nameRule func(name string, prefix bool) []string

const rbac = "rbac.authorization.k8s.io"

// nameRules has the rules of built-in types whose names are not DNS subdomains. A test compares each rule with a real
// server.
var nameRules = map[schema.GroupKind]nameRule{
	{Kind: "Namespace"}: validation.NameIsDNSLabel,
	{Kind: "Event"}:     pathSegment,
	{Group: "policy", Kind: "PodDisruptionBudget"}: pathSegment,
	{Group: "apps", Kind: "StatefulSet"}:           validation.NameIsDNSLabel,
	{Group: rbac, Kind: "Role"}:                    pathSegment,
	{Group: rbac, Kind: "ClusterRole"}:             pathSegment,
	{Group: rbac, Kind: "RoleBinding"}:             pathSegment,
	{Group: rbac, Kind: "ClusterRoleBinding"}:      pathSegment,
	{Group: "authorization.k8s.io"}:                anything,
	{Group: "authentication.k8s.io"}:               anything,
	{Group: "certificates.k8s.io"}:                 pathSegment,
	{Group: "internal.apiserver.k8s.io"}:           pathSegment,
}

// pathSegment is the rule for types whose names must only be valid in a URL path.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// anything accepts any name. It is the rule for reviews, which the server doesn't store.
func anything(string, bool) []string { return nil }

// relaxedServices is the first minor version in which a Service's name can begin with a digit. The gate
// RelaxedServiceNameValidation is on there.
const relaxedServices = 36

// nameRuleOf returns the rule of a kind that the input doesn't define by a CRD. Aggregated APIs allow any name, and
// only OpenShift's groups are known as aggregated APIs.
func nameRuleOf(kind schema.GroupKind, minor int) nameRule {
	if kind == (schema.GroupKind{Kind: "Service"}) {
		if minor < relaxedServices {
			return validation.NameIsDNS1035Label
		}
		return validation.NameIsDNSLabel
	}
	if rule := nameRules[kind]; rule != nil {
		return rule
	}
	if rule := nameRules[schema.GroupKind{Group: kind.Group}]; rule != nil && kind.Group != "" {
		return rule
	}
	if kind.Group == "openshift.io" || strings.HasSuffix(kind.Group, ".openshift.io") {
		return pathSegment
	}
	return validation.NameIsDNSSubdomain
}

// refusal returns the reason why a server refuses the object's generateName, or "".
func (in *Input) refusal(o *Object) string {
	rule, prefix := nameRuleOf(o.kind(), in.Minor), o.GenerateName
	if _, custom := in.scopes[o.kind()]; custom {
		rule = validation.NameIsDNSSubdomain
	}
	if reasons := rule(prefix, true); len(reasons) > 0 {
		return withoutPattern(reasons[0])
	}
	if o.Name != "" {
		return ""
	}
	generated := names.EffectivePrefix(prefix) + names.Alphabet[:names.SuffixLength]
	if reasons := rule(generated, false); len(reasons) > 0 {
		return fmt.Sprintf("the name %s: %s", generated, withoutPattern(reasons[0]))
	}
	return ""
}

// withoutPattern returns a server's reason without the regular expression at the end of the reason.
func withoutPattern(reason string) string {
	text, _, _ := strings.Cut(reason, " (e.g. ")
	return text
}

var ignoredPrefix = &Rule{
	Name:   "ignored-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintNote},
	check: func(_ int, o Manifest, report func(Finding)) {
		content := o.Unstructured.Object
		for _, template := range templatesOf(o.kind()) {
			if stringAt(content, append(template[:len(template):len(template)], "metadata", "generateName")...) != "" {
				report(ignored(o, pathOf(template, "metadata", "generateName")))
			}
		}
		for i, item := range listAt(content, "spec", "volumeClaimTemplates") {
			claim, _ := item.(map[string]any)
			if o.Kind.Kind == "StatefulSet" && stringAt(claim, "metadata", "generateName") != "" {
				report(ignored(o, []any{"spec", "volumeClaimTemplates", i, "metadata", "generateName"}))
			}
		}
	},
}

func ignored(o Manifest, path []any) Finding {
	return Finding{
		Message: fmt.Sprintf("generateName in the template of a %s has no effect: the controller derives the names",
			o.Kind.Kind),
		Path: path,
	}
}

func templatesOf(kind schema.GroupKind) [][]string {
	pods := podTemplates[kind]
	if len(pods) == 0 { // a Pod has no Pod template
		return nil
	}
	if kind.Kind == "CronJob" {
		return [][]string{{"spec", "jobTemplate"}, pods}
	}
	return [][]string{pods}
}

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
			Message: "generateName does not end with -, so the random characters follow it directly",
			Help:    separated(o, minor),
		})
	},
}

// separated returns the fix if the separator in a name is wrong.
func separated(o Manifest, minor int) string {
	limit := tightest(o, minor) - names.SuffixLength
	if len(o.GenerateName) < limit {
		return ""
	}
	return fmt.Sprintf("shorten generateName to %d bytes, and end it with -", limit)
}

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

// Truncated reports whether the server truncates the prefix of an object. Then another object with a different prefix
// can have the same effective prefix.
func (o *Object) Truncated() bool {
	return o.generates() && len(o.GenerateName) > names.MaxPrefixLength &&
		!o.exported && !o.hook() && !o.Placeholder() && !fixedNames[o.kind()].refused
}

// sharing returns the other objects in the name pool of o that can exist together with o. They are in the same
// namespace, file or kustomization. sharing returns nothing if all objects in the pool have the same prefix.
func (in *Input) sharing(o *Object) []*Object {
	at := in.poolOf(o)
	if !in.mixed[at] { // such a pool can have many objects of a bulk create
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.pools[at]), func(other *Object) bool { return other == o })
}

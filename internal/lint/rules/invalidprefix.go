package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var invalidPrefix = &Rule{
	Name:   "invalid-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	Finds:  "the server refuses every name with this prefix",
	Why: `The server validates generateName, and the name that it generates, by the rules of the type. Most
types need a DNS subdomain. Namespaces, StatefulSets and Services need a DNS label, and before Kubernetes
1.36 the name of a Service must begin with a letter. The names of RBAC objects, Events and
PodDisruptionBudgets can have all characters except / and %. If the prefix is invalid, the server refuses the
create, whatever the random characters are.`,
	Fix: "use lower case letters, digits and -, and end with -",
	Sources: []derived.Source{
		{
			Project: "k8s.io/apimachinery", Version: "v0.37.2",
			File: "pkg/api/validation/objectmeta.go", Symbol: "ValidateObjectMetaAccessor",
		},
		{
			Project: "k8s.io/apimachinery", Version: "v0.37.2",
			File: "pkg/api/validation/generic.go", Symbol: "NameIsDNSSubdomain",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/apis/core/validation/validation.go", Symbol: "ValidateServiceName",
		},
	},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, o := range in.Objects {
			if o.GenerateName == "" || o.exported || o.Placeholder() || fixedNames[o.kind()].refused {
				continue
			}
			if reason := in.refusal(o); reason != "" {
				report(o, Finding{
					Level:   v1alpha1.LintError,
					Message: "the server refuses generateName: " + reason,
					Path:    generateName,
				})
			}
		}
	},
	Examples: []Example{
		{
			About: "A DNS name can't have upper case letters or underscores.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: Build_
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The name of a StatefulSet must be a DNS label, and a DNS label can't have dots.",
			Manifest: `apiVersion: apps/v1
kind: StatefulSet
metadata:
  generateName: web.shop-
spec:
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web}]}
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The server refuses the generated names, because a DNS name can't have - after a dot.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: web.-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The name of a Role can have upper case letters and colons.",
			Manifest: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  generateName: Build:Runner-
`,
		},
		{
			About: "The name of a ConfigMap must be a DNS subdomain, which can have dots.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: web.shop-
`,
		},
	},
}

// nameRule is a type's check of its names. With prefix, the check of the end is less strict.
type nameRule func(name string, prefix bool) []string

const rbac = "rbac.authorization.k8s.io"

// nameRules are the rules of kube-apiserver's types whose names are not DNS subdomains. A real
// server confirmed each type.
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

// pathSegment is the rule of types whose names only have to fit a path.
func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// anything is the rule of reviews, which the server doesn't store.
func anything(string, bool) []string { return nil }

// relaxedServices is the first minor version in which a Service's name can begin with a digit,
// because the gate RelaxedServiceNameValidation is on.
const relaxedServices = 36

// nameRuleOf returns the rule of a kind. Custom resources have the rule of most types. Aggregated
// APIs, of which only OpenShift's groups are known, allow any name.
func (in *Input) nameRuleOf(kind schema.GroupKind) nameRule {
	if _, custom := in.scopes[kind]; custom {
		return validation.NameIsDNSSubdomain
	}
	if kind == (schema.GroupKind{Kind: "Service"}) {
		if in.Minor < relaxedServices {
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

// refusal returns why a server refuses the object's generateName, or "".
func (in *Input) refusal(o *Object) string {
	rule, prefix := in.nameRuleOf(o.kind()), o.GenerateName
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

// withoutPattern returns a server's reason without the regular expression at its
// end.
func withoutPattern(reason string) string {
	text, _, _ := strings.Cut(reason, " (e.g. ")
	return text
}

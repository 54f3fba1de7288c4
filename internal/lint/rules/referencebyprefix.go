package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var referenceByPrefix = &Rule{
	Name:   "reference-by-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError},
	Finds:  "another object refers to a generated name by its prefix",
	Why: `References use names. The name of an object with generateName is known only after the create, and no
object has the prefix as its name. An object that refers to the prefix waits forever, or the server refuses
it, because the prefix is not a valid name.`,
	Fix: "give the object that is referred to a name, or create it first and insert the generated name",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "plugin/pkg/admission/serviceaccount/admission.go", Symbol: "getServiceAccount",
		},
		{
			Project: "k8s.io/apimachinery", Version: "v0.37.2",
			File: "pkg/api/validation/generic.go", Symbol: "NameIsDNSSubdomain",
		},
	},
	check: func(in *Input, o Object, tell func(Finding)) {
		if len(in.index.generating) == 0 {
			return
		}
		for _, r := range references(o) {
			for _, target := range in.index.generating[r.to] {
				if target.GetGenerateName() != r.name || in.index.byName[nameKey{r.to, target.GetNamespace(), r.name}] {
					continue
				}
				if target.GetNamespace() != "" && r.namespace != "" && target.GetNamespace() != r.namespace {
					continue
				}
				tell(Finding{
					Level: v1alpha1.LintError,
					Message: fmt.Sprintf("refers to the %s %s by its generateName, and no object has that name",
						r.to.Kind, quoted(r.name)),
					Path:    r.path,
					Related: []Related{{target, "its generateName"}},
				})
				break
			}
		}
	},
	Examples: []Example{
		{
			About: "The Pod waits for a ConfigMap with the name settings-.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  generateName: settings-
data: {color: blue}
---
apiVersion: v1
kind: Pod
metadata:
  generateName: web-
spec:
  containers:
  - name: web
    image: example.com/web
    envFrom:
    - configMapRef:
        name: settings-
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintError},
		},
		{
			About: "The ConfigMap has a name.",
			Manifest: `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data: {color: blue}
---
apiVersion: v1
kind: Pod
metadata:
  generateName: web-
spec:
  containers:
  - name: web
    image: example.com/web
    envFrom:
    - configMapRef:
        name: settings
`,
		},
	},
}

// reference is a name in one object that is another's.
type reference struct {
	to              schema.GroupKind
	namespace, name string
	path            []any
}

// named is a field that has the name of an object of a kind. Steps of a path that
// end with [] are lists.
type named struct {
	path string
	to   schema.GroupKind
}

var (
	configMap      = schema.GroupKind{Kind: "ConfigMap"}
	secret         = schema.GroupKind{Kind: "Secret"}
	service        = schema.GroupKind{Kind: "Service"}
	claim          = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	serviceAccount = schema.GroupKind{Kind: "ServiceAccount"}
)

// inPods are the references in the spec of a Pod.
var inPods = []named{
	{"serviceAccountName", serviceAccount},
	{"imagePullSecrets[].name", secret},
	{"volumes[].configMap.name", configMap},
	{"volumes[].secret.secretName", secret},
	{"volumes[].persistentVolumeClaim.claimName", claim},
	{"volumes[].projected.sources[].configMap.name", configMap},
	{"volumes[].projected.sources[].secret.name", secret},
	{"containers[].envFrom[].configMapRef.name", configMap},
	{"containers[].envFrom[].secretRef.name", secret},
	{"containers[].env[].valueFrom.configMapKeyRef.name", configMap},
	{"containers[].env[].valueFrom.secretKeyRef.name", secret},
	{"initContainers[].envFrom[].configMapRef.name", configMap},
	{"initContainers[].envFrom[].secretRef.name", secret},
	{"initContainers[].env[].valueFrom.configMapKeyRef.name", configMap},
	{"initContainers[].env[].valueFrom.secretKeyRef.name", secret},
}

// inKinds are the references in objects of other kinds.
var inKinds = map[schema.GroupKind][]named{
	{Group: "apps", Kind: "StatefulSet"}: {{"spec.serviceName", service}},
	{Group: "networking.k8s.io", Kind: "Ingress"}: {
		{"spec.rules[].http.paths[].backend.service.name", service},
		{"spec.defaultBackend.service.name", service},
		{"spec.tls[].secretName", secret},
	},
	claim: {{"spec.volumeName", schema.GroupKind{Kind: "PersistentVolume"}}},
	{Group: "tekton.dev", Kind: "PipelineRun"}: {
		{"spec.pipelineRef.name", schema.GroupKind{Group: "tekton.dev", Kind: "Pipeline"}},
		{"spec.taskRunTemplate.serviceAccountName", serviceAccount},
		{"spec.workspaces[].persistentVolumeClaim.claimName", claim},
	},
	{Group: "tekton.dev", Kind: "Pipeline"}: {
		{"spec.tasks[].taskRef.name", schema.GroupKind{Group: "tekton.dev", Kind: "Task"}},
	},
	{Group: "tekton.dev", Kind: "TaskRun"}: {
		{"spec.taskRef.name", schema.GroupKind{Group: "tekton.dev", Kind: "Task"}},
		{"spec.serviceAccountName", serviceAccount},
		{"spec.workspaces[].persistentVolumeClaim.claimName", claim},
	},
	{Group: "argoproj.io", Kind: "Workflow"}: {
		{"spec.workflowTemplateRef.name", schema.GroupKind{Group: "argoproj.io", Kind: "WorkflowTemplate"}},
		{"spec.serviceAccountName", serviceAccount},
	},
}

// typed are fields that have an object's kind beside its name.
var typed = []string{"metadata.ownerReferences[]", "spec.scaleTargetRef", "roleRef", "subjects[]"}

// references returns the names of others in an object.
func references(o Object) []reference {
	var found []reference
	add := func(at string, root []string, to schema.GroupKind) {
		walk(mapOrAll(o, root), strings.Split(at, "."), pathOf(root), func(value any, path []any) {
			if name, is := value.(string); is && name != "" {
				found = append(found, reference{to, o.GetNamespace(), name, path})
			}
		})
	}
	if pods, has := podTemplates[o.kind()]; has {
		for _, field := range inPods {
			add(field.path, append(pods[:len(pods):len(pods)], "spec"), field.to)
		}
	}
	for _, field := range inKinds[o.kind()] {
		add(field.path, nil, field.to)
	}
	for _, at := range typed {
		walk(o.Object.Object, strings.Split(at, "."), nil, func(value any, path []any) {
			if r, is := typedReference(o, value); is {
				r.path = slices.Concat(path, []any{"name"})
				found = append(found, r)
			}
		})
	}
	return found
}

// typedReference returns a reference that says itself what it refers to.
func typedReference(o Object, value any) (reference, bool) {
	fields, _ := value.(map[string]any)
	group, _, _ := strings.Cut(stringAt(fields, "apiVersion"), "/")
	if !strings.Contains(stringAt(fields, "apiVersion"), "/") {
		group = stringAt(fields, "apiGroup")
	}
	r := reference{
		to:        schema.GroupKind{Group: group, Kind: stringAt(fields, "kind")},
		namespace: o.GetNamespace(), name: stringAt(fields, "name"),
	}
	if namespace := stringAt(fields, "namespace"); namespace != "" {
		r.namespace = namespace
	}
	return r, r.name != "" && r.to.Kind != ""
}

// mapOrAll returns the mapping at a path of the object, or all of it for none.
func mapOrAll(o Object, path []string) map[string]any {
	if len(path) == 0 {
		return o.Object.Object
	}
	return mapAt(o.Object.Object, path...)
}

// walk visits what is at a path of fields, and in each item of its lists.
func walk(value any, steps []string, path []any, visit func(value any, path []any)) {
	if len(steps) == 0 {
		visit(value, path)
		return
	}
	fields, _ := value.(map[string]any)
	name, isList := strings.CutSuffix(steps[0], "[]")
	below, has := fields[name]
	if !has {
		return
	}
	path = append(path[:len(path):len(path)], name)
	if !isList {
		walk(below, steps[1:], path, visit)
		return
	}
	items, _ := below.([]any)
	for i, item := range items {
		walk(item, steps[1:], append(path[:len(path):len(path)], i), visit)
	}
}

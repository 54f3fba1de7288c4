package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var referenceByPrefix = &Rule{
	Name:   "reference-by-prefix",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintError, v1alpha1.LintNote},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, r := range in.references {
			if finding, is := in.dangling(r); is && !r.from.exported {
				report(r.from, finding)
			}
		}
	},
}

// reference is a field in one object that contains another object's name.
type reference struct {
	from            *Object
	to              schema.GroupKind
	namespace, name string
	path            []any
}

func (in *Input) dangling(r reference) (Finding, bool) {
	if in.exists(r) {
		return Finding{}, false
	}
	target, same, has := in.nearest(r, r.name)
	finding := Finding{
		Level: v1alpha1.LintNote,
		Message: fmt.Sprintf("refers to the %s %s by its generateName, and no object has that name",
			r.to.Kind, quoted(r.name)),
		Path: r.path,
	}
	switch {
	case has && same && r.from.distance(target) <= 1:
		finding.Level = v1alpha1.LintError
	case !has:
		if target, same, has = in.nearest(r, r.name+"-"); !has || !same || r.from.distance(target) > 1 {
			return Finding{}, false
		}
		finding.Message = fmt.Sprintf("refers to the %s %s, and the input only has an object with that generateName",
			r.to.Kind, quoted(r.name))
	}
	finding.Related = []Related{{*target, "generateName"}}
	return finding, true
}

func (in *Input) exists(r reference) bool {
	namespaces := []string{r.namespace, ""}
	if r.namespace == "" {
		namespaces = []string{anywhere}
	}
	return slices.ContainsFunc(namespaces, func(namespace string) bool {
		_, has := in.named[nameKey{r.to, namespace, r.name}]
		return has
	})
}

// nearest returns the object with this prefix whose file is nearest to the file of the referring object. nearest
// ignores objects with a different namespace in the manifest. An object with exactly the same namespace comes first.
// same is false if only one of the two manifests gives a namespace.
func (in *Input) nearest(r reference, prefix string) (nearest *Object, same, has bool) {
	of := func(namespace string) []*Object { return in.generating[nameKey{r.to, namespace, prefix}] }
	objects := of(r.namespace)
	same = len(objects) > 0
	switch {
	case in.isClusterScoped(r.to):
		objects, same = of(anywhere), true
	case !same && r.namespace == "":
		objects = of(anywhere)
	case !same:
		objects = of("")
	}
	for _, o := range objects {
		if !has || r.from.distance(o) < r.from.distance(nearest) {
			nearest, has = o, true
		}
	}
	return nearest, same, has
}

// named is a field that contains the name of an object of a kind. In its path, a step that ends with [] is a list.
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
	namespace      = schema.GroupKind{Kind: "Namespace"}
	volume         = schema.GroupKind{Kind: "PersistentVolume"}
	priorityClass  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	storageClass   = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
)

// inPods are the references in the spec of a Pod.
var inPods = []named{
	{"serviceAccountName", serviceAccount},
	{"priorityClassName", priorityClass},
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
	claim:          {{"spec.volumeName", volume}, {"spec.storageClassName", storageClass}},
	serviceAccount: {{"secrets[].name", secret}, {"imagePullSecrets[].name", secret}},
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

// typed are fields with an object's name. A field next to each of them has the object's kind.
var typed = []string{
	"metadata.ownerReferences[]", "spec.scaleTargetRef", "roleRef", "subjects[]",
	"spec.dataSource", "spec.dataSourceRef",
}

// services are fields with the name of a Service. The fields next to them can have its namespace and kind.
var services = []string{
	"webhooks[].clientConfig.service", "spec.conversion.webhook.clientConfig.service", "spec.service",
	"spec.rules[].backendRefs[]",
}

func references(o Manifest) []reference {
	var found []reference
	add := func(at string, root []string, to schema.GroupKind) {
		manifest.Walk(mapOrAll(o, root), strings.Split(at, "."), pathOf(root), func(value any, path []any) {
			if name, is := value.(string); is && name != "" && !placeholder.MatchString(name) {
				found = append(found, reference{to: to, namespace: o.Namespace, name: name, path: path})
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
		manifest.Walk(o.Unstructured.Object, strings.Split(at, "."), nil, func(value any, path []any) {
			if r, is := typedReference(o, value); is {
				r.path = slices.Concat(path, []any{"name"})
				found = append(found, r)
			}
		})
	}
	for _, at := range services {
		manifest.Walk(o.Unstructured.Object, strings.Split(at, "."), nil, func(value any, path []any) {
			fields, _ := value.(map[string]any)
			if kind := stringAt(fields, "kind"); kind != "" && kind != service.Kind || stringAt(fields, "group") != "" {
				return
			}
			if r, is := typedReference(o, map[string]any{
				"kind": service.Kind, "name": fields["name"], "namespace": fields["namespace"],
			}); is {
				r.path = slices.Concat(path, []any{"name"})
				found = append(found, r)
			}
		})
	}
	return found
}

func typedReference(o Manifest, value any) (reference, bool) {
	fields, _ := value.(map[string]any)
	group, _, _ := strings.Cut(stringAt(fields, "apiVersion"), "/")
	if !strings.Contains(stringAt(fields, "apiVersion"), "/") {
		group = stringAt(fields, "apiGroup")
	}
	r := reference{
		to:        schema.GroupKind{Group: group, Kind: stringAt(fields, "kind")},
		namespace: o.Namespace, name: stringAt(fields, "name"),
	}
	if namespace := stringAt(fields, "namespace"); namespace != "" {
		r.namespace = namespace
	}
	return r, r.name != "" && r.to.Kind != ""
}

func mapOrAll(o Manifest, path []string) map[string]any {
	if len(path) == 0 {
		return o.Unstructured.Object
	}
	return mapAt(o.Unstructured.Object, path...)
}

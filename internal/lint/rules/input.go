package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Facts are the data that rules compare between objects. Facts are small, and stay in memory after the objects are
// dropped.
type Facts struct {
	Objects    []*Object
	references []reference
	scopes     map[schema.GroupKind]string // scopes of the kinds that CustomResourceDefinitions define
	applied    []directory                 // directories that Flux and Argo CD apply
}

// Add adds the facts of an object.
func (f *Facts) Add(m Manifest) {
	object := m.Object
	f.Objects = append(f.Objects, &object)
	for _, r := range references(m) {
		r.from = &object
		f.references = append(f.references, r)
	}
	if m.Kind.Kind == "CustomResourceDefinition" {
		spec := mapAt(m.Unstructured.Object, "spec")
		kind := schema.GroupKind{Group: stringAt(spec, "group"), Kind: stringAt(spec, "names", "kind")}
		if f.scopes == nil {
			f.scopes = map[schema.GroupKind]string{}
		}
		f.scopes[kind] = stringAt(spec, "scope")
	}
	f.applied = append(f.applied, appliedBy(m)...)
}

// Input are the facts of all objects, with indexes.
type Input struct {
	Facts

	// Minor is the minor version of the Kubernetes that the objects are for: 37.
	Minor int

	pools      map[pool][]*Object
	mixed      map[pool]bool // pools of objects with different prefixes
	named      map[nameKey][]*Object
	generating map[prefixKey][]*Object
}

// pool is a name pool. The objects in it can get the same names.
type pool struct {
	kind              schema.GroupKind
	namespace, prefix string
}

type nameKey struct {
	kind schema.GroupKind
	name string
}

type prefixKey struct {
	kind   schema.GroupKind
	prefix string
}

// NewInput returns the input with the facts of all files, in the order of the files.
func NewInput(minor int, files ...Facts) *Input {
	in := &Input{
		Minor: minor, Facts: Facts{scopes: map[schema.GroupKind]string{}},
		pools: map[pool][]*Object{}, mixed: map[pool]bool{},
		named: map[nameKey][]*Object{}, generating: map[prefixKey][]*Object{},
	}
	for _, f := range files {
		in.Objects = append(in.Objects, f.Objects...)
		in.references = append(in.references, f.references...)
		in.applied = append(in.applied, f.applied...)
		for kind, scope := range f.scopes {
			in.scopes[kind] = scope
		}
	}
	for _, o := range in.Objects {
		if name := in.namespaceOf(o); name != "" {
			r := reference{from: o, to: namespace, name: name, path: []any{"metadata", "namespace"}}
			in.references = append(in.references, r)
		}
		if !o.generates() || o.exported {
			key := nameKey{o.kind(), o.Name}
			in.named[key] = append(in.named[key], o)
			continue
		}
		at := in.poolOf(o)
		in.pools[at] = append(in.pools[at], o)
		in.mixed[at] = in.mixed[at] || in.pools[at][0].GenerateName != o.GenerateName
		key := prefixKey{o.kind(), o.GenerateName}
		in.generating[key] = append(in.generating[key], o)
	}
	return in
}

func (in *Input) poolOf(o *Object) pool {
	return pool{o.kind(), in.namespaceOf(o), names.EffectivePrefix(o.GenerateName)}
}

// namespaceOf returns the namespace of an object. A cluster-scoped object has none. If its manifest
// has one, the server removes it.
func (in *Input) namespaceOf(o *Object) string {
	if in.isClusterScoped(o.kind()) {
		return ""
	}
	return o.Namespace
}

// isClusterScoped reports whether objects of a kind have no namespace. isClusterScoped uses the
// CustomResourceDefinitions of the input.
func (in *Input) isClusterScoped(kind schema.GroupKind) bool {
	return in.scopes[kind] == "Cluster" || clusterScoped[kind]
}

// ClusterScoped reports whether objects of a kind of Kubernetes have no namespace.
func ClusterScoped(kind schema.GroupKind) bool { return clusterScoped[kind] }

// clusterScoped are the kinds of Kubernetes whose objects have no namespace.
var clusterScoped = map[schema.GroupKind]bool{
	namespace: true, volume: true, priorityClass: true, storageClass: true, {Kind: "Node"}: true,
	{Group: rbac, Kind: "ClusterRole"}: true, {Group: rbac, Kind: "ClusterRoleBinding"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:                 true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                             true,
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}:                 true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                                true,
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                   true,
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:                                 true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                                      true,
	{Group: "storage.k8s.io", Kind: "CSINode"}:                                        true,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                               true,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:                          true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                                      true,
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:                                   true,
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:                                 true,
}

// podTemplates are the paths of the Pod templates of each kind. A template has the
// metadata and the spec of a Pod.
var podTemplates = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                             {},
	{Kind: "PodTemplate"}:                     {"template"},
	{Kind: "ReplicationController"}:           {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:       {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:       {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}:      {"spec", "template"},
	{Group: "apps", Kind: "DaemonSet"}:        {"spec", "template"},
	{Group: "batch", Kind: "Job"}:             {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:         {"spec", "jobTemplate", "spec", "template"},
	{Group: "extensions", Kind: "DaemonSet"}:  {"spec", "template"},
	{Group: "extensions", Kind: "Deployment"}: {"spec", "template"},
	{Group: "extensions", Kind: "ReplicaSet"}: {"spec", "template"},
	{Group: "argoproj.io", Kind: "Rollout"}:   {"spec", "template"},
}

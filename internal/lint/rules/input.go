package rules

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Facts are the data that rules compare between objects. Facts are small, and stay in memory when the objects have been
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

	// Minor is the minor version of Kubernetes that the objects are meant for, such as 37.
	Minor int

	// Each key of these indexes has few objects. So the time doesn't grow with the square of the input.
	pools      map[pool][]*Object // of truncated prefixes
	mixed      map[pool]bool      // pools of objects with different prefixes
	hooks      map[nameKey][]*Object
	named      map[nameKey]bool      // true if it is a claim that one Pod only can mount
	generating map[nameKey][]*Object // the first of each file
	appliers   map[directoryKey]string
}

// pool identifies a name pool. Two objects in one pool can get the same name.
type pool struct {
	kind                     schema.GroupKind
	namespace, files, prefix string // files identifies the files that are applied together, if there is no namespace
}

// nameKey is a name or a generateName in a namespace.
type nameKey struct {
	kind            schema.GroupKind
	namespace, name string
}

// anywhere stands for the namespace in a key that covers all namespaces.
const anywhere = "*"

// NewInput returns the input with the facts of all files, in the order of the files.
func NewInput(minor int, files ...Facts) *Input {
	in := &Input{
		Minor: minor, Facts: Facts{scopes: map[schema.GroupKind]string{}},
		pools: map[pool][]*Object{}, mixed: map[pool]bool{}, hooks: map[nameKey][]*Object{},
		named: map[nameKey]bool{}, generating: map[nameKey][]*Object{}, appliers: map[directoryKey]string{},
	}
	for _, f := range files {
		in.Objects = append(in.Objects, f.Objects...)
		in.references = append(in.references, f.references...)
		for _, d := range f.applied {
			in.appliers[d.directoryKey] = cmp.Or(in.appliers[d.directoryKey], d.by)
		}
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
			for _, at := range []string{in.namespaceOf(o), anywhere} {
				key := nameKey{o.kind(), at, o.Name}
				in.named[key] = in.named[key] || o.forOnePod
			}
			continue
		}
		in.addPrefix(o)
	}
	return in
}

func (in *Input) addPrefix(o *Object) {
	if o.Truncated() {
		at := in.poolOf(o)
		in.pools[at] = append(in.pools[at], o)
		in.mixed[at] = in.mixed[at] || in.pools[at][0].GenerateName != o.GenerateName
	}
	if o.hook() {
		key := nameKey{o.kind(), in.namespaceOf(o), o.GenerateName}
		in.hooks[key] = append(in.hooks[key], o)
	}
	if o.Placeholder() {
		return
	}
	for _, at := range []string{o.Namespace, anywhere} {
		key := nameKey{o.kind(), at, o.GenerateName}
		found := in.generating[key]
		if len(found) == 0 || found[len(found)-1].File != o.File {
			in.generating[key] = append(found, o)
		}
	}
}

func (in *Input) poolOf(o *Object) pool {
	at := pool{kind: o.kind(), namespace: in.namespaceOf(o), prefix: names.EffectivePrefix(o.GenerateName)}
	switch {
	case at.namespace != "":
	case o.Tree.Kustomization != "":
		at.files = "kustomization " + o.Tree.Kustomization
	default:
		at.files = "file " + o.File
	}
	return at
}

// namespaceOf returns the namespace of an object. It returns "" for a cluster-scoped object, because the server removes
// a namespace in its manifest.
func (in *Input) namespaceOf(o *Object) string {
	if in.isClusterScoped(o.kind()) {
		return ""
	}
	return o.Namespace
}

// isClusterScoped reports whether objects of a kind have no namespace. It also uses the CustomResourceDefinitions of
// the input.
func (in *Input) isClusterScoped(kind schema.GroupKind) bool {
	return in.scopes[kind] == "Cluster" || clusterScoped[kind]
}

// ClusterScoped reports whether objects of a built-in kind have no namespace.
func ClusterScoped(kind schema.GroupKind) bool { return clusterScoped[kind] }

// clusterScoped are the built-in kinds whose objects have no namespace.
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

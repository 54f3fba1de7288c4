package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Facts are the data that rules compare between objects. They are small, and stay in memory after
// the objects are gone.
type Facts struct {
	Objects    []*Object
	references []reference
	scopes     map[schema.GroupKind]string // of the kinds that CustomResourceDefinitions define
	applied    []directory                 // that Flux and Argo CD apply
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
		pools: map[pool][]*Object{}, named: map[nameKey][]*Object{}, generating: map[prefixKey][]*Object{},
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
		if !o.generates() || o.exported {
			key := nameKey{o.kind(), o.Name}
			in.named[key] = append(in.named[key], o)
			continue
		}
		in.pools[in.poolOf(o)] = append(in.pools[in.poolOf(o)], o)
		key := prefixKey{o.kind(), o.GenerateName}
		in.generating[key] = append(in.generating[key], o)
	}
	return in
}

// poolOf returns the name pool of an object.
func (in *Input) poolOf(o *Object) pool {
	p := pool{o.kind(), o.Namespace, names.EffectivePrefix(o.GenerateName)}
	if in.scopes[p.kind] == "Cluster" || clusterScoped[p.kind] {
		p.namespace = ""
	}
	return p
}

// clusterScoped are kinds without a namespace that others refer to.
var clusterScoped = map[schema.GroupKind]bool{
	namespace: true, volume: true, priorityClass: true, storageClass: true,
	{Group: rbac, Kind: "ClusterRole"}: true, {Group: rbac, Kind: "ClusterRoleBinding"}: true,
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

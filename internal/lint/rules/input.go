package rules

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// Input is all that is looked at together.
type Input struct {
	Objects []Object
	// Minor is the minor version of the Kubernetes that the objects are for: 37.
	Minor int

	index *index
}

// Object is an object, and the file that it is in.
type Object struct {
	*manifest.Object

	File string
	Tree Tree
}

// Tree is what the folders around a file say of who takes it.
type Tree struct {
	// Kustomization is the kustomization whose resources name the file.
	Kustomization string
	// Chart is the Helm chart of whose templates the file is one.
	Chart string
}

// NewInput returns the input of the objects.
func NewInput(objects []Object, minor int) *Input {
	in := &Input{Objects: objects, Minor: minor}
	in.index = newIndex(objects)
	return in
}

// kind returns the object's group and kind.
func (o Object) kind() schema.GroupKind { return o.GroupVersionKind().GroupKind() }

// generates reports whether a server generates the object's name.
func (o Object) generates() bool { return o.GetGenerateName() != "" && o.GetName() == "" }

// spaceOf returns the name space of an object's names: who shares it can conflict.
func (x *index) spaceOf(o Object) space {
	s := space{o.kind(), o.GetNamespace(), names.EffectivePrefix(o.GetGenerateName())}
	if scope, known := x.defined[s.kind]; known && scope == "Cluster" {
		s.namespace = ""
	}
	return s
}

type space struct {
	kind              schema.GroupKind
	namespace, prefix string
}

// nameLength returns the number of bytes of the object's name, and of how many
// another part is that is not random.
func (o Object) nameLength() (length, prefix int) {
	if !o.generates() {
		return len(o.GetName()), len(o.GetName())
	}
	prefix = len(names.EffectivePrefix(o.GetGenerateName()))
	return prefix + names.SuffixLength, prefix
}

// nameField is the field that the object's name comes from.
func (o Object) nameField() []any {
	if o.generates() {
		return []any{"metadata", "generateName"}
	}
	return []any{"metadata", "name"}
}

// quoted returns text as a part of a message.
func quoted(text string) string { return "\"" + text + "\"" }

// mapAt returns the mapping at a path of the object, or nil.
func mapAt(of map[string]any, path ...string) map[string]any {
	found, _, err := unstructured.NestedFieldNoCopy(of, path...)
	if err != nil {
		return nil
	}
	m, _ := found.(map[string]any)
	return m
}

// listAt returns the list at a path, or nil.
func listAt(of map[string]any, path ...string) []any {
	found, _, err := unstructured.NestedFieldNoCopy(of, path...)
	if err != nil {
		return nil
	}
	list, _ := found.([]any)
	return list
}

// stringAt returns the string at a path, or "".
func stringAt(of map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(of, path...)
	return text
}

// numberAt returns the integer at a path.
func numberAt(of map[string]any, path ...string) (int64, bool) {
	number, found, err := unstructured.NestedInt64(of, path...)
	return number, found && err == nil
}

// boolAt reports whether a field is true.
func boolAt(of map[string]any, path ...string) bool {
	is, _, _ := unstructured.NestedBool(of, path...)
	return is
}

// pathOf returns a path of fields, with more after it.
func pathOf(fields []string, more ...any) []any {
	path := make([]any, 0, len(fields)+len(more))
	for _, field := range fields {
		path = append(path, field)
	}
	return append(path, more...)
}

// index is what rules look up in the input.
type index struct {
	defined    map[schema.GroupKind]string // the scope of each kind that a CustomResourceDefinition of the input has
	spaces     map[space][]Object
	byName     map[nameKey]bool
	generating map[schema.GroupKind][]Object
	oneWriter  map[nameKey]bool // claims that one Pod only can mount
}

type nameKey struct {
	kind            schema.GroupKind
	namespace, name string
}

func newIndex(objects []Object) *index {
	x := &index{
		defined: map[schema.GroupKind]string{},
		spaces:  map[space][]Object{}, byName: map[nameKey]bool{}, generating: map[schema.GroupKind][]Object{},
		oneWriter: map[nameKey]bool{},
	}
	for _, o := range objects {
		if spec := mapAt(o.Object.Object, "spec"); o.GetKind() == "CustomResourceDefinition" {
			kind := schema.GroupKind{Group: stringAt(spec, "group"), Kind: stringAt(spec, "names", "kind")}
			x.defined[kind] = stringAt(spec, "scope")
		}
	}
	for _, o := range objects {
		if o.generates() {
			x.spaces[x.spaceOf(o)] = append(x.spaces[x.spaceOf(o)], o)
			x.generating[o.kind()] = append(x.generating[o.kind()], o)
			continue
		}
		x.byName[nameKey{o.kind(), o.GetNamespace(), o.GetName()}] = true
		if forOnePod(o) {
			x.oneWriter[nameKey{claim, o.GetNamespace(), o.GetName()}] = true
		}
	}
	return x
}

// podTemplates are where kinds have the template of their Pods: the Pod's
// metadata and spec are below it.
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
}

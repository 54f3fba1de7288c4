package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Manifest is an object with all of its fields. lint checks it while its file is read, and then drops it.
type Manifest struct {
	Object
	*unstructured.Unstructured
}

// Object is the part of an object that stays in memory: its names and its position.
type Object struct {
	Kind                          schema.GroupVersionKind
	Namespace, Name, GenerateName string

	File string
	Tree Tree
	manifest.Place

	exported  bool     // a server has written the object
	phases    []string // phases in which Argo CD creates it as a hook
	helmHook  bool     // Helm and Argo CD create it as a hook
	forOnePod bool     // it is a claim that only one Pod can mount
}

// Tree describes the files around a file that determine how its objects are created.
type Tree struct {
	// Kustomization is the path of the kustomization that lists the file.
	Kustomization string
	// Chart is the path of the Helm chart if the file is one of its templates.
	Chart string
	// Path is the path of the file in its repository.
	Path string
	// Change is true if the file only changes objects of a kustomization, for example as a patch.
	Change bool
	// Kustomized is the path of the nearest directory with a kustomization around the file, such as ".", or empty.
	Kustomized string
}

// NewManifest returns an object of a file.
func NewManifest(o *manifest.Object, file string, tree Tree) Manifest {
	m := Manifest{Unstructured: o.Unstructured, Object: Object{
		Kind: o.GroupVersionKind(), Namespace: o.GetNamespace(), Name: o.GetName(), GenerateName: o.GetGenerateName(),
		File: file, Tree: tree, Place: o.Place, exported: o.GetResourceVersion() != "",
	}}
	if o.Embedded { // tools don't see an embedded object
		m.Tree = Tree{}
	}
	m.phases, m.helmHook = phasesOf(o.GetAnnotations()[argoHook]), o.GetAnnotations()["helm.sh/hook"] != ""
	m.forOnePod = forOnePod(m)
	return m
}

// Exported reports whether the object was exported from a cluster. An exported object has a resourceVersion, so it
// can't be created unchanged.
func (o Object) Exported() bool { return o.exported }

func (o Object) kind() schema.GroupKind { return o.Kind.GroupKind() }

func (o Object) generates() bool { return o.GenerateName != "" && o.Name == "" }

func (o Object) hook() bool { return o.generates() && len(o.phases) > 0 }

// placeholder matches variables: ${X}, $(X), $X, #{X}, {{ x }}, {% x %}, <x>, __X__, @x@, %x%.
var placeholder = regexp.MustCompile(
	`[$#]\{[^}]*\}|\$\([^)]*\)|\$\w+|\{\{.*?\}\}|\{%.*?%\}|<[^<>]+>|__\w+?__|@[\w.-]+@|%[\w.-]+%`)

// Placeholder reports whether the object's name contains a variable. The length and the characters of such a name are
// unknown.
func (o Object) Placeholder() bool {
	return placeholder.MatchString(o.Name) || placeholder.MatchString(o.GenerateName)
}

// phaseNames are the phases in which Argo CD creates a hook with a generated name.
var phaseNames = []string{"PreSync", "Sync", "PostSync", "SyncFail"}

func phasesOf(annotation string) []string {
	var phases []string
	for phase := range strings.SplitSeq(annotation, ",") {
		if phase = strings.TrimSpace(phase); slices.Contains(phaseNames, phase) {
			phases = append(phases, phase)
		}
	}
	return phases
}

// hookSuffix is the number of bytes that Argo CD appends to generateName, in addition to the phase. They are 7
// characters of the revision, two dashes and a Unix time in seconds (gitops-engine, pkg/sync/sync_context.go).
const hookSuffix = 7 + 1 + 1 + 10

func (o Object) suffix() int {
	if !o.hook() {
		return names.SuffixLength
	}
	longest := 0
	for _, phase := range o.phases {
		longest = max(longest, len(phase))
	}
	return hookSuffix + longest
}

// nameLength returns the number of bytes of the object's name, and the number of its
// bytes that are not random.
func (o Object) nameLength() (length, prefix int) {
	switch {
	case o.hook():
		length = len(o.GenerateName) + o.suffix()
		return length, length
	case o.generates():
		prefix = len(names.EffectivePrefix(o.GenerateName))
		return prefix + names.SuffixLength, prefix
	}
	return len(o.Name), len(o.Name)
}

func (o Object) nameField() []any {
	if o.generates() {
		return generateName
	}
	return []any{"metadata", "name"}
}

// generateName is the path of the field metadata.generateName.
var generateName = []any{"metadata", "generateName"}

func (o *Object) together(other *Object) bool {
	return o.File == other.File || o.Tree.Kustomization != "" && o.Tree.Kustomization == other.Tree.Kustomization
}

// distance returns the distance between the files of two objects. 0 means the same file, and 1 the same kustomization
// or directory. Otherwise, it is the number of directories between the files.
func (o *Object) distance(other *Object) int {
	if o.File == other.File {
		return 0
	}
	if o.together(other) {
		return 1
	}
	from, to := strings.Split(path.Dir(o.File), "/"), strings.Split(path.Dir(other.File), "/")
	common := 0
	for common < min(len(from), len(to)) && from[common] == to[common] {
		common++
	}
	return 1 + len(from) + len(to) - 2*common
}

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

func numberAt(of map[string]any, path ...string) (int64, bool) {
	number, found, err := unstructured.NestedInt64(of, path...)
	return number, found && err == nil
}

// boolAt reports whether a field is true.
func boolAt(of map[string]any, path ...string) bool {
	is, _, _ := unstructured.NestedBool(of, path...)
	return is
}

func pathOf(fields []string, more ...any) []any {
	path := make([]any, 0, len(fields)+len(more))
	for _, field := range fields {
		path = append(path, field)
	}
	return append(path, more...)
}

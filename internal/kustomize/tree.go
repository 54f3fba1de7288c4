package kustomize

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// tree is the result of a first pass over a tree of kustomizations, in kustomize's reading order.
// It skips files that can't be read, because kustomize reports them.
type tree struct {
	files  filesys.FileSystem
	marker marker
	seen   map[rune]bool // letters that cannot be the marker
	err    error         // an error that kustomize can't detect

	root           *kustomization            // that is built
	kustomizations map[string]*kustomization // by directory
	manifests      map[string]*manifest      // by path
	objects        []*object
	instances      []*instance
	remote         bool // something is in none of the files here: a remote base, or nothing

	names     map[string]string // generateNames that an object has or had, by placeholder
	contents  map[string][]byte // that are served, by path
	selectors []selector        // that are served with another regular expression
}

// kustomization is the kustomization file of one directory.
type kustomization struct {
	dir    filesys.ConfirmedDir
	path   string
	spec   types.Kustomization
	config bool // its resources are transformers
	served bool // its served content is decided

	// The instances that its transformers change, over all paths to it, before and after they are
	// renamed.
	scope, renamed []instance
}

// manifest is a file with resources.
type manifest struct {
	path      string
	documents []*yaml.RNode
	objects   []*object
	marker    string // behind its name where it is served changed
}

// readTree reads the kustomization in a directory and all below it, and decides which content
// kustomize gets.
func readTree(files filesys.FileSystem, dir string) *tree {
	t := &tree{
		files: files, seen: map[rune]bool{}, contents: map[string][]byte{},
		kustomizations: map[string]*kustomization{}, manifests: map[string]*manifest{},
	}
	root, err := filesys.ConfirmDir(files, dir)
	if err != nil {
		t.remote = true
	} else {
		t.visit(root, nil, nil, false)
	}
	t.marker = chooseMarker(t.seen)
	t.serve()
	return t
}

// visit reads the kustomization of a directory. It returns the kustomization's own objects and
// those in came, which a component gets from its user.
func (t *tree) visit(
	dir filesys.ConfirmedDir, above []filesys.ConfirmedDir, came []*instance, config bool,
) []*instance {
	k := t.kustomization(dir)
	if k == nil || slices.ContainsFunc(above, func(a filesys.ConfirmedDir) bool { return a.HasPrefix(dir) }) {
		return came // a cycle, or nothing that can be read
	}
	k.config = config
	if t.root == nil {
		t.root = k
	}
	above = append(slices.Clip(above), dir)
	instances := came
	for _, resource := range append(slices.Clip(k.spec.Resources), k.spec.Bases...) {
		instances = append(instances, t.accumulate(k, resource, above)...)
	}
	for _, component := range k.spec.Components {
		if base, err := filesys.ConfirmDir(t.files, dir.Join(component)); err == nil {
			instances = t.visit(base, above, instances, config)
		} else {
			instances = append(instances, t.unknown())
		}
	}
	t.transform(k, instances, above)
	return instances
}

// transform records the objects that the transformers of a kustomization change, and their new
// names.
func (t *tree) transform(k *kustomization, instances []*instance, above []filesys.ConfirmedDir) {
	for _, i := range instances {
		k.scope = append(k.scope, *i)
	}
	t.refuseMerges(k)
	move := func(namespace, prefix, suffix string) {
		for _, i := range instances {
			i.move(namespace, prefix, suffix)
		}
	}
	move(k.spec.Namespace, k.spec.NamePrefix, k.spec.NameSuffix)
	for _, entry := range append(slices.Clip(k.spec.Generators), k.spec.Validators...) {
		if dir, err := filesys.ConfirmDir(t.files, k.dir.Join(entry)); err == nil {
			t.visit(dir, above, nil, true)
		}
	}
	for _, config := range t.transformers(k, above) {
		if !isObject(config) {
			continue
		}
		switch config.GetKind() {
		case "PrefixTransformer":
			move("", fieldOf(config, "prefix"), "")
		case "SuffixTransformer":
			move("", "", fieldOf(config, "suffix"))
		case "NamespaceTransformer":
			move(config.GetNamespace(), "", "")
		}
	}
	for _, i := range instances {
		k.renamed = append(k.renamed, *i)
	}
}

// refuseMerges refuses a generator that merges into an object with generateName, because its hash
// would be the placeholder's.
func (t *tree) refuseMerges(k *kustomization) {
	refuse := func(kind string, generator types.GeneratorArgs) {
		if generator.Behavior != "merge" && generator.Behavior != "replace" {
			return
		}
		for _, i := range k.scope {
			if i.object != nil && i.id.Kind == kind && i.called(generator.Name) && t.err == nil {
				t.err = fmt.Errorf("%s: the generator %q cannot %s a %s with generateName",
					k.path, generator.Name, generator.Behavior, kind)
			}
		}
	}
	for _, generator := range k.spec.ConfigMapGenerator {
		refuse("ConfigMap", generator.GeneratorArgs)
	}
	for _, generator := range k.spec.SecretGenerator {
		refuse("Secret", generator.GeneratorArgs)
	}
}

func fieldOf(document *yaml.RNode, field string) string {
	if found := document.Field(field); found != nil {
		return found.Value.YNode().Value
	}
	return ""
}

// accumulate returns the objects that a resource of a kustomization brings.
func (t *tree) accumulate(k *kustomization, resource string, above []filesys.ConfirmedDir) []*instance {
	if m := t.manifest(k, resource); m != nil {
		return t.instancesOf(m)
	}
	if base, err := filesys.ConfirmDir(t.files, k.dir.Join(resource)); err == nil {
		return t.visit(base, above, nil, k.config)
	}
	return []*instance{t.unknown()}
}

func (t *tree) instancesOf(m *manifest) (instances []*instance) {
	for _, o := range m.objects {
		i := &instance{object: o, places: []place{{namespace: o.id.Namespace}}}
		instances = append(instances, i)
		t.instances = append(t.instances, i)
	}
	return instances
}

// unknown returns the instance for all objects of a remote base.
func (t *tree) unknown() *instance {
	t.remote = true
	i := &instance{places: []place{{}}}
	t.instances = append(t.instances, i)
	return i
}

// kustomization reads the kustomization of a directory once. It is nil if kustomize refuses it.
func (t *tree) kustomization(dir filesys.ConfirmedDir) *kustomization {
	if k, known := t.kustomizations[dir.String()]; known {
		return k
	}
	var found []*kustomization
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		path, content, err := t.load(dir, name)
		if err != nil {
			continue
		}
		k := &kustomization{dir: dir, path: path}
		if k.spec.Unmarshal(content) != nil {
			return nil
		}
		found = append(found, k)
	}
	if len(found) != 1 {
		return nil
	}
	t.kustomizations[dir.String()] = found[0]
	return found[0]
}

// errNotBelow isn't shown, because kustomize reports its own error.
var errNotBelow = errors.New("not a file in or below the directory")

// load reads a file in or below a directory, as kustomize does.
func (t *tree) load(dir filesys.ConfirmedDir, name string) (path string, content []byte, err error) {
	if !filepath.IsAbs(name) {
		name = dir.Join(name)
	}
	directory, file, err := t.files.CleanedAbs(name)
	if err != nil {
		return "", nil, err
	}
	if file == "" || !directory.HasPrefix(dir) {
		return "", nil, errNotBelow
	}
	content, err = t.files.ReadFile(directory.Join(file))
	recordMarkers(content, t.seen)
	return directory.Join(file), content, err
}

// manifest reads a file with resources, once.
func (t *tree) manifest(k *kustomization, name string) *manifest {
	path, content, err := t.load(k.dir, name)
	if err != nil {
		return nil
	}
	if m, known := t.manifests[path]; known {
		return m
	}
	m := &manifest{path: path}
	t.manifests[path] = m
	if m.documents, err = kio.FromBytes(content); err != nil || k.config {
		return m
	}
	for _, document := range m.documents {
		for _, node := range generated(document) {
			_, generateName := namesOf(node)
			id := idOf(node)
			id.Name = generateName
			o := &object{number: len(t.objects), id: id, node: node}
			t.objects = append(t.objects, o)
			m.objects = append(m.objects, o)
		}
	}
	return m
}

// encode returns documents as a stream of YAML.
func encode(documents []*yaml.RNode) ([]byte, error) {
	var texts []string
	for _, document := range documents {
		text, err := document.String()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return []byte(strings.Join(texts, "---\n")), nil
}

package kustomize

import (
	"bytes"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// servedFiles is the file system that kustomize sees. It serves changed content for some files. A
// changed file has a name with a marker, and the kustomization that refers to it gets that name. Other
// readers of the file, like a generator, get its original bytes.
type servedFiles struct {
	filesys.FileSystem
	tree *tree
}

// CleanedAbs resolves a path, as that of the file that it stands for.
func (f *servedFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	name, number, _ := f.tree.marker.find(aFile, path)
	dir, file, err := f.FileSystem.CleanedAbs(name)
	if err == nil && number >= 0 {
		file += f.tree.marker.text(aFile, number)
	}
	return dir, file, err
}

// ReadFile returns the served content of a file. A kustomization that the first pass hasn't seen is
// in the clone of a remote base.
func (f *servedFiles) ReadFile(path string) ([]byte, error) {
	dir, file, err := f.CleanedAbs(path)
	if err == nil && slices.Contains(konfig.RecognizedKustomizationFileNames(), file) && f.Exists(path) {
		f.tree.discover(dir)
	}
	if content, served := f.tree.contents[path]; served {
		return content, nil
	}
	return f.FileSystem.ReadFile(path)
}

// discover reads the clone of a remote base.
func (t *tree) discover(dir filesys.ConfirmedDir) {
	if _, known := t.kustomizations[dir.String()]; known {
		return
	}
	first := len(t.objects)
	t.visit(dir, nil, nil, false)
	for _, o := range t.objects[first:] {
		o.remote = true
	}
	t.serve()
}

// serve decides which content is served for the files that were read since its last call.
func (t *tree) serve() {
	t.names = map[string]string{}
	for _, i := range t.instances {
		for _, p := range i.places {
			if i.object != nil {
				t.names[t.placeholder(*i, p.affix)] = p.around(i.id.Name)
			}
		}
	}
	for _, m := range t.manifests {
		t.serveManifest(m)
	}
	var rest []*kustomization
	for _, k := range t.kustomizations {
		if !k.served {
			rest = append(rest, k)
			k.served = true
			t.serveTransformers(k)
		}
	}
	for _, k := range rest {
		t.serveKustomization(k)
	}
}

// serveManifest puts placeholders into a file.
func (t *tree) serveManifest(m *manifest) {
	if len(m.objects) == 0 || m.marker != "" {
		return
	}
	for _, o := range m.objects {
		if t.give(o) != nil {
			return // for kustomize to refuse
		}
	}
	if content, err := encode(m.documents); err == nil {
		m.marker = t.serveFile(m.path, content)
	}
}

// serveFile serves other content for a file, and returns the marker behind its
// name under which that is found.
func (t *tree) serveFile(path string, content []byte) string {
	marker := t.marker.text(aFile, len(t.contents))
	t.contents[path+marker] = content
	return marker
}

// serveKustomization changes a kustomization if it refers to files with changed content, or selects
// objects by name.
func (t *tree) serveKustomization(k *kustomization) {
	before, err := yaml.Marshal(k.spec)
	if err != nil {
		return
	}
	for _, resources := range [][]string{k.spec.Resources, k.spec.Bases} {
		for i, resource := range resources {
			if path, _, err := t.load(k.dir, resource); err == nil && t.manifests[path] != nil {
				resources[i] += t.manifests[path].marker
			}
		}
	}
	t.servePatches(k)
	for i := range k.spec.PatchesJson6902 {
		t.serveTarget(&k.spec.PatchesJson6902[i])
	}
	t.serveReplacements(k, k.spec.Replacements)
	var replicas []types.Replica
	for _, replica := range k.spec.Replicas {
		for _, name := range t.exactly(k, replica.Name) {
			replicas = append(replicas, types.Replica{Name: name, Count: replica.Count})
		}
	}
	k.spec.Replicas = replicas
	for i := range k.spec.Vars {
		t.serveName(k, &k.spec.Vars[i].ObjRef.Name)
	}
	if after, err := yaml.Marshal(k.spec); err == nil && !bytes.Equal(before, after) {
		t.keepData(k)
		if after, err = yaml.Marshal(k.spec); err == nil {
			t.contents[k.path] = after
		}
	}
}

// keepData lets generators that read the kustomization itself have its bytes.
func (t *tree) keepData(k *kustomization) {
	keep := func(sources []string) {
		for i, source := range sources {
			key, name := splitSource(source)
			if path, content, err := t.load(k.dir, name); err == nil && path == k.path {
				sources[i] = key + "=" + name + t.serveFile(path, content)
			}
		}
	}
	for _, generator := range k.spec.ConfigMapGenerator {
		keep(generator.FileSources)
	}
	for _, generator := range k.spec.SecretGenerator {
		keep(generator.FileSources)
	}
}

package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// servedFiles is the file system that kustomize reads, including clones of remote bases. servedFiles gives names to the
// objects, and changes kustomizations so that they find the objects by these names.
type servedFiles struct {
	filesys.FileSystem
	data      map[string]bool // files that a generator reads
	patches   map[string]bool // files with patches
	generated []resid.ResId   // the objects with generateName that were served with the generateName as the name
	uses      []use
	budget    untrusted.Budget
	refused   error // the error of a file that was not read; kustomize reports such a file as missing
}

// OnDisk returns the file system of this machine. It reads only regular files of at most untrusted.MaxFile bytes.
func OnDisk() filesys.FileSystem { return disk{filesys.MakeFsOnDisk()} }

type disk struct{ filesys.FileSystem }

func (disk) ReadFile(path string) ([]byte, error) { return untrusted.ReadFile(path) }

func serve(files filesys.FileSystem) *servedFiles {
	return &servedFiles{FileSystem: files, data: map[string]bool{}, patches: map[string]bool{}}
}

// affixFile exists only in this file system. This file configures kustomize to add the prefix and suffix of a
// kustomization to affixField, too.
const affixFile = affixField + ".yaml"

// CleanedAbs resolves a path.
func (f *servedFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if filepath.Base(path) != affixFile {
		return f.FileSystem.CleanedAbs(path)
	}
	dir, _, err := f.FileSystem.CleanedAbs(filepath.Dir(path))
	return dir, affixFile, err
}

// ReadFile returns the served content of a file. kustomize reads a kustomization before the files
// that it lists.
func (f *servedFiles) ReadFile(path string) ([]byte, error) {
	if filepath.Base(path) == affixFile {
		return []byte("namePrefix: [{path: " + affixField + "}]\nnameSuffix: [{path: " + affixField + "}]\n"), nil
	}
	content, err := f.FileSystem.ReadFile(path)
	if err == nil {
		if err = f.budget.Take(content); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.refused = err
	}
	if err != nil || f.data[path] {
		return content, err
	}
	if untrusted.IsUTF16(content) {
		content = untrusted.AsUTF8(content)
	}
	switch {
	case slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(path)):
		return f.kustomization(filepath.Dir(path), content), nil
	case f.patches[path]:
		return changeObjects(content, namePatch), nil
	case bytes.Contains(content, []byte(generateNameField)), bytes.Contains(content, []byte("fixTransformer")):
		return changeObjects(content, f.object), nil
	}
	return content, nil
}

func (f *servedFiles) object(object *kyaml.RNode) bool {
	if strings.HasSuffix(object.GetKind(), "fixTransformer") && object.GetApiVersion() == "builtin" {
		spec, err := kyaml.Parse("path: " + affixField)
		return err == nil && object.PipeE(kyaml.Lookup("fieldSpecs"), kyaml.Append(spec.YNode())) == nil
	}
	generateName, ok := nameObject(object)
	if ok {
		f.generated = append(f.generated, resid.NewResId(resid.GvkFromNode(object), generateName))
	}
	return ok
}

func (f *servedFiles) kustomization(dir string, content []byte) []byte {
	var k types.Kustomization
	if k.Unmarshal(content) != nil {
		return content // kustomize reports the error
	}
	before, err := yaml.Marshal(k)
	if err != nil {
		return content
	}
	f.recordData(dir, &k)
	f.recordUses(dir, &k)
	f.servePatches(dir, &k)
	for i, entry := range k.Transformers {
		k.Transformers[i] = string(changeObjects([]byte(entry), f.object))
	}
	if k.NamePrefix != "" || k.NameSuffix != "" {
		k.Configurations = append(k.Configurations, affixFile)
	}
	after, err := yaml.Marshal(k)
	if err != nil || bytes.Equal(before, after) {
		return content
	}
	return after
}

func (f *servedFiles) servePatches(dir string, k *types.Kustomization) {
	for i, patch := range k.Patches {
		f.record(f.patches, dir, patch.Path)
		k.Patches[i].Patch = string(changeObjects([]byte(patch.Patch), namePatch))
	}
	for i, patch := range k.PatchesStrategicMerge {
		f.record(f.patches, dir, string(patch))
		k.PatchesStrategicMerge[i] = types.PatchStrategicMerge(changeObjects([]byte(patch), namePatch))
	}
}

// recordData records the files that generators of a kustomization read, because servedFiles must not change them.
func (f *servedFiles) recordData(dir string, k *types.Kustomization) {
	for _, sources := range generatorsOf(k) {
		for _, source := range sources.FileSources {
			if _, name, found := strings.Cut(source, "="); found {
				source = name
			}
			f.record(f.data, dir, source)
		}
	}
}

func (f *servedFiles) record(files map[string]bool, dir, name string) {
	if path, ok := f.resolve(dir, name); ok {
		files[path] = true
	}
}

// resolve returns the path with which kustomize reads a file. kustomize refuses files that aren't in
// or below the directory of the kustomization.
func (f *servedFiles) resolve(dir, name string) (path string, ok bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	in, file, err := f.CleanedAbs(name)
	return in.Join(file), err == nil && file != "" && in.HasPrefix(filesys.ConfirmedDir(dir))
}

func generatorsOf(k *types.Kustomization) (generators []generator) {
	for _, c := range k.ConfigMapGenerator {
		generators = append(generators, generator{"ConfigMap", c.GeneratorArgs})
	}
	for _, s := range k.SecretGenerator {
		generators = append(generators, generator{"Secret", s.GeneratorArgs})
	}
	return generators
}

type generator struct {
	kind string
	types.GeneratorArgs
}

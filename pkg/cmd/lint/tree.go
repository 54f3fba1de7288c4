package lint

import (
	"bytes"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// trees are the directories around the files.
type trees map[string]directory

// directory is what kustomize and Helm read in a directory of the input.
type directory struct {
	kustomization string
	resources     map[string]bool // resources of the kustomization
	changes       map[string]bool // files by which the kustomization changes the resources
	chart         string
}

func (t trees) of(in repository, file string) rules.Tree {
	var tree rules.Tree
	relative, inside := in.relative(file)
	if !inside {
		return tree
	}
	tree.Path = filepath.ToSlash(relative)
	file = filepath.Join(in.dir, relative)
	for within, dir := "", filepath.Dir(file); ; dir = filepath.Dir(dir) {
		about := t.read(in, dir)
		if at, err := filepath.Rel(in.dir, dir); about.kustomization != "" && tree.Kustomized == "" && err == nil {
			tree.Kustomized = filepath.ToSlash(at)
		}
		below, err := filepath.Rel(dir, file)
		if err == nil && about.resources[filepath.ToSlash(below)] {
			tree.Kustomization = filepath.ToSlash(filepath.Join(dir, about.kustomization))
		}
		tree.Change = tree.Change || err == nil && about.changes[filepath.ToSlash(below)]
		if about.chart != "" && within == "templates" {
			tree.Chart = filepath.ToSlash(filepath.Join(dir, about.chart))
		}
		if within = filepath.Base(dir); dir == in.dir {
			return tree
		}
	}
}

// read reads a directory, once.
func (t trees) read(in repository, dir string) directory {
	about, known := t[dir]
	if known {
		return about
	}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if content, err := in.readYAML(filepath.Join(dir, name)); err == nil {
			about.kustomization = name
			about.list(content)
		}
	}
	if in.has(filepath.Join(dir, "Chart.yaml")) {
		about.chart = "Chart.yaml"
	}
	t[dir] = about
	return about
}

// list reads the files that a kustomization lists. If a value has another type, kustomize reports it.
func (d *directory) list(kustomization []byte) {
	type file struct{ Path string }
	var listed struct {
		Resources, PatchesStrategicMerge, Transformers, Generators, Validators []string
		Patches, PatchesJSON6902                                               []file
	}
	_ = yaml.Unmarshal(bytes.TrimSpace(kustomization), &listed)
	d.resources, d.changes = map[string]bool{}, map[string]bool{}
	for _, name := range listed.Resources {
		d.resources[filepath.ToSlash(filepath.Clean(name))] = true
	}
	changes := slices.Concat(listed.PatchesStrategicMerge, listed.Transformers, listed.Generators, listed.Validators)
	for _, patch := range slices.Concat(listed.Patches, listed.PatchesJSON6902) {
		changes = append(changes, patch.Path)
	}
	for _, name := range changes {
		d.changes[filepath.ToSlash(filepath.Clean(name))] = true
	}
}

package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
)

// trees are the directories around the files, with the root of the repository.
type trees struct {
	root string
	dirs map[string]directory
}

// directory is a directory, by the files that tools read in it.
type directory struct {
	kustomization string
	resources     []string // resources of the kustomization
	chart         string
}

// of returns the role of a file among the files around it.
func (t trees) of(path string) rules.Tree {
	var tree rules.Tree
	tree.Path = inRepository(t.root, path)
	path, err := filepath.Abs(path)
	if err != nil {
		return tree
	}
	tree.Kustomized = t.read(filepath.Dir(path)).kustomization != ""
	for within, dir := "", filepath.Dir(path); ; dir = filepath.Dir(dir) {
		about := t.read(dir)
		below, err := filepath.Rel(dir, path)
		if err == nil && slices.Contains(about.resources, filepath.ToSlash(below)) {
			tree.Kustomization = filepath.ToSlash(filepath.Join(dir, about.kustomization))
		}
		if about.chart != "" && within == "templates" {
			tree.Chart = filepath.ToSlash(filepath.Join(dir, about.chart))
		}
		if within = filepath.Base(dir); dir == filepath.Dir(dir) {
			return tree
		}
	}
}

// read reads a directory, once.
func (t trees) read(dir string) directory {
	about, known := t.dirs[dir]
	if known {
		return about
	}
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			about.kustomization, about.resources = name, resourcesOf(content)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "Chart.yaml")); err == nil {
		about.chart = "Chart.yaml"
	}
	t.dirs[dir] = about
	return about
}

// resourcesOf returns the files that a kustomization lists.
func resourcesOf(kustomization []byte) []string {
	var listed struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(bytes.TrimSpace(kustomization), &listed); err != nil {
		return nil // kustomize reports the error
	}
	for i, name := range listed.Resources {
		listed.Resources[i] = filepath.ToSlash(filepath.Clean(name))
	}
	return listed.Resources
}

// Package kustomize builds a directory with kubectl's kustomize library. The library refuses objects that have a
// generateName and no name. So the package passes the generateName to the library as the name, and restores it after
// the build. The package reads only from the given file system, and knows no cluster.
package kustomize

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// Build returns the objects of the kustomization in a directory or a remote repository, as a stream of YAML documents.
// Without generateName, it returns the same bytes as kubectl kustomize. Build also returns when ctx ends. The library
// takes no context, so it then continues in the background until the process ends.
func Build(ctx context.Context, files filesys.FileSystem, dir string) ([]byte, error) {
	return untrusted.Within(ctx, func() ([]byte, error) { return build(files, dir) })
}

func build(files filesys.FileSystem, dir string) ([]byte, error) {
	served := serve(files)
	objects, err := run(served, dir)
	if err != nil {
		return nil, served.explain(err)
	}
	if len(served.generated) > 0 {
		if err := served.checkUses(); err != nil {
			return nil, err
		}
		if err := checkReferences(objects); err != nil {
			return nil, err
		}
		for _, object := range objects.Resources() {
			if err := restore(&object.RNode); err != nil {
				return nil, err
			}
		}
	}
	return objects.AsYaml()
}

func run(files filesys.FileSystem, dir string) (resmap.ResMap, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	return krusty.MakeKustomizer(options).Run(files, dir)
}

// explain returns the cause of an error of kustomize. If generateName is the cause, explain adds the solution.
func (f *servedFiles) explain(err error) error {
	if f.refused != nil {
		return f.refused
	}
	text := err.Error()
	for path := range f.data {
		if strings.Contains(text, "missing metadata.name") && strings.Contains(text, "'"+filepath.Base(path)+"'") {
			return fmt.Errorf("%w\na generator takes %s as data: put the object with generateName into another file",
				err, filepath.Base(path))
		}
	}
	_, id, registered := strings.Cut(text, "already registered id: ")
	var twice resid.ResId
	for _, g := range f.generated {
		if len(g.Name) > len(twice.Name) && (strings.HasPrefix(id, g.Kind+".") && strings.Contains(id, g.Name) ||
			strings.Contains(text, " produces ID conflict: ") && strings.Contains(text, `"|`+g.Name)) {
			twice = g
		}
	}
	if twice.Name == "" {
		return err
	}
	advice := fmt.Sprintf("in one build, only one %s of a namespace can have the generateName %q: "+
		"build the others apart", twice.Kind, twice.Name)
	if !registered {
		return errors.New(advice) // kustomize's error has whole objects, which can be Secrets
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

// Package kustomize builds a directory with the library that kubectl create -k links. It accepts
// objects with generateName, which that library refuses. It gives them placeholder names before the
// build, and restores generateName after it. The package reads only through the given file system,
// and knows no cluster.
package kustomize

import (
	"context"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build returns the objects of the kustomization in a directory or a remote repository as a stream
// of YAML documents. Without generateName it returns the same bytes as kubectl kustomize. It
// returns early when ctx is done. kustomize itself takes no context, and then ends with the
// process.
func Build(ctx context.Context, files filesys.FileSystem, dir string) ([]byte, error) {
	var objects []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		objects, err = build(files, dir)
	}()
	select {
	case <-done:
		return objects, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func build(files filesys.FileSystem, dir string) ([]byte, error) {
	t := readTree(files, dir)
	if t.err != nil {
		return nil, t.err
	}
	if len(t.objects) == 0 && !t.remote {
		objects, err := run(files, dir)
		if err != nil {
			return nil, err
		}
		return objects.AsYaml()
	}
	objects, err := run(&servedFiles{files, t}, dir)
	if t.err != nil {
		return nil, t.err
	}
	if err != nil {
		return nil, t.readable(err)
	}
	if err := t.restore(objects); err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

// run builds as the KustomizeVisitor of k8s.io/cli-runtime does.
func run(files filesys.FileSystem, dir string) (resmap.ResMap, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	return krusty.MakeKustomizer(options).Run(files, dir)
}

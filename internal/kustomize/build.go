// Package kustomize builds a folder with the library that kubectl create -k
// links, and takes objects with generateName, which that library refuses. They
// go through it under placeholder names and leave it with generateName again.
// The package reads through the file system that it is given, and never knows
// of a cluster.
package kustomize

import (
	"context"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build returns the objects of the kustomization in a folder, or in a remote
// repository, as a stream of YAML documents: without generateName what kubectl
// kustomize returns, to the byte. It returns early when ctx is done; kustomize
// itself, which knows no contexts, then ends with the process.
func Build(ctx context.Context, files filesys.FileSystem, folder string) ([]byte, error) {
	var objects []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		objects, err = build(files, folder)
	}()
	select {
	case <-done:
		return objects, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func build(files filesys.FileSystem, folder string) ([]byte, error) {
	t := readTree(files, folder)
	if t.err != nil {
		return nil, t.err
	}
	if len(t.objects) == 0 && !t.remote {
		objects, err := run(files, folder)
		if err != nil {
			return nil, err
		}
		return objects.AsYaml()
	}
	objects, err := run(&servedFiles{files, t}, folder)
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
func run(files filesys.FileSystem, folder string) (resmap.ResMap, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	return krusty.MakeKustomizer(options).Run(files, folder)
}

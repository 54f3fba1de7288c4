// Package manifest has the parts of reading manifests in which the plugin differs from kubectl's builder: it builds a
// kustomization with internal/kustomize, which accepts generateName, requests the types of a server less often, and
// validates documents faster.
package manifest

import (
	"bytes"
	"context"

	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-genname/kubectl-genname/internal/kustomize"
)

// FilenameParam is the builder's FilenameParam, except that objects of -k can have generateName. FilenameParam
// returns an error if the kustomization is invalid, or early when ctx is done.
func FilenameParam(
	ctx context.Context, b *resource.Builder, enforceNamespace bool, o *resource.FilenameOptions,
) (*resource.Builder, error) {
	if o.Kustomize == "" || len(o.Filenames) > 0 || o.Recursive { // the builder refuses both together
		return b.FilenameParam(enforceNamespace, o), nil
	}
	objects, err := kustomize.Build(ctx, kustomize.OnDisk(), o.Kustomize)
	if err != nil {
		return nil, err
	}
	return b.FilenameParam(enforceNamespace, &resource.FilenameOptions{}).
		Stream(bytes.NewReader(objects), o.Kustomize), nil
}

// Package manifest has the parts of reading manifests in which the plugin differs from kubectl's builder: it builds a
// kustomization with internal/kustomize, which accepts generateName, requests the types of a server less often, and
// validates documents faster.
package manifest

import (
	"bytes"
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"

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

// Types is a RESTClientGetter for reading documents. It caches the mappings of types, and sends no other request.
type Types struct {
	genericclioptions.RESTClientGetter
	mapper mapper
}

// NewTypes returns Types. If the server lacks a type, again decides whether to request the server's types once more,
// because a document can add types.
func NewTypes(getter genericclioptions.RESTClientGetter, again func() bool) *Types {
	return &Types{getter, mapper{again: again, known: map[kindIn]*meta.RESTMapping{}}}
}

// ToRESTConfig returns a configuration without a server. The resource builder makes a client from it for each
// document, but reading sends no request.
func (t *Types) ToRESTConfig() (*rest.Config, error) { return &rest.Config{}, nil }

// ToRESTMapper returns the mapper.
func (t *Types) ToRESTMapper() (_ meta.RESTMapper, err error) {
	t.mapper.RESTMapper, err = t.RESTClientGetter.ToRESTMapper()
	return &t.mapper, err
}

// mapper caches the mappings. A server's mapper searches all its groups for every document.
type mapper struct {
	meta.RESTMapper
	again func() bool
	known map[kindIn]*meta.RESTMapping
}

// kindIn is a kind and the requested versions.
type kindIn struct {
	schema.GroupKind
	versions string
}

// RESTMapping returns the mapping of a type. If the type is missing, it may ask the server again. After
// another error, such as a lost response, it asks once more.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	at := kindIn{kind, strings.Join(versions, ",")}
	if mapping := m.known[at]; mapping != nil {
		return mapping, nil
	}
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err != nil && (!meta.IsNoMatchError(err) || m.again()) {
		meta.MaybeResetRESTMapper(m.RESTMapper)
		clear(m.known)
		mapping, err = m.RESTMapper.RESTMapping(kind, versions...)
	}
	if err == nil {
		m.known[at] = mapping
	}
	return mapping, err
}

// AddsTypes reports whether an object of this type can add types to a server.
func AddsTypes(mapping *meta.RESTMapping) bool {
	switch mapping.GroupVersionKind.GroupKind() {
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return true
	}
	return false
}

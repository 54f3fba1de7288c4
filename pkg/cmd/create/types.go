package create

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/validation"
)

// waitingTypes is a RESTClientGetter for reading ahead. If the server lacks a type, it waits for
// the earlier documents, because one of them may create the type, and then checks again.
type waitingTypes struct {
	genericclioptions.RESTClientGetter
	mapper waitingMapper
}

func newWaitingTypes(getter genericclioptions.RESTClientGetter, in *input) *waitingTypes {
	return &waitingTypes{getter, waitingMapper{input: in, known: map[kindIn]*meta.RESTMapping{}}}
}

// ToRESTConfig returns a configuration without a server. The builder makes a client from it for
// every document, but reading sends no request.
func (t *waitingTypes) ToRESTConfig() (*rest.Config, error) { return &rest.Config{}, nil }

// ToRESTMapper returns the mapper that waits.
func (t *waitingTypes) ToRESTMapper() (_ meta.RESTMapper, err error) {
	t.mapper.RESTMapper, err = t.RESTClientGetter.ToRESTMapper()
	return &t.mapper, err
}

// waitingMapper caches the mappings. A server's mapper searches all its groups for every document.
type waitingMapper struct {
	meta.RESTMapper
	input *input
	known map[kindIn]*meta.RESTMapping
	again bool // the server was asked again for its types
}

// kindIn is a kind and the requested versions.
type kindIn struct {
	schema.GroupKind
	versions string
}

// RESTMapping finds a type now, or after the earlier documents are created.
func (m *waitingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	at := kindIn{kind, strings.Join(versions, ",")}
	if mapping := m.known[at]; mapping != nil {
		return mapping, nil
	}
	mapping, err := m.find(kind, versions...)
	if err == nil {
		m.known[at] = mapping
	}
	return mapping, err
}

// find gets the mapping of a type. If it is missing, find waits for the earlier documents and tries
// again. If no document of the input brings types, find does so once for all missing types, as
// kubectl does, because discovery takes longer than a create.
func (m *waitingMapper) find(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil || !meta.IsNoMatchError(err) || m.again && !m.input.typesCome || !m.input.waitForOthers() {
		return mapping, err
	}
	m.again = true
	meta.MaybeResetRESTMapper(m.RESTMapper)
	clear(m.known)
	return m.RESTMapper.RESTMapping(kind, versions...)
}

// waitingValidator validates a document after earlier documents that bring types, because it gets
// the server's types only once.
type waitingValidator struct {
	validation.Schema
	input *input
}

// ValidateBytes validates one document.
func (v *waitingValidator) ValidateBytes(data []byte) error {
	if v.input.typesMayCome {
		v.input.typesMayCome = false
		v.input.changed = v.input.waitForOthers()
	}
	return v.Schema.ValidateBytes(data)
}

// bringsTypes are the kinds of objects that can add types to a server.
var bringsTypes = map[schema.GroupKind]bool{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             true,
}

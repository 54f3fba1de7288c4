package create

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/validation"
)

// waitingTypes is a RESTClientGetter for reading ahead: a type that is not on
// the server waits for the documents before it, for one of them may bring it,
// and is then checked again.
type waitingTypes struct {
	genericclioptions.RESTClientGetter
	mapper waitingMapper
}

func newWaitingTypes(getter genericclioptions.RESTClientGetter, in *input) *waitingTypes {
	return &waitingTypes{getter, waitingMapper{input: in, known: map[kindIn]*meta.RESTMapping{}}}
}

// ToRESTConfig returns the configuration of no server: the builder makes a client
// of it for every document, and nothing of what is read asks one.
func (t *waitingTypes) ToRESTConfig() (*rest.Config, error) { return &rest.Config{}, nil }

// ToRESTMapper returns the mapper that waits.
func (t *waitingTypes) ToRESTMapper() (_ meta.RESTMapper, err error) {
	t.mapper.RESTMapper, err = t.RESTClientGetter.ToRESTMapper()
	return &t.mapper, err
}

// waitingMapper keeps what it has found: the mapper of a server goes through all
// of its groups for every document.
type waitingMapper struct {
	meta.RESTMapper
	input *input
	known map[kindIn]*meta.RESTMapping
	again bool // the server was asked again for its types
}

// kindIn is a kind in the versions that are asked for.
type kindIn struct {
	schema.GroupKind
	versions string
}

// RESTMapping finds a type, now or after what comes before it.
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

// find looks for a type, and again after the documents before it. Where none of the
// input brings types, it does so once for all that are missing, as kubectl does: to
// ask for a server's types takes longer than to create an object.
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

// waitingValidator validates a document after those before it that bring types,
// because what it knows of the server's types it asks for once.
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

// bringsTypes are the kinds of objects after which a server may have other
// types than before.
var bringsTypes = map[schema.GroupKind]bool{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             true,
}

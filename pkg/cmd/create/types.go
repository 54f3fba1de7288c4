package create

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/validation"
)

// waitingTypes is a RESTClientGetter for reading ahead: a type that is not on
// the server waits for the documents before it, for one of them may bring it,
// and is then looked for again. The configuration, which is asked for with every
// document, is made once.
type waitingTypes struct {
	genericclioptions.RESTClientGetter
	input  *input
	config func() (*rest.Config, error)
}

func newWaitingTypes(getter genericclioptions.RESTClientGetter, in *input) *waitingTypes {
	return &waitingTypes{getter, in, sync.OnceValues(getter.ToRESTConfig)}
}

// ToRESTConfig returns a copy of the one configuration.
func (t *waitingTypes) ToRESTConfig() (*rest.Config, error) {
	config, err := t.config()
	if err != nil {
		return nil, err
	}
	return rest.CopyConfig(config), nil
}

// ToRESTMapper returns the mapper that waits.
func (t *waitingTypes) ToRESTMapper() (meta.RESTMapper, error) {
	mapper, err := t.RESTClientGetter.ToRESTMapper()
	return &waitingMapper{mapper, t.input}, err
}

type waitingMapper struct {
	meta.RESTMapper
	input *input
}

// RESTMapping finds a type, now or after what comes before it.
func (m *waitingMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	mapping, err := m.RESTMapper.RESTMapping(kind, versions...)
	if err == nil || !meta.IsNoMatchError(err) || !m.input.waitForOthers() {
		return mapping, err
	}
	meta.MaybeResetRESTMapper(m.RESTMapper)
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

package exactlyonce

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// An Encoder returns the body of a POST and its media type. The body must have the name, the annotations with
// id.Creation and id.Digest, and the label with id.Run. If one of them is empty, the body must not have it.
type Encoder func(id ID, name string) (body []byte, contentType string, err error)

// encoderOf returns the encoder of an object that is sent without WithEncoder. The encoder changes the object.
func encoderOf(object *unstructured.Unstructured) Encoder {
	return func(_ ID, name string) ([]byte, string, error) {
		if name != "" {
			object.SetName(name)
		}
		body, err := object.MarshalJSON()
		return body, runtime.ContentTypeJSON, err
	}
}

// A Template is an encoded object without the digest, the creation ID and the name. All creates of copies of the
// object can share its Encode. Several goroutines can use it.
type Template struct {
	object *unstructured.Unstructured

	mu     sync.Mutex
	run    string   // the run label of the IDs
	digest bool     // the IDs have digests
	parts  [][]byte // the text before, between and after the three values
}

// NewTemplate returns the template of an object without a name. Don't change the object afterwards.
func NewTemplate(object *unstructured.Unstructured) *Template { return &Template{object: object} }

// Encode is an Encoder for a tracked ID. The body is the same as without a template. JSON keys are sorted, so a value
// changes only its own place.
func (t *Template) Encode(id ID, name string) ([]byte, string, error) {
	parts, err := t.around(id)
	if err != nil {
		return nil, "", err
	}
	encoded := slices.Clone(parts[0])
	for i, value := range valuesOf(id, name) {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, "", err
		}
		encoded = append(append(encoded, text...), parts[i+1]...)
	}
	return encoded, runtime.ContentTypeJSON, nil
}

// valuesOf returns the values that differ between creates of one object, in the order of the encoding. Annotations
// come before the name.
func valuesOf(id ID, name string) []string {
	if id.Digest == "" {
		return []string{id.Creation, name}
	}
	return []string{id.Digest, id.Creation, name}
}

// around returns the parts for IDs like this one. around encodes the object if the template has other parts.
func (t *Template) around(id ID) ([][]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parts != nil && t.run == id.Run && t.digest == (id.Digest != "") {
		return t.parts, nil
	}
	// These values have 128 random bits each, so no other text in the object is equal to them.
	placeholder, name := NewID(), random()
	placeholder.Run = id.Run
	if id.Digest != "" {
		placeholder.Digest = random()
	}
	stamped := t.object.DeepCopy()
	placeholder.prepare(stamped)
	stamped.SetName(name)
	rest, err := stamped.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	for _, value := range valuesOf(placeholder, name) {
		before, after, found := bytes.Cut(rest, []byte(`"`+value+`"`))
		if !found {
			return nil, errors.New("the object is not encoded with its creation ID and then its name")
		}
		parts, rest = append(parts, before), after
	}
	parts = append(parts, rest)
	t.run, t.digest, t.parts = id.Run, id.Digest != "", parts
	return t.parts, nil
}

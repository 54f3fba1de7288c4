package exactlyonce

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Template is an encoded object without the digest, the creation ID and the name. All creates of copies of the
// object can share it. The zero value is ready for use. Several goroutines can use it.
type Template struct {
	mu     sync.Mutex
	object *unstructured.Unstructured // the object that was encoded
	run    string                     // the run label of the IDs
	digest bool                       // the IDs have digests
	parts  [][]byte                   // the text before, between and after the three values
}

// encode returns the object with its ID and name, encoded. The result is the same as without a template. JSON keys
// are sorted, so a value changes only its own place.
func (t *Template) encode(object *unstructured.Unstructured, id ID, name string) ([]byte, error) {
	parts, err := t.around(object, id)
	if err != nil {
		return nil, err
	}
	encoded := slices.Clone(parts[0])
	for i, value := range valuesOf(id, name) {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		encoded = append(append(encoded, text...), parts[i+1]...)
	}
	return encoded, nil
}

// valuesOf returns the values that differ between creates of one object, in the order of the encoding. Annotations
// come before the name.
func valuesOf(id ID, name string) []string {
	if id.Digest == "" {
		return []string{id.Creation, name}
	}
	return []string{id.Digest, id.Creation, name}
}

// around returns the parts for this object. around encodes the object if the template has the parts of another one.
func (t *Template) around(object *unstructured.Unstructured, id ID) ([][]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.object == object && t.run == id.Run && t.digest == (id.Digest != "") {
		return t.parts, nil
	}
	// These values have 128 random bits each, so no other text in the object is equal to them.
	placeholder, name := NewID(), random()
	placeholder.Run = id.Run
	if id.Digest != "" {
		placeholder.Digest = random()
	}
	stamped := object.DeepCopy()
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
	t.object, t.run, t.digest, t.parts = object, id.Run, id.Digest != "", parts
	return t.parts, nil
}

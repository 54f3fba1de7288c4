package exactlyonce

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Template is the encoded object without the digest, the creation ID and the name: the part
// that all creates of one object have in common. The zero value is ready to use. Several
// goroutines may use it.
type Template struct {
	mu     sync.Mutex
	object *unstructured.Unstructured // that it was made of
	run    string                     // of the IDs that it was made for
	digest bool                       // they have digests
	parts  [][]byte                   // around the digest, the creation ID and the name
}

// encode returns the object, stamped and named, as it is encoded without a
// template: keys are sorted, so that a value changes nothing but its own place.
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

// valuesOf returns the values that differ among creates of one object, in the order in which
// they are encoded: annotations come before the name.
func valuesOf(id ID, name string) []string {
	if id.Digest == "" {
		return []string{id.Creation, name}
	}
	return []string{id.Digest, id.Creation, name}
}

// around returns the parts for objects like this one, which it makes if they are
// those of another.
func (t *Template) around(object *unstructured.Unstructured, id ID) ([][]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.object == object && t.run == id.Run && t.digest == (id.Digest != "") {
		return t.parts, nil
	}
	// They have 128 random bits each, so nothing else in the object is equal.
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

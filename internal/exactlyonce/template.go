package exactlyonce

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Template is the encoded object without the creation ID and the name: the part that
// all creates of one object have in common. The zero value is ready to use. Several
// goroutines may use it.
type Template struct {
	mu     sync.Mutex
	object *unstructured.Unstructured // that it was made of
	run    string                     // of the IDs that it was made for
	parts  [3][]byte                  // around the creation id and the name
}

// encode returns the object, stamped and named, as it is encoded without a
// template: keys are sorted, so that a value changes nothing but its own place.
func (t *Template) encode(object *unstructured.Unstructured, id ID, name string) ([]byte, error) {
	parts, err := t.around(object, id)
	if err != nil {
		return nil, err
	}
	values := [2][]byte{}
	for i, value := range []string{id.creation, name} {
		if values[i], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return bytes.Join([][]byte{parts[0], values[0], parts[1], values[1], parts[2]}, nil), nil
}

// around returns the parts for objects like this one, which it makes if they are
// those of another.
func (t *Template) around(object *unstructured.Unstructured, id ID) ([3][]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.object == object && t.run == id.run {
		return t.parts, nil
	}
	// They have 128 random bits each, so nothing else in the object is equal.
	placeholder, name := NewID(), NewID().creation
	placeholder.run = id.run
	stamped := object.DeepCopy()
	placeholder.prepare(stamped)
	stamped.SetName(name)
	encoded, err := stamped.MarshalJSON()
	if err != nil {
		return t.parts, err
	}
	before, rest, hasID := bytes.Cut(encoded, []byte(`"`+placeholder.creation+`"`)) // annotations come before the name
	between, after, hasName := bytes.Cut(rest, []byte(`"`+name+`"`))
	if !hasID || !hasName {
		return t.parts, errors.New("the object is not encoded with its creation ID and then its name")
	}
	t.object, t.run, t.parts = object, id.run, [3][]byte{before, between, after}
	return t.parts, nil
}

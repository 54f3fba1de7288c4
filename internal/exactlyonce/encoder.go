package exactlyonce

import (
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

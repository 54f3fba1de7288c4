package exactlyonce

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
)

// Response is a response as the server sent it. net/http has removed a compression.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// keeping is the body of a response that is also written into a Response.
type keeping struct {
	io.ReadCloser
	into *Response
}

func (k keeping) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.into.Body = append(k.into.Body, p[:n]...)
	return n, err
}

func objectOf(
	result rest.Result, decode func([]byte) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	body, err := result.Raw()
	switch {
	case err != nil:
		return nil, err
	case bytes.HasPrefix(body, protobufMagic):
		return decodeProtobuf(body[len(protobufMagic):])
	}
	return decode(body)
}

// protobufMagic is the beginning of a body in Kubernetes' encoding of protobuf.
var protobufMagic = []byte("k8s\x00")

// decodeProtobuf reads the kind and the metadata of an object. The metadata is field 1 of each type that is stored.
func decodeProtobuf(body []byte) (*unstructured.Unstructured, error) {
	var envelope runtime.Unknown
	var partial metav1.PartialObjectMetadata
	err := envelope.Unmarshal(body)
	if err == nil {
		err = partial.Unmarshal(envelope.Raw)
	}
	if err == nil && envelope.Kind == "" {
		err = errors.New("it has no kind")
	}
	if err != nil {
		return nil, fmt.Errorf("the response can't be read: %w", err)
	}
	partial.TypeMeta = metav1.TypeMeta{APIVersion: envelope.APIVersion, Kind: envelope.Kind}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&partial)
	return &unstructured.Unstructured{Object: object}, err
}

func decode(body []byte) (*unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("the response can't be read: %w", err)
	}
	return &object, nil
}

// decodeBriefly reads only the fields of Settings.Brief. If the body has anything unexpected, it calls decode.
func decodeBriefly(body []byte) (*unstructured.Unstructured, error) {
	var brief struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name              string         `json:"name"`
			Namespace         string         `json:"namespace"`
			UID               string         `json:"uid"`
			ResourceVersion   string         `json:"resourceVersion"`
			CreationTimestamp string         `json:"creationTimestamp"`
			Labels            map[string]any `json:"labels"`
			Annotations       map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(body, &brief)
	if err != nil || brief.Kind == "" || brief.Kind == "Status" { // a Status has no metadata but other fields
		return decode(body)
	}
	got := brief.Metadata
	metadata := map[string]any{"name": got.Name}
	for field, value := range map[string]string{
		"namespace": got.Namespace, "uid": got.UID, "resourceVersion": got.ResourceVersion,
		"creationTimestamp": got.CreationTimestamp,
	} {
		if value != "" {
			metadata[field] = value
		}
	}
	for field, value := range map[string]map[string]any{"labels": got.Labels, "annotations": got.Annotations} {
		if value != nil {
			metadata[field] = value
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": brief.APIVersion, "kind": brief.Kind, "metadata": metadata,
	}}, nil
}

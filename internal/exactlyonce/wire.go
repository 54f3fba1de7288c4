package exactlyonce

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// decode reads the object of a response.
func decode(body []byte) (*unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("the response can't be read: %w", err)
	}
	return &object, nil
}

// decodeBriefly reads the fields of WithBriefObjects, as decode does. Anything
// unexpected is left to decode.
func decodeBriefly(body []byte) (*unstructured.Unstructured, error) {
	var brief struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name              string         `json:"name"`
			Namespace         string         `json:"namespace"`
			UID               string         `json:"uid"`
			ResourceVersion   string         `json:"resourceVersion"`
			Generation        int64          `json:"generation"`
			CreationTimestamp string         `json:"creationTimestamp"`
			Labels            map[string]any `json:"labels"`
			Annotations       map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(body, &brief)
	if err != nil || brief.Kind == "" || brief.Kind == "Status" { // which has no metadata, and more that counts
		return decode(body)
	}
	got := brief.Metadata
	metadata := map[string]any{"name": got.Name, "generation": got.Generation}
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

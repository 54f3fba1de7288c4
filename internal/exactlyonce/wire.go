package exactlyonce

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// decode reads an object of an answer.
func decode(body []byte) (*unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return &object, nil
}

// decodeBriefly reads of an object what WithBriefObjects says. Of what is there,
// it reads the same as decode does; whatever is not as expected is left to that.
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
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &brief); err != nil || brief.Kind == "" {
		return decode(body)
	}
	said := brief.Metadata
	metadata := map[string]any{"name": said.Name, "generation": said.Generation}
	for field, value := range map[string]string{
		"namespace": said.Namespace, "uid": said.UID, "resourceVersion": said.ResourceVersion,
		"creationTimestamp": said.CreationTimestamp,
	} {
		if value != "" {
			metadata[field] = value
		}
	}
	for field, value := range map[string]map[string]any{"labels": said.Labels, "annotations": said.Annotations} {
		if value != nil {
			metadata[field] = value
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": brief.APIVersion, "kind": brief.Kind, "metadata": metadata,
	}}, nil
}

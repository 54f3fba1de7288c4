package manifest

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/openapi"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/validation"
	kjson "sigs.k8s.io/json"
)

// serverValidation is kubectl's validation with a faster check. kubectl checks for each document
// whether the server validates its fields, and validates them only if it doesn't. serverValidation
// checks that once for each group and version. If the server doesn't validate fields, it calls kubectl's own code.
type serverValidation struct {
	validation.Schema
	openAPI openapi.Client
	served  map[string]operations // by path, like "apis/batch/v1"
}

// operations are the types whose fields the server validates in PATCH requests, which kubectl
// checks.
type operations map[schema.GroupVersionKind]bool

// Validator returns the validator of documents.
func Validator(factory cmdutil.Factory, directive string) (validation.Schema, error) {
	kubectls, err := factory.Validator(directive)
	if err != nil || directive == metav1.FieldValidationIgnore {
		return kubectls, err
	}
	client, err := factory.OpenAPIV3Client()
	return &serverValidation{kubectls, client, map[string]operations{}}, err
}

// ValidateBytes validates one document.
func (v *serverValidation) ValidateBytes(data []byte) error {
	var document struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	// The case of keys counts for Kubernetes, and not for encoding/json.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &document); err != nil {
		return v.Schema.ValidateBytes(data)
	}
	kind := schema.FromAPIVersionAndKind(document.APIVersion, document.Kind)
	if kind.Version == "" || kind.Kind == "" || !v.by(kind.GroupVersion())[kind] {
		return v.Schema.ValidateBytes(data)
	}
	return nil
}

// by returns the operations of a group and version. The operations are empty if the server doesn't return them.
func (v *serverValidation) by(version schema.GroupVersion) operations {
	path := "apis/" + version.String()
	if version.Group == "" {
		path = "api/" + version.Version
	}
	if found, ok := v.served[path]; ok {
		return found
	}
	paths, err := v.openAPI.Paths()
	if err != nil || paths[path] == nil {
		return nil
	}
	document, err := paths[path].Schema(runtime.ContentTypeJSON)
	if err != nil {
		return nil
	}
	v.served[path] = validated(document)
	return v.served[path]
}

// validated returns the operations of an OpenAPI v3 document that take the parameter for the validation of fields.
func validated(document []byte) operations {
	type parameter struct{ Name, In string }
	var openAPI struct {
		Paths map[string]struct {
			Patch struct {
				Kind       schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				Parameters []parameter
			}
		}
	}
	if json.Unmarshal(document, &openAPI) != nil {
		return nil
	}
	found := operations{}
	for _, path := range openAPI.Paths {
		if slices.Contains(path.Patch.Parameters, parameter{string(resource.QueryParamFieldValidation), "query"}) {
			found[path.Patch.Kind] = true
		}
	}
	return found
}

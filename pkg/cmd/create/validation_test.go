package create

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
	"pgregory.net/rapid"
)

// asked is kubectl's validation, which refuses all that it is asked about.
type asked struct{ times int }

var errAsked = errors.New("asked")

func (a *asked) ValidateBytes([]byte) error {
	a.times++
	return errAsked
}

// served is a server's OpenAPI. The server doesn't return an empty document.
type served map[string]string

func (s served) Paths() (map[string]openapi.GroupVersion, error) {
	paths := map[string]openapi.GroupVersion{}
	for path, document := range s {
		paths[path] = schemaOf(document)
	}
	return paths, nil
}

type schemaOf string

func (s schemaOf) Schema(string) ([]byte, error) {
	if s == "" {
		return nil, errors.New("as chosen")
	}
	return []byte(s), nil
}

func (s schemaOf) ServerRelativeURL() string { return "" }

// patch is the OpenAPI of a type with a parameter of PATCH.
func patch(group, kind, parameter, in string) string {
	return `{"paths":{"/x":{"get":{"parameters":[{"name":"fieldValidation","in":"query"}]},"patch":{` +
		`"x-kubernetes-group-version-kind":{"group":"` + group + `","version":"v1","kind":"` + kind + `"},` +
		`"parameters":[{"name":"` + parameter + `","in":"` + in + `"}]}}}}`
}

func TestServerValidation(t *testing.T) {
	server := served{
		"api/v1":             patch("", "ConfigMap", "fieldValidation", "query"),
		"apis/batch/v1":      patch("batch", "Job", "fieldValidation", "query"),
		"apis/old.dev/v1":    patch("old.dev", "Old", "force", "query"),
		"apis/header.dev/v1": patch("header.dev", "Header", "fieldValidation", "header"),
		"apis/away.dev/v1":   "",
		"apis/broken.dev/v1": "{",
	}
	for document, byServer := range map[string]bool{
		`{"apiVersion":"v1","kind":"ConfigMap"}`:          true,
		`{"apiVersion":"batch/v1","kind":"Job"}`:          true,
		`{"apiVersion":"batch/v1","kind":"CronJob"}`:      false,
		`{"apiVersion":"batch/v2","kind":"Job"}`:          false,
		`{"apiVersion":"old.dev/v1","kind":"Old"}`:        false,
		`{"apiVersion":"header.dev/v1","kind":"Header"}`:  false,
		`{"apiVersion":"away.dev/v1","kind":"Away"}`:      false,
		`{"apiVersion":"broken.dev/v1","kind":"Broken"}`:  false,
		`{"apiVersion":"v1","kind":"List"}`:               false,
		`{"apiversion":"v1","kind":"ConfigMap"}`:          false,
		`{"apiVersion":"v1"}`:                             false,
		`{"kind":"ConfigMap"}`:                            false,
		`{"apiVersion":1,"kind":"ConfigMap"}`:             false,
		`{"apiVersion":"a/b/c","kind":"ConfigMap"}`:       false,
		`["v1","ConfigMap"]`:                              false,
		`null`:                                            false,
		`{"apiVersion":"v1","kind":"ConfigMap"`:           false,
		"apiVersion: v1\nkind: ConfigMap\nnot: [closed\n": false,
	} {
		kubectls := &asked{}
		v := &serverValidation{kubectls, server, map[string]operations{}}
		for range 2 { // the second time from the cache
			switch err := v.ValidateBytes([]byte(document)); {
			case byServer && err != nil:
				t.Errorf("%s: %v", document, err)
			case !byServer && !errors.Is(err, errAsked):
				t.Errorf("%s: kubectl's validation was not asked: %v", document, err)
			}
		}
	}
}

// parsed returns the same as validated, from the parsed document.
func parsed(t *rapid.T, document []byte) operations {
	var read struct {
		Paths map[string]struct {
			Patch struct {
				Kind       schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				Parameters []struct{ Name, In string }
			}
		}
	}
	if err := json.Unmarshal(document, &read); err != nil {
		t.Fatal(err)
	}
	found := operations{}
	for _, path := range read.Paths {
		if slices.Contains(path.Patch.Parameters, struct{ Name, In string }{"fieldValidation", "query"}) {
			found[path.Patch.Kind] = true
		}
	}
	return found
}

// Searching a document finds the same operations as parsing it, whatever its texts and field names
// are.
func TestValidatedFindsWhatIsParsed(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "fieldValidation", "query", "patch", `"patch":` + patch("", "Job", "fieldValidation", "query")})
	parameter := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			"name": rapid.SampledFrom([]string{"fieldValidation", "force"}).Draw(t, "name"),
			"in":   rapid.SampledFrom([]string{"query", "header"}).Draw(t, "in"), "description": text.Draw(t, "said of it"),
		}
	})
	operation := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			"description": text.Draw(t, "description"), "parameters": rapid.SliceOfN(parameter, 0, 3).Draw(t, "parameters"),
			"x-kubernetes-group-version-kind": map[string]any{
				"group": "g", "version": "v1", "kind": rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "kind"),
			},
		}
	})
	field := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{
			"type": "object", "description": text.Draw(t, "description"), "required": []string{"patch"},
			"properties": map[string]any{"patch": map[string]any{"type": text.Draw(t, "type")}},
		}
	})
	name := rapid.SampledFrom([]string{"patch", "get", "parameters", "x"})
	rapid.Check(t, func(t *rapid.T) {
		document, err := json.Marshal(map[string]any{
			"openapi": "3.0.0", "info": map[string]any{"title": text.Draw(t, "title")},
			"paths":      rapid.MapOfN(name, rapid.MapOfN(rapid.SampledFrom([]string{"patch", "get"}), operation, 0, 2), 0, 4).Draw(t, "paths"),
			"components": map[string]any{"schemas": rapid.MapOfN(name, field, 0, 3).Draw(t, "schemas")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if found, want := validated(document), parsed(t, document); !maps.Equal(found, want) {
			t.Errorf("%s:\n%v, want %v", document, found, want)
		}
	})
}

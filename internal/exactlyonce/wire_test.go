package exactlyonce

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// briefly returns the fields of an object that WithBriefObjects promises.
func briefly(o *unstructured.Unstructured) string {
	created := o.GetCreationTimestamp()
	return fmt.Sprintf("%q %q %q %q %q %q %d %v %q %q", o.GetAPIVersion(), o.GetKind(), o.GetName(), o.GetNamespace(), o.GetUID(),
		o.GetResourceVersion(), o.GetGeneration(), created.UTC(), o.GetLabels(), o.GetAnnotations())
}

// sameRead fails unless both decoders read the same of the body, or nothing.
func sameRead(t interface {
	Helper()
	Errorf(string, ...any)
}, body []byte,
) {
	t.Helper()
	whole, err1 := decode(body)
	brief, err2 := decodeBriefly(body)
	switch {
	case (err1 == nil) != (err2 == nil):
		t.Errorf("%s: %v, briefly %v", body, err1, err2)
	case err1 == nil && briefly(whole) != briefly(brief):
		t.Errorf("%s:\n%s, briefly\n%s", body, briefly(whole), briefly(brief))
	}
}

// Both decoders read or refuse an unexpected body in the same way.
func TestBriefObjectsOfOddResponses(t *testing.T) {
	for _, body := range []string{
		``, `{`, `[]`, `null`, `"x"`, `{}`, `{"kind":1}`, `{"kind":""}`, `{"Kind":"Job"}`, `{"kind":"Job"} x`,
		`{"kind":"Job"}`, `{"kind":"Job","metadata":null}`, `{"kind":"Job","metadata":[]}`, `{"kind":"Job","metadata":"x"}`,
		`{"kind":"Job","metadata":{"name":1}}`, `{"kind":"Job","metadata":{"name":null}}`,
		`{"kind":"Job","metadata":{"Name":"b"}}`, `{"kind":"Job","metadata":{"name":"a","Name":"b"}}`,
		`{"kind":"Job","metadata":{"name":"a","name":"b"}}`,
		`{"kind":"Job","metadata":{"generation":1.5}}`, `{"kind":"Job","metadata":{"generation":"1"}}`,
		`{"kind":"Job","metadata":{"annotations":{"a":1}}}`, `{"kind":"Job","metadata":{"annotations":{"a":null,"b":"c"}}}`,
		`{"kind":"Job","metadata":{"annotations":["a"]}}`, `{"kind":"Job","metadata":{"labels":null,"annotations":{}}}`,
		`{"kind":"Job","metadata":{"creationTimestamp":"yesterday"}}`, `{"kind":"Job","metadata":{"creationTimestamp":null}}`,
		`{"kind":"JobList","items":[{"kind":"Job"}]}`, `{"kind":"Job","spec":{"a":[1,{"b":"\ud800"}]}}`,
		`{"kind":"Status","metadata":{},"status":"Failure","code":500}`,
	} {
		sameRead(t, []byte(body))
	}
}

func TestBriefObjectsReadTheSame(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "<&>", "2026-11-22T03:26:04Z"})
	entries := rapid.MapOfN(fieldName, rapid.Map(text, func(s string) any { return s }), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		object := drawObject(t)
		metadata := object.Object["metadata"].(map[string]any)
		for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
			metadata[field] = text.Draw(t, field)
		}
		metadata["generation"] = rapid.Int64().Draw(t, "generation")
		metadata["labels"], metadata["annotations"] = entries.Draw(t, "labels"), entries.Draw(t, "annotations")
		if rapid.IntRange(0, 3).Draw(t, "odd") == 0 {
			metadata[rapid.SampledFrom(slices.Sorted(maps.Keys(metadata))).Draw(t, "field")] = anyValue(2).Draw(t, "value")
		}
		body, err := json.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		sameRead(t, body)
	})
}

// The object of a brief response has only the fields that WithBriefObjects
// promises. An object that was read back is whole.
func TestCreateBriefly(t *testing.T) {
	c, id := creatorFor(t, oncetest.NewServer().Config(), WithBriefObjects()), Derive(Derivation{Creation: "v1-x"})
	result, err := c.Create(t.Context(), configMapMapping, configMap(), id)
	if err != nil || result.Outcome != Created || result.Stripped != nil || result.Object.GetName() != result.Name {
		t.Fatalf("%+v, %v", result, err)
	}
	if result.Object.Object["data"] != nil || result.Object.GetUID() == "" || result.Object.GetNamespace() != "ns" {
		t.Errorf("%v", result.Object)
	}
	result, err = c.Create(t.Context(), configMapMapping, configMap(), id)
	if err != nil || result.Outcome != Found || result.Object.Object["data"] == nil {
		t.Errorf("%+v, %v", result, err)
	}
}

// A POST has the parameters that client-go gives it for the same options.
func TestCreateOptionsAsClientGo(t *testing.T) {
	for _, options := range []metav1.CreateOptions{
		{},
		{FieldManager: "a&b", FieldValidation: "Strict"},
		{DryRun: []string{metav1.DryRunAll}, FieldManager: "kubectl-create"},
		{TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}, FieldManager: "m"},
	} {
		var got url.Values
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				got = r.URL.Query()
			}
		}))
		config := &rest.Config{Host: server.URL, QPS: -1}
		_, _ = creatorFor(t, config, WithRetryTimeout(0)).
			Create(t.Context(), configMapMapping, configMap(), NewID(), WithCreateOptions(options))
		ours := got
		config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{Version: "v1"}, statuses
		client, err := rest.RESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		client.Post().AbsPath("/x").VersionedParams(&options, metav1.ParameterCodec).Do(t.Context())
		if ours.Encode() != got.Encode() {
			t.Errorf("%+v: %s, client-go %s", options, ours.Encode(), got.Encode())
		}
		server.Close()
	}
}

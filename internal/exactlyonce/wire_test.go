package exactlyonce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// briefly returns the fields of an object that Settings.Brief promises.
func briefly(o *unstructured.Unstructured) string {
	created := o.GetCreationTimestamp()
	return fmt.Sprintf("%q %q %q %q %q %q %v %q %q", o.GetAPIVersion(), o.GetKind(), o.GetName(), o.GetNamespace(), o.GetUID(),
		o.GetResourceVersion(), created.UTC(), o.GetLabels(), o.GetAnnotations())
}

// Both decoders read or refuse an unexpected body in the same way.
func TestBriefObjectsOfOddResponses(t *testing.T) {
	for _, body := range []string{
		``, `{`, `[]`, `null`, `"x"`, `{}`, `{"kind":1}`, `{"kind":""}`, `{"Kind":"Job"}`, `{"kind":"Job"} x`,
		`{"kind":"Job"}`, `{"kind":"Job","metadata":null}`, `{"kind":"Job","metadata":[]}`, `{"kind":"Job","metadata":"x"}`,
		`{"kind":"Job","metadata":{"name":1}}`, `{"kind":"Job","metadata":{"name":null}}`,
		`{"kind":"Job","metadata":{"Name":"b"}}`, `{"kind":"Job","metadata":{"name":"a","Name":"b"}}`,
		`{"kind":"Job","metadata":{"name":"a","name":"b"}}`,
		`{"kind":"Job","metadata":{"annotations":{"a":1}}}`, `{"kind":"Job","metadata":{"annotations":{"a":null,"b":"c"}}}`,
		`{"kind":"Job","metadata":{"annotations":["a"]}}`, `{"kind":"Job","metadata":{"labels":null,"annotations":{}}}`,
		`{"kind":"Job","metadata":{"creationTimestamp":"yesterday"}}`, `{"kind":"Job","metadata":{"creationTimestamp":null}}`,
		`{"kind":"JobList","items":[{"kind":"Job"}]}`, `{"kind":"Job","spec":{"a":[1,{"b":"\ud800"}]}}`,
		`{"kind":"Status","metadata":{},"status":"Failure","code":500}`,
		`{"apiVersion":"v1","kind":"Job","metadata":{"name":"<&>","namespace":"n","uid":"u","resourceVersion":"7","generation":9223372036854775807,` +
			`"creationTimestamp":"2026-11-22T03:26:04Z","labels":{"a":"","b":"c"},"annotations":{"\u2028":"\"","d":""}},"spec":{}}`,
	} {
		whole, err1 := decode([]byte(body))
		brief, err2 := decodeBriefly([]byte(body))
		switch {
		case (err1 == nil) != (err2 == nil):
			t.Errorf("%s: %v, briefly %v", body, err1, err2)
		case err1 == nil && briefly(whole) != briefly(brief):
			t.Errorf("%s:\n%s, briefly\n%s", body, briefly(whole), briefly(brief))
		}
	}
}

// The object of a brief response has only the fields that Settings.Brief
// promises. An object that was read back is whole.
func TestCreateBriefly(t *testing.T) {
	c, id := creatorFor(t, oncetest.NewServer().Config(), func(s *Settings) { s.Brief = true }), Derive(Derivation{Creation: "v1-x"})
	result, err := c.Create(t.Context(), configMapMapping, configMap(), id)
	if err != nil || result.Outcome != protocol.Created || result.Stripped != nil || result.Object.GetName() != result.Name {
		t.Fatalf("%v of %q, stripped %q, want created, nothing stripped, and an object of this name: %v", result.Outcome, result.Name, result.Stripped, err)
	}
	if result.Object.Object["data"] != nil || result.Object.GetUID() == "" || result.Object.GetNamespace() != "ns" {
		t.Errorf("%v, want a UID, the namespace ns and no data", result.Object)
	}
	result, err = c.Create(t.Context(), configMapMapping, configMap(), id)
	if err != nil || result.Outcome != protocol.Found || result.Object.Object["data"] == nil {
		t.Errorf("%v, object %v, want found, and an object with data: %v", result.Outcome, result.Object, err)
	}
}

// A protobuf body has the metadata of the object.
func TestProtobuf(t *testing.T) {
	object := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "p-x", GenerateName: "p-", Namespace: "ns", UID: "u", ResourceVersion: "7", CreationTimestamp: metav1.Unix(1, 0),
			Labels: map[string]string{"a": "b"}, Annotations: map[string]string{Annotation: "c"},
		},
	}
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &body); err != nil {
		t.Fatal(err)
	}
	got, err := decodeProtobuf(bytes.TrimPrefix(body.Bytes(), protobufMagic))
	if err != nil || briefly(got) != briefly(&unstructured.Unstructured{Object: want}) {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
}

// Each response of docs/spec/findings.json has its finding.
func TestSpecifiedFindings(t *testing.T) {
	text, err := os.ReadFile("../../docs/spec/findings.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Comment, Request, ContentType, Body, Finding string
		Status                                       int
		NotServed                                    bool // then kube-apiserver sent the response
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 80 {
		t.Fatalf("%d responses, %v", len(vectors), err)
	}
	const name = "once-bcdfghjklm"
	for _, v := range vectors {
		fault := oncetest.Respond(v.Status, v.ContentType, v.Body)
		if v.NotServed {
			fault = withHeader(fault, "Audit-Id", "1")
		}
		c := creatorFor(t, always(fault).Config())
		client, err := c.clientFor(configMapMapping.GroupVersionKind.GroupVersion())
		if err != nil {
			t.Fatal(err)
		}
		r := &request{client: client, mapping: configMapMapping, settings: c.settings}
		r.settings.Encode = encoderOf(configMapObject())
		r.sent = findings.Sent{
			GroupKind: configMapKind, Resource: "configmaps", Namespace: "default", Prefix: "once-",
			ID: "v1-00112233445566778899aabbccddeeff-0-0",
		}
		var seen response
		if v.Request == http.MethodPost {
			seen = r.post(t.Context(), t.Context(), name)
		} else if seen = r.get(t.Context(), name); seen.Finding == protocol.Unauthorized { // the rules read it as unread
			seen.Finding = protocol.Unread
		}
		if seen.Finding.String() != v.Finding {
			t.Errorf("%s: %s: %s, want %s (%v)", v.Request, v.Comment, seen.Finding, v.Finding, seen.Err)
		}
	}
}

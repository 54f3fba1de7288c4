package intercept

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// Of these requests, only those with a target create an object.
func TestTarget(t *testing.T) {
	for url, want := range map[string]string{
		"/api/v1/namespaces/a/configmaps":                     "v1 configmaps a",
		"/api/v1/namespaces/a/configmaps/":                    "v1 configmaps a",
		"/api/v1/namespaces/a/configmaps//":                   "v1 configmaps a",
		"/api/v1/namespaces/a/configmaps?fieldManager=b":      "v1 configmaps a",
		"/api/v1/namespaces":                                  "v1 namespaces ",
		"/apis/batch/v1/namespaces/a/jobs":                    "batch/v1 jobs a",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles":     "rbac.authorization.k8s.io/v1 clusterroles ",
		"/api/v1/namespaces/a/configmaps?dryRun=All":          "",
		"/api/v1/namespaces/a/configmaps?dryRun":              "",
		"/api/v1/namespaces/a/configmaps?dryRun=":             "",
		"/api/v1/namespaces/a/pods/b/eviction":                "",
		"/api/v1/namespaces/a/pods/b/binding":                 "",
		"/api/v1/namespaces/a/serviceaccounts/b/token":        "",
		"/api/v1/namespaces/a":                                "",
		"/api/v1/namespaces//configmaps":                      "",
		"/api/v1//configmaps":                                 "",
		"/api/v1":                                             "",
		"/apis/batch/v1":                                      "",
		"/apis/batch":                                         "",
		"/version":                                            "",
		"/":                                                   "",
		"/other/v1/namespaces/a/configmaps":                   "",
		"/k8s/clusters/c/api/v1/namespaces/a/configmaps":      "elsewhere v1 configmaps a",
		"/api/v1/namespaces/a/services/b/proxy/api/v1/things": "",
	} {
		checkTarget(t, http.MethodPost, url, "", want)
		checkTarget(t, http.MethodPut, url, "", "")
		checkTarget(t, http.MethodPost, "/k8s/clusters/c"+url, "/k8s/clusters/c/", want)
		if want != "" {
			want = "elsewhere " + strings.TrimPrefix(want, "elsewhere ")
		}
		checkTarget(t, http.MethodPost, "/k8s/clusters/cc"+url, "/k8s/clusters/c", want)
	}
}

func checkTarget(t *testing.T, method, url, base, want string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://host"+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if to, ok := targetOf(r, base); ok {
		got = fmt.Sprintf("%s %s %s", to.resource.GroupVersion(), to.resource.Resource, to.namespace)
		if to.elsewhere {
			got = "elsewhere " + got
		}
	}
	if got != want {
		t.Errorf("%s %s: %q, want %q", method, url, got, want)
	}
}

// The server gets the media types that the client accepts and that exactlyonce can read. For the server and the proxy,
// an empty Accept header means JSON.
func TestAcceptable(t *testing.T) {
	const table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/html, */*;q=0.1": "application/json",
		table: "", table + ", application/json": "application/json", "application/json;q=0": "", "text/html": "",
		protobufType + ",application/json": protobufType + ", application/json",
	} {
		if got := acceptable(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

func headerOf(contentType string) http.Header { return http.Header{"Content-Type": {contentType}} }

// insertInto inserts a name and an ID without a key.
func insertInto(read *body) []byte {
	return read.insert("N", exactlyonce.ID{Derivation: exactlyonce.Derivation{Creation: "ID"}}, schema.GroupKind{})
}

// The proxy inserts a name and a creation ID, and changes nothing else.
func TestInsertJSON(t *testing.T) {
	const id = `"genname.dev/creation-id":"ID"`
	for in, want := range map[string]string{
		`{"metadata":{"generateName":"a-"}}`: `{"metadata":{"generateName":"a-","name":"N","annotations":{` + id + `}}}`,
		`{"metadata":{"generateName":"a-","name":"","annotations":null},"data":{"n": 12345678901234567890.10}}`: `{"metadata":{"generateName":"a-","name":"N","annotations":{` + id + `}},"data":{"n": 12345678901234567890.10}}`,
		`{"kind":"Job", "metadata" : {"annotations":{"b":"\u00e9"},"generateName":"a-","name":null}}`:           `{"kind":"Job","metadata":{"annotations":{"b":"\u00e9",` + id + `},"generateName":"a-","name":"N"}}`,
		`{"metadata":{"generateName":"a-","annotations":{"genname.dev/creation-id":"copied","c":"d"}}}`:         `{"metadata":{"generateName":"a-","annotations":{` + id + `,"c":"d"},"name":"N"}}`,
		`{"metadata":{"generate\u004eame":"a-"},"new":{"field":[1e400]}}`:                                       `{"metadata":{"generateName":"a-","name":"N","annotations":{` + id + `}},"new":{"field":[1e400]}}`,
	} {
		read, why := bodyOf(headerOf("application/json; charset=utf-8"), []byte(in))
		if read == nil {
			t.Errorf("%s passes through: %q", in, why)
			continue
		}
		if got := insertInto(read); string(got) != want || read.generateName != "a-" {
			t.Errorf("%s:\n%s\nwant\n%s", in, got, want)
		}
	}
}

// These bodies pass through. If the test has a Reason, the user gets a warning.
func TestPassThrough(t *testing.T) {
	const generated = `{"metadata":{"generateName":"a-"`
	for _, test := range []struct {
		contentType, data string
		want              Reason
	}{
		{"application/json", `{"metadata":{"name":"a"}}`, ""},
		{"application/json", generated + `,"name":"b"}}`, ""},
		{"application/json", `{"metadata":{"generateName":""}}`, ""},
		{"application/json", `{"metadata":{"generateName":1}}`, ""},
		{"application/json", generated + `,"name":1}}`, ""},
		{"application/json", generated + `,"annotations":["x"]}}`, ""},
		{"application/json", generated + `,"labels":"x"}}`, ""},
		{"application/json", generated + `,"resourceVersion":"7"}}`, ""},
		{"application/json", `{"metadata":["generateName"]}`, ""},
		{"application/json", `["generateName"]`, ""},
		{"application/json", ``, ""},
		{"application/json", `{"spec":{}}`, ""},
		{"application/json", `{"spec":{`, ""},
		{"text/plain", generated + `}}`, ""},
		{"application/json; charset", generated + `}}`, ""},
		{"application/json, text/plain", generated + `}}`, ""},
		{"application/json", generated + `,"generateName":"b-"}}`, Duplicate},
		{"application/json", generated + `},"data":{"k":"a","k":"b"}}`, Duplicate},
		{"application/json", generated + `},"data":{"k":"a","\u006b":"b"}}`, Duplicate},
		{"application/json", generated + "},\"data\":\"\xff\"}", InvalidUTF8},
		{"application/json", generated + `},"data":"\ud800"}`, Unreadable},
		{"application/json", generated + `}`, Unreadable},
		{"application/json", generated + `}}{}`, Unreadable},
		{"application/yaml", "metadata: {generateName: a-, generateName: b-}", Unreadable},
		{"application/yaml", "metadata: {generateName: a-", Unreadable},
		{"application/cbor", "\xd9\xd9\xf7\xa1hmetadata\xa1lgenerateNamebb-", CBOR},
		{"application/cbor", "\xd9\xd9\xf7\xa1hmetadata\xa1dnameaa", ""},
		{protobufType, "generateName", Unreadable},
		{protobufType, "k8s\x00generateName", Unreadable},
	} {
		if read, why := bodyOf(headerOf(test.contentType), []byte(test.data)); read != nil || why != test.want {
			t.Errorf("%s %s: %v, %q, want %q", test.contentType, test.data, read, why, test.want)
		}
	}
}

func TestYAML(t *testing.T) {
	read, why := bodyOf(headerOf("application/yaml"), []byte("metadata:\n  generateName: a-\ndata: {k: '1'}\n"))
	if read == nil || why != "" {
		t.Fatalf("read %v, %q, want a create", read, why)
	}
	got := insertInto(read)
	want := `{"data":{"k":"1"},"metadata":{"generateName":"a-","name":"N","annotations":{"genname.dev/creation-id":"ID"}}}`
	if string(got) != want || read.contentType != "application/json" {
		t.Errorf("%s, want %s", got, want)
	}
}

// Two equal JSON values have the same fingerprint. The fingerprint covers all digits of a number.
func TestFingerprint(t *testing.T) {
	prints := map[[sha256.Size]byte][]string{}
	for _, data := range []string{
		`{"metadata":{"generateName":"a-"},"n":[9007199254740993]}`,
		` { "n":[9007199254740993], "metadata":{"generate\u004eame":"a-"} }`,
		`{"metadata":{"generateName":"a-"},"n":[9007199254740992]}`,
		`{"metadata":{"generateName":"a-"},"n":[9007199254740993,1]}`,
	} {
		read, _ := bodyOf(http.Header{}, []byte(data))
		prints[read.fingerprint] = append(prints[read.fingerprint], data)
	}
	if len(prints) != 3 {
		t.Errorf("%d different fingerprints, want 3: %v", len(prints), prints)
	}
}

var protobufs = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

func encodeProtobuf(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := protobufs.Encode(object, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// For each Kubernetes type, the protobuf decoder merges the inserted field with the metadata of the client.
func TestInsertProtobuf(t *testing.T) {
	for kind := range scheme.Scheme.AllKnownTypes() {
		object, err := scheme.Scheme.New(kind)
		if err != nil {
			t.Fatal(err)
		}
		accessor, err := meta.Accessor(object)
		if err != nil || strings.HasSuffix(kind.Kind, "List") {
			continue // no object with metadata
		}
		if _, known := reflect.TypeOf(object).Elem().FieldByName("ObjectMeta"); !known {
			continue
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		accessor.SetGenerateName("a-")
		accessor.SetNamespace("ns")
		accessor.SetAnnotations(map[string]string{"b": "c", exactlyonce.Annotation: "copied"})
		read, why := bodyOf(headerOf(protobufType), encodeProtobuf(t, object))
		if read == nil || read.kind != kind.Kind || read.apiVersion != kind.GroupVersion().String() || read.namespace != "ns" {
			t.Fatalf("%s: read %+v, %q, want a create of this type in ns", kind, read, why)
		}
		inserted := insertInto(read)
		got, _, err := protobufs.Decode(inserted, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		accessor.SetName("N")
		accessor.SetAnnotations(map[string]string{"b": "c", exactlyonce.Annotation: "ID"})
		object.GetObjectKind().SetGroupVersionKind(kind)
		got.GetObjectKind().SetGroupVersionKind(kind)
		if diff := cmp.Diff(object, got); diff != "" {
			t.Errorf("%s:\n%s", kind, diff)
		}
	}
}

// The object and its envelope keep the fields that this program doesn't know.
func TestProtobufOfANewerClient(t *testing.T) {
	data := encodeProtobuf(t, &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"},
	})
	newer := appendText(data, 999, "in the envelope")
	read, _ := protobufBody(newer)
	if inserted := insertInto(read); !bytes.Contains(inserted, []byte("in the envelope")) {
		t.Errorf("%q, want the unknown field of the envelope", inserted)
	}
	var names []string
	for _, name := range []string{"b", ""} { // the last value of a field counts, also an empty one
		object := appendText(appendText(nil, metaGenerateName, "a-"), metaName, "x")
		object = appendText(appendText(nil, objectMetadata, string(object)), objectMetadata, string(appendText(nil, metaName, name)))
		last, _ := protobufBody(appendText(bytes.Clone(magic), unknownRaw, string(object)))
		names = append(names, last.name)
	}
	if !slices.Equal(names, []string{"b", ""}) {
		t.Errorf("names %q, want b and an empty one", names)
	}
}

// The proxy either refuses a body, or changes only its name and its creation ID.
func FuzzBody(f *testing.F) {
	f.Add("application/json", []byte(`{"metadata":{"generateName":"a-","annotations":{"b":"c"}},"n":1.0}`))
	f.Add("application/yaml", []byte("metadata: {generateName: a-}"))
	f.Add(protobufType, append(bytes.Clone(magic), inserted("", exactlyonce.ID{}, nil)...))
	f.Fuzz(func(t *testing.T, contentType string, data []byte) {
		read, _ := bodyOf(headerOf(contentType), data)
		if read == nil {
			return
		}
		sent := insertInto(read)
		again, why := bodyOf(headerOf(read.contentType), sent)
		if again != nil || why != "" {
			t.Fatalf("%q is a create with a generateName and no name: %q", sent, why)
		}
		if read.contentType != "application/json" {
			return
		}
		var before, after map[string]any
		if !json.Valid(data) {
			data, _ = yaml.YAMLToJSON(data) // bodyOf has converted it
		}
		if json.Unmarshal(data, &before) != nil {
			return // a number out of the range of Go
		}
		if err := json.Unmarshal(sent, &after); err != nil {
			t.Fatal(err)
		}
		metadata := after["metadata"].(map[string]any)
		annotations := metadata["annotations"].(map[string]any)
		if metadata["name"] != "N" || annotations[exactlyonce.Annotation] != "ID" {
			t.Fatalf("sent %s, want the name N and the annotation ID", sent)
		}
		for _, object := range []map[string]any{before, after} {
			metadata := object["metadata"].(map[string]any)
			annotations, _ := metadata["annotations"].(map[string]any)
			delete(annotations, exactlyonce.Annotation)
			if delete(metadata, "name"); len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatal(diff)
		}
	})
}

package exactlyonce

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// anyValue draws JSON values, including text that the encoder escapes.
func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.Map(rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\<&>\u2028\n/é"))), func(s string) any { return s })
	kinds := []*rapid.Generator[any]{
		text,
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(fieldName, anyValue(depth-1), 0, 4), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(kinds...)
}

// fieldName draws names that come before, between and after those that are set.
var fieldName = rapid.SampledFrom([]string{
	"a", "annotations", "b", "labels", "metadata", "name", "namespace", "spec", "template", "z", "<&>",
	Annotation, "genname.dev/creation", "genname.dev/zzz", RunLabel,
})

// drawObject draws an object without a name, that can carry a creation ID.
func drawObject(t *rapid.T) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: rapid.MapOfN(fieldName, anyValue(3), 0, 6).Draw(t, "object")}
	metadata := rapid.MapOfN(fieldName, anyValue(2), 0, 6).Draw(t, "metadata")
	object.Object["metadata"] = metadata
	delete(metadata, "name")
	metadata["generateName"] = rapid.SampledFrom([]string{"p-", `p"<&>\-`, strings.Repeat("é", 40)}).Draw(t, "generateName")
	for _, field := range []string{"labels", "annotations"} {
		if _, ok := metadata[field].(map[string]any); !ok {
			delete(metadata, field)
		}
	}
	object.SetAPIVersion("batch/v1")
	object.SetKind("Job") // the labels of its template are its own, if it has none
	if !CanCarry(object) {
		t.Fatal("the test draws what can't carry a creation ID")
	}
	return object
}

func drawID(t *rapid.T) ID {
	id := NewID()
	id.Creation = rapid.SampledFrom([]string{id.Creation, "v1-<&>", `"`}).Draw(t, "creation")
	id.Run = rapid.SampledFrom([]string{"", "v1-run", "v1-<other>"}).Draw(t, "run")
	return id
}

// A template encodes an object to the same bytes as the encoder does without it. The
// order of runs and names doesn't matter. The object doesn't change.
func TestTemplateEncodesAsWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := drawObject(t)
		given, template := object.DeepCopy(), NewTemplate(object)
		for range rapid.IntRange(1, 4).Draw(t, "creates") {
			id := drawID(t)
			name := rapid.SampledFrom([]string{"p-x4k2z", `p"<&>\-x4k2z`, "é\u2028"}).Draw(t, "name")
			want, _, err := encoderOf((&request{id: id, mapping: &meta.RESTMapping{}}).stamped(object))(id, name)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := template.Encode(id, name)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("with a template, %v:\n%s\nwithout:\n%s", err, got, want)
			}
		}
		before, err1 := given.MarshalJSON()
		after, err2 := object.MarshalJSON()
		if err1 != nil || err2 != nil || !bytes.Equal(before, after) {
			t.Fatalf("what was given became %s, %v, %v", after, err1, err2)
		}
	})
}

// translated makes a server of JSON one of protobuf. It records the requests.
type translated struct {
	below http.RoundTripper
	asked []*http.Request
}

func (p *translated) RoundTrip(req *http.Request) (*http.Response, error) {
	p.asked = append(p.asked, req)
	json := req.Clone(req.Context())
	json.Header.Set("Accept", runtime.ContentTypeJSON)
	if req.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		body, err := translate(req.Body, runtime.ContentTypeJSON)
		if err != nil {
			return nil, err
		}
		json.Body, json.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		json.Header.Set("Content-Type", runtime.ContentTypeJSON)
	}
	resp, err := p.below.RoundTrip(json)
	if err != nil {
		return nil, err
	}
	body, err := translate(resp.Body, runtime.ContentTypeProtobuf)
	if err != nil { // a page
		return resp, nil //nolint:nilerr // its body was read
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Type", runtime.ContentTypeProtobuf)
	return resp, nil
}

func translate(from io.Reader, mediaType string) ([]byte, error) {
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	return runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, kind.GroupVersion()), object)
}

// typed encodes a typed ConfigMap, as a client of client-go does.
func typed(id ID, name string) ([]byte, string, error) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: name, GenerateName: "p-", Namespace: "ns", Annotations: map[string]string{Annotation: id.Creation},
	}, Data: map[string]string{"field": "kept"}}
	object.SetGroupVersionKind(configMapKind.WithVersion("v1"))
	body, err := json.Marshal(object)
	if err == nil {
		body, err = translate(bytes.NewReader(body), runtime.ContentTypeProtobuf)
	}
	return body, runtime.ContentTypeProtobuf, err
}

// An object that another program encodes is created once. Its requests have the program's headers and parameters, and
// the result has the server's response.
func TestEncoder(t *testing.T) {
	header := http.Header{
		"User-Agent": {"theirs/1"}, "Impersonate-Group": {"a", "b"}, "Accept": {runtime.ContentTypeProtobuf},
	}
	described := configMapObject()
	described.SetGenerateName("p-")
	for name, test := range map[string]struct {
		first  oncetest.Fault
		status int // of the kept response, 0 for none
		want   error
	}{
		"stored":   {nil, http.StatusCreated, nil},
		"lost":     {oncetest.DropResponse, http.StatusOK, nil},
		"rejected": {badField, http.StatusUnprocessableEntity, ErrRefused},
		"denied":   {oncetest.WebhookDenied, http.StatusForbidden, ErrRefused},
		"unknown":  {oncetest.AfterStore(oncetest.Respond(http.StatusBadGateway, "text/html", "<html>")), 0, errUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			server, began := oncetest.NewServer(), time.Now()
			server.Next("create", "*", test.first)
			if test.want == errUnknown { //nolint:errorlint // a case of the table
				server.Always("get", "*", oncetest.DropRequest)
			}
			config, below := server.Config(), &translated{below: server}
			config.Transport = below
			r, err := creatorFor(t, config).Create(t.Context(), configMapMapping, described, NewID(), WithEncoder(typed),
				WithHeader(header), WithParameters(url.Values{"fieldManager": {"theirs"}, "pretty": {"true"}}),
				WithResponses(), WithoutRechecks(), WithRetryTimeout(0))
			if !ends(r, err, test.want) || time.Since(began) > time.Second {
				t.Fatalf("%+v, %v after %s", r, err, time.Since(began))
			}
			if kept := r.Response; test.status > 0 && (kept == nil || kept.Status != test.status || !bytes.HasPrefix(kept.Body, protobufMagic)) ||
				test.status == 0 && kept != nil {
				t.Errorf("the kept response is %+v", kept)
			}
			for _, req := range below.asked {
				for key, want := range header {
					if got := req.Header.Values(key); !slices.Equal(got, want) {
						t.Errorf("%s %s has %s: %q", req.Method, req.URL, key, got)
					}
				}
				if req.Method == http.MethodPost && req.URL.RawQuery != "fieldManager=theirs&pretty=true" {
					t.Errorf("POST %s", req.URL)
				}
			}
			if objects := server.Objects(); test.want == nil && (len(objects) != 1 || objects[0].GetName() != r.Object.GetName() ||
				objects[0].Object["data"].(map[string]any)["field"] != "kept") {
				t.Errorf("result %+v, objects %v, want one object, the result, with its field kept", r.Object, objects)
			}
		})
	}
}

// A create goes on under the name at which an earlier create with the ID ended as unknown, also if other names are free.
func TestCreateAgainAtAName(t *testing.T) {
	server, id := oncetest.NewServer(), NewID()
	taken := configMap()
	taken.SetName(id.Name("p-", 0))
	taken.SetAnnotations(map[string]string{Annotation: NewID().Creation})
	server.Put(taken)
	server.Func(func(r *oncetest.Request) oncetest.Fault {
		switch {
		case r.Name == taken.GetName():
			return nil
		case r.Verb == "create":
			return oncetest.DropResponse
		}
		return oncetest.DropRequest
	})
	c := creatorFor(t, server.Config(), WithRetryTimeout(100*time.Millisecond))
	r, err := c.Create(t.Context(), configMapMapping, configMap(), id)
	if err == nil || r.Outcome != protocol.Unknown || r.Name != id.Name("p-", 1) {
		t.Fatalf("%v of %q, want an error, and unknown of %q: %v", r.Outcome, r.Name, id.Name("p-", 1), err)
	}
	server.Clear()
	server.Remove(taken)
	again, err := c.Create(t.Context(), configMapMapping, configMap(), id.At(r.Name))
	if err != nil || again.Outcome != protocol.Found || again.Name != r.Name || len(server.Objects()) != 1 {
		t.Errorf("%v of %q, want found of %q, and 1 object: %v: %v", again.Outcome, again.Name, r.Name, err, server.Requests())
	}
}

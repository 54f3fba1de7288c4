package exactlyonce

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

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
			synctest.Test(t, func(t *testing.T) {
				server, began := oncetest.NewServer(), time.Now()
				server.Next("create", "*", test.first)
				if test.want == errUnknown { //nolint:errorlint // a case of the table
					server.Always("get", "*", oncetest.DropRequest)
				}
				config, below := server.Config(), &translated{below: server}
				config.Transport = below
				r, err := creatorFor(t, config).Creator.Create(t.Context(), configMapMapping, described, NewID(), Settings{
					Encode: typed, Header: header, Parameters: url.Values{"fieldManager": {"theirs"}, "pretty": {"true"}},
					Responses: true, TrustRefusals: true,
				})
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
		})
	}
}

// A create goes on under the name at which an earlier create with the ID ended as unknown, also if other names are free.
func TestCreateAgainAtAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		c := creatorFor(t, server.Config(), func(s *Settings) { s.RetryTimeout = 100 * time.Millisecond })
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
	})
}

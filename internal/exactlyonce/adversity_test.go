package exactlyonce

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// changed responses with the object that a create sent, after a change.
func changed(code int, change func(*unstructured.Unstructured)) oncetest.Fault {
	return func(r *oncetest.Request) (*http.Response, error) {
		other := &unstructured.Unstructured{Object: map[string]any{}}
		if r.Object != nil {
			other = r.Object.DeepCopy()
		}
		change(other)
		body, err := json.Marshal(other.Object)
		if err != nil {
			return nil, err
		}
		return oncetest.Respond(code, "application/json", string(body))(r)
	}
}

func anotherName(o *unstructured.Unstructured) {
	o.SetName("other")
	o.SetGenerateName("")
	o.SetAnnotations(nil)
}

// otherResponses are responses to another request, after one that was carried
// out.
var otherResponses = map[string]oncetest.Fault{
	"201 of another name":       changed(http.StatusCreated, anotherName),
	"201 of another creation":   changed(http.StatusCreated, func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{Annotation: "v1-theirs"}) }),
	"201 of another kind":       changed(http.StatusCreated, func(o *unstructured.Unstructured) { o.SetKind("Secret") }),
	"201 of another API group":  changed(http.StatusCreated, func(o *unstructured.Unstructured) { o.SetAPIVersion("example.com/v1") }),
	"201 of another namespace":  changed(http.StatusCreated, func(o *unstructured.Unstructured) { o.SetNamespace("elsewhere") }),
	"409 of another name":       oncetest.Refuse(apierrors.NewAlreadyExists(configMaps, "other")),
	"404 of another name":       oncetest.Refuse(apierrors.NewNotFound(configMaps, "other")),
	"404 of another namespace":  oncetest.Refuse(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "elsewhere")),
	"403 of another name":       oncetest.Refuse(apierrors.NewForbidden(configMaps, "other", errors.New("violates PodSecurity \"x\""))),
	"422 of another name":       oncetest.Refuse(apierrors.NewInvalid(configMapKind, "other", field.ErrorList{field.Required(field.NewPath("data"), "")})),
	"409 Conflict of another":   oncetest.Refuse(apierrors.NewConflict(configMaps, "other", errors.New("modified"))),
	"a webhook's no to another": oncetest.Refuse(webhooksNo("other")),
}

func webhooksNo(name string) *apierrors.StatusError {
	err := apierrors.NewForbidden(configMaps, name, errors.New("x"))
	err.ErrStatus.Message = `admission webhook "a.b.c" denied the request: no`
	return err
}

// A response that names another object is a lost response: the object that was
// sent is there, and is found.
func TestResponseOfAnotherRequest(t *testing.T) {
	for name, response := range otherResponses {
		for _, generated := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, generated %v", name, generated), func(t *testing.T) {
				server := oncetest.NewServer()
				server.Next("create", "*", oncetest.AfterStore(response))
				object := configMap()
				if !generated {
					object.SetName("mine")
				}
				r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, NewID())
				if err != nil || r.Outcome != Created || r.Object.GetName() != only(t, server).GetName() || asked(server, "create") != 1 {
					t.Errorf("%+v, %v, %v", r, err, server.Requests())
				}
			})
		}
	}
}

// refusals are those of otherResponses that may be about the object itself: a server reads an
// object that ours refers to, and returns the error of its read.
var refusals = []string{"404 of another name", "404 of another namespace", "a webhook's no to another"}

// A 404 or a denial of admission is a refusal, also if it names another object.
func TestRefusalThatNamesAnotherObject(t *testing.T) {
	for _, name := range refusals {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			server.Always("create", "*", otherResponses[name])
			r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), NewID())
			if !errors.Is(err, ErrRefused) || asked(server, "create") != 1 {
				t.Errorf("%s: %+v, %v, %v", name, r, err, server.Requests())
			}
		})
	}
}

// An object with our creation ID and another name shows that something picks names, also if the first response is a
// conflict. The error has the object's name.
func TestRenamedAfterALostResponse(t *testing.T) {
	server := oncetest.NewServer()
	picked := rename("picked")
	server.Next("create", "*", oncetest.Mutate(func(o *unstructured.Unstructured) { o.SetName("picked") }, oncetest.DropResponse), picked, picked)
	r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), Derive(Derivation{Creation: "v1-x"}))
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrRenamed) || r.Object.GetName() != "picked" || only(t, server).GetName() != "picked" {
		t.Errorf("%+v, %v, %v", r, err, server.Requests())
	}
}

// The response to a GET can belong to another request, too.
func TestReadResponseOfAnotherRequest(t *testing.T) {
	other := func(change func(*unstructured.Unstructured)) oncetest.Fault {
		return func(r *oncetest.Request) (*http.Response, error) {
			resp, err := r.Send()
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(resp.Body)
			o := &unstructured.Unstructured{}
			if err = errors.Join(err, o.UnmarshalJSON(body)); err != nil {
				return nil, err
			}
			change(o)
			if body, err = json.Marshal(o.Object); err != nil {
				return nil, err
			}
			return oncetest.Respond(http.StatusOK, "application/json", string(body))(r)
		}
	}
	for name, response := range map[string]oncetest.Fault{
		"404 of another name": oncetest.Refuse(apierrors.NewNotFound(configMaps, "other")),
		"403 of another name": oncetest.Refuse(apierrors.NewForbidden(configMaps, "other", errors.New("no"))),
		"200 of another name": other(anotherName),
		"200 of another kind": other(func(o *unstructured.Unstructured) {
			o.SetKind("Secret")
			o.SetAnnotations(map[string]string{Annotation: "v1-x"})
		}),
		"200 of another namespace": other(func(o *unstructured.Unstructured) {
			o.SetNamespace("x")
			o.SetAnnotations(map[string]string{Annotation: "v1-x"})
		}),
	} {
		server := oncetest.NewServer()
		server.Next("create", "*", oncetest.SendTwice)
		server.Next("get", "*", response)
		r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), NewID())
		if err != nil || r.Outcome != Created || r.Unverified || r.Object.GetName() != only(t, server).GetName() {
			t.Errorf("%s: %+v, %v, %v", name, r, err, server.Requests())
		}
	}
}

// An object without a creation ID can't be recognized. So a response that names another namespace or fixed name is a
// lost response. Some APIs respond with another type.
func TestResponseOfAnotherRequestUntracked(t *testing.T) {
	for name, response := range otherResponses {
		for _, generated := range []bool{true, false} {
			object := configMap()
			if !generated {
				object.SetName("mine")
			}
			server := oncetest.NewServer()
			server.Next("create", "*", oncetest.AfterStore(response))
			_, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, Untracked())
			switch {
			case name == "201 of another creation", // nothing shows that it is another's
				name == "201 of another kind", name == "201 of another API group": // as of a ProjectRequest
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case name[:3] == "201", name == "409 of another name":
				if !errors.Is(err, ErrUnknown) {
					t.Errorf("%s: %v", name, err)
				}
			default: // as kubectl
				if !apierrors.IsAlreadyExists(err) && !errors.Is(err, ErrRefused) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// ofAPIServer adds the header that kube-apiserver sets in every response.
func ofAPIServer(response oncetest.Fault) oncetest.Fault {
	return withHeader(response, "Audit-Id", "6f2c9a3e-0001-4000-8000-000000000000")
}

const pageNotFound = "404 page not found\n"

// A type that is no longer served, and an object that etcd never takes, are
// refusals: one POST and one GET. The same text of a proxy proves nothing.
func TestRefusedAtOnce(t *testing.T) {
	gone := ofAPIServer(oncetest.Respond(http.StatusNotFound, "text/plain; charset=utf-8", pageNotFound))
	too := func(message string) oncetest.Fault {
		return oncetest.Refuse(&apierrors.StatusError{ErrStatus: statusOf(500, message)})
	}
	for name, test := range map[string]struct {
		post, get oncetest.Fault
		want      error
	}{
		"type gone":                    {gone, gone, ErrRefused},
		"too large for etcd":           {too("etcdserver: request is too large"), nil, ErrRefused},
		"too large for etcd's client":  {too("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097267 vs. 2097152)"), nil, ErrRefused},
		"a proxy's 404":                {oncetest.Respond(404, "text/plain; charset=utf-8", pageNotFound), oncetest.Respond(404, "text/plain; charset=utf-8", pageNotFound), ErrUnknown},
		"a page in the server's name":  {ofAPIServer(page(404)), ofAPIServer(page(404)), ErrUnknown},
		"a timeout of etcd is no such": {too("etcdserver: request timed out"), oncetest.DropRequest, ErrUnknown},
		"exhausted somewhere else":     {too("rpc error: code = ResourceExhausted desc = etcdserver: throttle: too many requests"), oncetest.DropRequest, ErrUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			server.Func(func(r *oncetest.Request) oncetest.Fault {
				return map[string]oncetest.Fault{"create": test.post, "get": test.get}[r.Verb]
			})
			start := time.Now()
			_, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), NewID())
			quick := time.Since(start) == 0 && asked(server, "create") == 1 && asked(server, "get") == 1
			if !errors.Is(err, test.want) || quick != errors.Is(test.want, ErrRefused) {
				t.Errorf("%s: %v after %s, %v", name, err, time.Since(start), server.Requests())
			}
		})
	}
}

// A POST that waits for the client's rate limiter when the user interrupts is
// not sent, nor is one that waits for a credential.
func TestNothingIsSentAfterTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		config := server.Config()
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(0.5, 1)
		c := creatorFor(t, config)
		if _, err := c.Create(t.Context(), configMapMapping, configMap(), NewID()); err != nil {
			t.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		start := time.Now()
		_, err := c.Create(ctx, configMapMapping, configMap(), NewID())
		if !errors.Is(err, ErrInterrupted) || asked(server, "create") != 1 || time.Since(start) != time.Second {
			t.Errorf("%v after %s, %d POSTs", err, time.Since(start), asked(server, "create"))
		}
	})
}

// slowCredential waits before it passes a request on.
type slowCredential struct{ http.RoundTripper }

func (s slowCredential) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(2 * time.Second)
	return s.RoundTripper.RoundTrip(req)
}

func TestNothingIsSentAfterASlowCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := oncetest.NewServer()
		config := server.Config()
		config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return slowCredential{rt} })
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		_, err := creatorFor(t, config).Create(ctx, configMapMapping, configMap(), NewID())
		if !errors.Is(err, ErrInterrupted) || asked(server, "create") != 0 {
			t.Errorf("%v, %d POSTs", err, asked(server, "create"))
		}
	})
}

// A transport that does not call the one it wraps hides whether a request was sent.
// Its responses count as responses. Its errors count as lost responses.
func TestTransportThatPassesBy(t *testing.T) {
	for name, test := range map[string]struct {
		post oncetest.Fault
		want error
	}{
		"stored":           {nil, nil},
		"lost":             {oncetest.DropResponse, nil},
		"refused":          {oncetest.AfterStore(badField), nil},
		"lost permanently": {oncetest.DropResponse, ErrUnknown},
	} {
		server := oncetest.NewServer()
		config := &rest.Config{Host: server.Config().Host, QPS: -1, ContentConfig: server.Config().ContentConfig}
		config.Wrap(func(http.RoundTripper) http.RoundTripper { return server })
		server.Func(func(r *oncetest.Request) oncetest.Fault {
			switch {
			case r.Verb == "create":
				return test.post
			case test.want != nil:
				return oncetest.DropRequest
			}
			return nil
		})
		r, err := creatorFor(t, config, WithRetryTimeout(0)).Create(t.Context(), configMapMapping, configMap(), NewID())
		if !errors.Is(err, test.want) || len(server.Objects()) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	theirs := oncetest.NewServer() // a conflict is one
	config := &rest.Config{Host: theirs.Config().Host, QPS: -1, ContentConfig: theirs.Config().ContentConfig}
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return theirs })
	held := configMapObject()
	held.SetName("mine")
	theirs.Put(held)
	named := configMap()
	named.SetName("mine")
	if _, err := creatorFor(t, config).Create(t.Context(), configMapMapping, named, NewID()); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
}

// A credential plugin that fails sends nothing.
func TestTransportThatFailsBefore(t *testing.T) {
	config := oncetest.NewServer().Config()
	config.Transport = nil
	config.Host = "http://127.0.0.1:1"
	c := creatorFor(t, config, WithRetryTimeout(0))
	if _, err := c.Create(t.Context(), configMapMapping, configMap(), NewID()); !errors.Is(err, ErrExhausted) {
		t.Error(err)
	}
}

// A Retry-After that is beyond the range of durations is a long pause.
func TestRetryAfterBeyondTime(t *testing.T) {
	for _, seconds := range []string{"9223372036854775807", "9223372037", "99999999999999999999", "-9223372036854775808"} {
		server := oncetest.NewServer()
		server.Next("create", "*", withHeader(text(http.StatusTooManyRequests), "Retry-After", seconds))
		_, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), NewID())
		endless := seconds[:2] == "92"
		if endless != errors.Is(err, ErrExhausted) || asked(server, "create") != map[bool]int{true: 1, false: 2}[endless] {
			t.Errorf("%s: %v after %d POSTs", seconds, err, asked(server, "create"))
		}
	}
}

func TestErrorWithoutACause(t *testing.T) {
	for want, err := range map[string]*Error{
		"outcome unknown":     {Kind: ErrUnknown},
		"outcome unknown: no": {Kind: ErrUnknown, Cause: errors.New("no")},
		"no":                  {Cause: errors.New("no")},
		"":                    {},
	} {
		if got := err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if errors.Is(err, ErrTaken) {
			t.Error("it is another error")
		}
	}
}

// A review isn't stored, and its response has no name. So the response isn't about another object.
func TestResponseWithoutAName(t *testing.T) {
	for _, name := range []string{"", "mine"} {
		server := oncetest.NewServer()
		server.Next("create", "*", changed(http.StatusCreated, func(o *unstructured.Unstructured) { o.SetName("") }))
		object := configMap()
		object.SetName(name)
		if r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, Untracked()); err != nil || r.Outcome != Created {
			t.Errorf("%q: %+v, %v", name, r, err)
		}
	}
}

// The certificate of the server is not trusted, so nothing is sent, and nothing is retried.
func TestCertificateThatIsNotTrusted(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	creator := creatorFor(t, &rest.Config{Host: server.URL})
	_, err := creator.Create(t.Context(), configMapMapping, configMap(), NewID())
	if !errors.Is(err, ErrRefused) || !errors.As(err, new(*tls.CertificateVerificationError)) {
		t.Error(err)
	}
}

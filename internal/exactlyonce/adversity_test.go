package exactlyonce

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// changed responses with the object that a create sent, after a change.
func changed(change func(*unstructured.Unstructured)) oncetest.Fault {
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
		return oncetest.Respond(http.StatusCreated, "application/json", string(body))(r)
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
	"201 of another name":      changed(anotherName),
	"201 of another creation":  changed(func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{Annotation: "v1-theirs"}) }),
	"201 of another kind":      changed(func(o *unstructured.Unstructured) { o.SetKind("Secret") }),
	"201 of another API group": changed(func(o *unstructured.Unstructured) { o.SetAPIVersion("example.com/v1") }),
	"201 of another namespace": changed(func(o *unstructured.Unstructured) { o.SetNamespace("elsewhere") }),
	"409 of another name":      oncetest.Refuse(apierrors.NewAlreadyExists(configMaps, "other")),
	"404 of another name":      oncetest.Refuse(apierrors.NewNotFound(configMaps, "other")),
	"404 of another namespace": oncetest.Refuse(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "elsewhere")),
	"403 of another name":      oncetest.Refuse(apierrors.NewForbidden(configMaps, "other", errors.New("violates PodSecurity \"x\""))),
	"422 of another name":      oncetest.Refuse(apierrors.NewInvalid(configMapKind, "other", field.ErrorList{field.Required(field.NewPath("data"), "")})),
	"409 Conflict of another":  oncetest.Refuse(apierrors.NewConflict(configMaps, "other", errors.New("modified"))),
	"a webhook's no to another": oncetest.Refuse(&apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: `admission webhook "a.b.c" denied the request: no`, Details: &metav1.StatusDetails{Kind: "configmaps", Name: "other"},
	}}),
}

// Without a creation ID, the object of a lost response can't be found. A response that names another object counts as with
// kubectl, if it doesn't name another object of the type. docs/spec/findings.json has the responses to an object with an ID.
func TestResponseOfAnotherRequest(t *testing.T) {
	others := map[string]error{
		"201 of another name": errUnknown, "201 of another namespace": errUnknown, "409 of another name": errUnknown,
		"201 of another creation": nil, "201 of another kind": nil, "201 of another API group": nil, // as of a ProjectRequest
	}
	for what, response := range otherResponses {
		for _, name := range []string{"", "mine"} {
			object, server := configMap(), oncetest.NewServer()
			object.SetName(name)
			server.Next("create", "*", oncetest.AfterStore(response))
			r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, Untracked())
			want, special := others[what]
			if !special {
				want = ErrRefused
			}
			if !ends(r, err, want) {
				t.Errorf("%s, named %q: %v, want %v", what, name, err, want)
			}
		}
	}
}

// A review is stored nowhere: its response has no name, and names no other object. The response to a Binding is a Status.
func TestResponseWithoutAName(t *testing.T) {
	status := func(status string) oncetest.Fault {
		return oncetest.Respond(http.StatusCreated, "application/json", `{"kind":"Status","apiVersion":"v1","status":"`+status+`"}`)
	}
	for name, test := range map[string]struct {
		response oncetest.Fault
		want     error
	}{
		"a review":                  {changed(func(o *unstructured.Unstructured) { o.SetName("") }), nil},
		"a Status":                  {status(metav1.StatusSuccess), nil},
		"a Status that isn't clear": {status(""), errUnknown},
	} {
		server := oncetest.NewServer()
		server.Next("create", "*", test.response)
		if r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), Untracked()); !ends(r, err, test.want) {
			t.Errorf("%s: %v, %v, want %v", name, r.Outcome, err, test.want)
		}
	}
}

// slow is a credential plugin that takes its time before it passes a request on.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(2 * time.Second)
	return s.RoundTripper.RoundTrip(req)
}

// A POST that waits for the client's rate limiter or for a credential when the user interrupts is not sent.
func TestNothingIsSentAfterAnInterrupt(t *testing.T) {
	for ends, delay := range map[time.Duration]func(*rest.Config){
		time.Second: func(c *rest.Config) {
			c.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(0.5, 1)
			c.RateLimiter.TryAccept()
		},
		2 * time.Second: func(c *rest.Config) { c.Wrap(func(rt http.RoundTripper) http.RoundTripper { return slow{rt} }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			server, start := oncetest.NewServer(), time.Now()
			config := server.Config()
			delay(config)
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, interrupt)
			sent := func(s *Settings) { s.OnPost = func(name string) { t.Errorf("%s was sent", name) } }
			_, err := creatorFor(t, config, sent).Create(ctx, configMapMapping, configMap(), NewID())
			if !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.Canceled) || len(server.Requests()) > 0 || time.Since(start) != ends {
				t.Errorf("%v after %s, %v", err, time.Since(start), server.Requests())
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
	if r.Outcome != protocol.Unknown || !errors.Is(err, ErrRenamed) || r.Object.GetName() != "picked" || only(t, server).GetName() != "picked" {
		t.Errorf("%v, %v, object %v, want unknown, ErrRenamed and picked: %v", r.Outcome, err, r.Object, server.Requests())
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

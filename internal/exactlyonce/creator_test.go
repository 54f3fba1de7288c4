package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// These tests check the requests of a Creator, and how it reads responses. The tests
// in test/e2e check the behavior on a real server.

// asked returns the number of requests with the verb.
func asked(server *oncetest.Server, verb string) (times int) {
	for _, r := range server.Requests() {
		if r.Verb == verb {
			times++
		}
	}
	return times
}

var configMaps = schema.GroupResource{Resource: "configmaps"}

// always has every request for objects meet the fault.
func always(fault oncetest.Fault) *oncetest.Server {
	server := oncetest.NewServer()
	server.Func(func(r *oncetest.Request) oncetest.Fault {
		if r.Verb == "" {
			return nil
		}
		return fault
	})
	return server
}

// withHeader responses as fault does, and with a header.
func withHeader(fault oncetest.Fault, key, value string) oncetest.Fault {
	return func(r *oncetest.Request) (*http.Response, error) {
		resp, err := fault(r)
		if err == nil {
			resp.Header.Set(key, value)
		}
		return resp, err
	}
}

// fixed is a Creator with settings for all creates.
type fixed struct {
	*Creator
	settings Settings
}

func (f fixed) Create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID) (Result, error) {
	return f.Creator.Create(ctx, mapping, object, id, f.settings)
}

func creatorFor(t *testing.T, config *rest.Config, options ...option) fixed {
	t.Helper()
	c, err := NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return fixed{c, settingsOf(10*time.Second, options...)}
}

func configMap() *unstructured.Unstructured {
	object := configMapObject()
	object.SetGenerateName("p-")
	object.Object["data"] = map[string]any{"key": "a"}
	return object
}

// Create returns the server's object. It doesn't change the object that it was given.
func TestCreate(t *testing.T) {
	server := oncetest.NewServer()
	object := configMap()
	result, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, NewID())
	if err != nil || result.Outcome != protocol.Created || asked(server, "create") != 1 || asked(server, "get") != 0 {
		t.Fatalf("%v, want created after 1 create and no get: %v, %v", result.Outcome, err, server.Requests())
	}
	if prefix, _, ok := names.Split(result.Name); !ok || prefix != "p-" {
		t.Errorf("its name is %q", result.Name)
	}
	if diff := cmp.Diff(only(t, server), result.Object); diff != "" {
		t.Errorf("(-server +result):\n%s", diff)
	}
	if diff := cmp.Diff(configMap(), object); diff != "" {
		t.Errorf("Create changed the object (-want +got):\n%s", diff)
	}
}

// Over a network, too, a POST that certainly was not sent doesn't put the object in doubt.
func TestOverANetwork(t *testing.T) {
	server := oncetest.NewServer()
	network := httptest.NewServer(server)
	defer network.Close()
	config := server.Config()
	config.Host, config.Transport = network.URL, nil
	var sent []string
	c := creatorFor(t, config, func(s *Settings) {
		s.RetryTimeout, s.OnPost = 0, func(name string) { sent = append(sent, name) }
	})
	server.Next("create", "*", oncetest.DropResponse)
	if r, err := c.Create(t.Context(), configMapMapping, configMap(), NewID()); err != nil || r.Outcome != protocol.Created || asked(server, "create") != 1 || len(sent) != 1 || sent[0] != r.Name {
		t.Errorf("%+v, %v; sent %q", r, err, sent)
	}
	network.Close()
	if r, err := c.Create(t.Context(), configMapMapping, configMap(), NewID()); !errors.Is(err, ErrExhausted) || len(sent) != 1 {
		t.Errorf("%+v, %v; sent %q", r, err, sent)
	}
}

// A redirect of a POST is a lost response: it isn't followed, and the object is read.
func TestRedirect(t *testing.T) {
	for _, code := range []int{http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := oncetest.NewServer()
		to := server.Config().Host + "/api/v1/namespaces/ns/configmaps"
		server.Next("create", "*", oncetest.AfterStore(withHeader(text(code), "Location", to)))
		result, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), NewID())
		if err != nil || result.Outcome != protocol.Created || asked(server, "create") != 1 || asked(server, "get") != 1 {
			t.Errorf("%d: %v, want created after 1 create and 1 get: %v, %v", code, result.Outcome, err, server.Requests())
		}
	}
}

var exceeded = oncetest.Refuse(apierrors.NewForbidden(configMaps, "", errors.New("exceeded quota")))

// A dry run stores nothing: a refusal stands, and nothing is read.
func TestDryRun(t *testing.T) {
	server := always(exceeded)
	dry := func(s *Settings) { s.Parameters = url.Values{"dryRun": {metav1.DryRunAll}} }
	_, err := creatorFor(t, server.Config(), dry).Create(t.Context(), configMapMapping, configMap(), NewID())
	if !errors.Is(err, ErrRefused) || asked(server, "get") != 0 {
		t.Errorf("%v, want a refusal and no get: %v", err, server.Requests())
	}
}

// An object with a name and without a creation ID is sent again when client-go sends
// it again, and the errors are the same.
func TestAsClientGo(t *testing.T) {
	full := apierrors.NewServiceUnavailable("full")
	for name, test := range map[string]struct {
		err        *apierrors.StatusError
		retryAfter string
		times      int // the error is returned, and then the truth
		want       int // POSTs
	}{
		"503, twice":             {full, "0", 2, 3},
		"503 permanently":        {full, "0", 99, 11},
		"503, no header":         {full, "", 99, 1},
		"503, a date":            {full, "Sun, 22 Nov 2026 00:00:00 GMT", 99, 1},
		"500, twice":             {apierrors.NewInternalError(errors.New("x")), "0", 2, 3},
		"504, twice":             {apierrors.NewTimeoutError("x", 0), "0", 2, 3},
		"429, twice":             {apierrors.NewTooManyRequests("x", 0), "0", 2, 3},
		"429, no header":         {apierrors.NewTooManyRequests("x", 0), "", 99, 1},
		"a hook's failure":       {apierrors.NewInternalError(errors.New("failed calling webhook x")), "", 99, 1},
		"a hook's, with a time":  {apierrors.NewInternalError(errors.New("failed calling webhook x")), "0", 2, 3},
		"shutting down":          {apierrors.NewServiceUnavailable("apiserver is shutting down"), "0", 2, 3},
		"refused":                {apierrors.NewForbidden(configMaps, "mine", errors.New("no")), "0", 99, 1},
		"taken":                  {apierrors.NewAlreadyExists(configMaps, "mine"), "0", 99, 1},
		"503, one second of it":  {full, "1", 1, 2},
		"503, and less than one": {full, "-1", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post := func(create func(*rest.Config) error) (int, error) {
				server := oncetest.NewServer()
				for range test.times {
					fault := oncetest.Refuse(test.err)
					if test.retryAfter != "" {
						fault = withHeader(fault, "Retry-After", test.retryAfter)
					}
					server.Next("create", "*", fault)
				}
				err := create(server.Config())
				return asked(server, "create"), err
			}
			named := configMap()
			named.SetName("mine")
			sent, err := post(func(config *rest.Config) error {
				_, err := creatorFor(t, config).Create(t.Context(), configMapMapping, named, Untracked())
				return err
			})
			theirs, want := post(func(config *rest.Config) error {
				_, err := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
					Namespace("ns").Create(t.Context(), named, metav1.CreateOptions{})
				return err
			})
			if name == "429, no header" && !errors.Is(err, ErrExhausted) { // nothing was stored
				t.Error(err)
			}
			if sent != theirs || sent != test.want {
				t.Errorf("%d POSTs, client-go %d, want %d", sent, theirs, test.want)
			}
			if (err == nil) != (want == nil) || err != nil && causeOf(err) != want.Error() {
				t.Errorf("%v, client-go %v", err, want)
			}
		})
	}
}

// An object without its annotations is another client's if the server's own clock proves
// it. The Date of a response is no proof, because a proxy may have set it.
func TestAge(t *testing.T) {
	for name, test := range map[string]struct {
		ahead  time.Duration // of the server's clock, once the object is there
		review oncetest.Fault
		want   error
	}{
		"a server that is ahead": {time.Hour, nil, nil},
		"a server that is not":   {0, nil, errUnknown},
		"no time":                {time.Hour, oncetest.Respond(http.StatusCreated, "application/json", `{"kind":"SelfSubjectReview"}`), errUnknown},
		"no such API":            {time.Hour, text(http.StatusNotFound), errUnknown},
		"another kind": {time.Hour, oncetest.Respond(http.StatusCreated, "application/json",
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"creationTimestamp":"2999-01-01T00:00:00Z"}}`), errUnknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			c := creatorFor(t, server.Config())
			server.Func(func(r *oncetest.Request) oncetest.Fault {
				if r.Verb == "" {
					return test.review
				}
				return nil
			})
			server.Next("create", "*", func(r *oncetest.Request) (*http.Response, error) {
				theirs := r.Object.DeepCopy() // another is faster
				theirs.SetAnnotations(nil)
				server.Put(theirs)
				server.SetClock(func() time.Time { return time.Now().Add(test.ahead) })
				return withHeader((*oncetest.Request).Send, "Date", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))(r)
			})
			if r, err := c.Create(t.Context(), configMapMapping, configMap(), NewID()); !ends(r, err, test.want) {
				t.Errorf("%s: %v, %v, want %v", name, r.Outcome, err, test.want)
			}
		})
	}
}

// A name that can't be in a URL path, such as a branch with a slash, can't be read back. The server can't store it
// either. So a refusal is final at once, also after a lost response. If the object of such a name is in doubt, something
// might have stored it under another name.
func TestNameThatNoPathCanCarry(t *testing.T) {
	refuses := oncetest.Refuse(apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "", field.ErrorList{
		field.Invalid(field.NewPath("metadata", "name"), "x", "a lowercase RFC 1123 subdomain"),
	}))
	for _, test := range []struct{ name, generateName string }{
		{generateName: "feature/login-"}, {generateName: "50%-"}, {name: "feature/login"}, {name: ".."},
	} {
		for lost := range 2 {
			server := always(refuses)
			if lost == 1 {
				server.Next("create", "*", oncetest.DropRequest)
			}
			object := configMap()
			object.SetName(test.name)
			object.SetGenerateName(test.generateName)
			r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, object, NewID())
			if !errors.Is(err, ErrRefused) || !apierrors.IsInvalid(err) || r.TimeOver || asked(server, "get") > 0 {
				t.Errorf("%+v: %v, out of time %t, %d gets, want a refusal as invalid, false and none", test, err, r.TimeOver, asked(server, "get"))
			}
		}
	}
	object := configMap()
	object.SetGenerateName("feature/login-")
	c := creatorFor(t, always(oncetest.DropRequest).Config(), func(s *Settings) { s.RetryTimeout = 0 })
	if r, err := c.Create(t.Context(), configMapMapping, object, NewID()); r.Outcome != protocol.Unknown {
		t.Error(err)
	}
}

// Errors about the arguments send nothing.
func TestBadArguments(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	homeless, astray := configMap(), configMap()
	homeless.SetNamespace("")
	astray.SetNamespace("a/b") // client-go sends no request for it
	for want, object := range map[string]*unstructured.Unstructured{
		"configmaps need a namespace": homeless, `the namespace "a/b" may not contain '/'`: astray,
	} {
		_, err := c.Create(t.Context(), configMapMapping, object, NewID())
		if ended := (*Error)(nil); err == nil || errors.As(err, &ended) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(server.Requests()) > 0 {
		t.Errorf("%v, want no requests", server.Requests())
	}
}

// Several goroutines can use one Creator, and several Creators for one server share nothing. The test has two leaders
// with goroutines that create the same objects during faults.
func TestConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard()) // client-go logs responses that break off
		server := oncetest.NewServer()
		server.Random("*", "*", 1, 0.3)
		leaders := [2]fixed{creatorFor(t, server.Config()), creatorFor(t, server.Config())}
		var group sync.WaitGroup
		for n := range 60 {
			group.Go(func() {
				if _, err := leaders[n%2].Create(ctx, configMapMapping, configMap(), Derive(Derivation{Creation: fmt.Sprint("v1-", n%10)})); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := len(server.Objects()); n != 10 {
			t.Errorf("%d objects", n)
		}
		for _, violation := range server.Check(func(o metav1.Object) string { return idOf(o.(*unstructured.Unstructured)) }, nil) {
			t.Error(violation)
		}
	})
}

// A POST that hangs when the user interrupts is given up early enough to read the
// object back: it was carried out.
func TestInterruptedPostIsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		server := oncetest.NewServer()
		server.Next("create", "*", func(r *oncetest.Request) (*http.Response, error) {
			interrupt()
			return oncetest.AfterStore(oncetest.Delay(time.Hour))(r)
		})
		start := time.Now()
		r, err := creatorFor(t, server.Config()).Create(ctx, configMapMapping, configMap(), NewID())
		if took := time.Since(start); err != nil || r.Outcome != protocol.Created || took >= Grace || asked(server, "get") != 1 {
			t.Errorf("%+v, %v after %s", r, err, took)
		}
	})
}

// The time limit of a request begins when it is sent. If the rate limiter knew the limit, it would refuse a request
// that has to wait for longer.
func TestLimiterSeesNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := oncetest.NewServer().Config()
		config.Timeout = time.Second
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(0.1, 1)
		config.RateLimiter.TryAccept()
		if _, err := creatorFor(t, config).Create(t.Context(), configMapMapping, configMap(), NewID()); err != nil {
			t.Error(err)
		}
	})
}

// only returns the one object of the server.
func only(t *testing.T, server *oncetest.Server) *unstructured.Unstructured {
	t.Helper()
	objects := server.Objects()
	if len(objects) != 1 {
		t.Fatalf("%d objects", len(objects))
	}
	return objects[0]
}

// A run with other content and the same key has created the object. If this POST was lost, it can still create the
// object after that one is deleted, so the outcome is unknown.
func TestMismatch(t *testing.T) {
	for name, test := range map[string]struct {
		digest string
		fault  oncetest.Fault // of the POST
		want   error
	}{
		"other content": {"d1-other", oncetest.Conflict, ErrMismatch}, "other content, lost": {"d1-other", oncetest.DropRequest, errUnknown},
		"the same": {"d1-ours", oncetest.DropRequest, nil}, "stripped": {"", oncetest.DropRequest, nil}, "another version": {"d2-other", oncetest.DropRequest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			id := Derive(Derivation{Creation: "v1-x", Digest: "d1-ours"})
			server.Next("create", "*", func(r *oncetest.Request) (*http.Response, error) {
				theirs := r.Object.DeepCopy()
				Derive(Derivation{Creation: "v1-x", Digest: test.digest}).Stamp(theirs)
				server.Put(theirs)
				return test.fault(r)
			})
			r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), id)
			if !ends(r, err, test.want) || r.Object == nil || test.want != nil && !strings.Contains(causeOf(err), "another input created it") {
				t.Errorf("%+v, %v, want %v", r, err, test.want)
			}
			only(t, server)
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

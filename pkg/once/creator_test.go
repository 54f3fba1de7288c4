package once

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// store is an HTTP server of ConfigMaps. It generates no names: what these tests
// are about is what a Creator sends, and how it reads answers; behaviour against
// Kubernetes is tested on a real server in test/e2e.
type store struct {
	// before is called with every request; true: it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
	// loses cuts the connection after a POST has been stored.
	loses bool

	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured
	posts   int
}

const configMapsPath = "/api/v1/namespaces/ns/configmaps"

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil && s.before(w, r) {
		return
	}
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, configMapsPath), "/")
	switch {
	case r.URL.Path == "/api":
		answerWith(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case r.URL.Path == "/apis":
		answerWith(w, http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}})
	case r.URL.Path == "/api/v1":
		answerWith(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "configmaps", SingularName: "configmap", Kind: "ConfigMap", Namespaced: true}},
		})
	case r.Method == http.MethodPost:
		s.post(w, r)
	case s.objects[name] != nil:
		answerWith(w, http.StatusOK, s.objects[name])
	default:
		refuseWith(w, apierrors.NewNotFound(configMaps, name))
	}
}

func (s *store) post(w http.ResponseWriter, r *http.Request) {
	s.posts++
	body, _ := io.ReadAll(r.Body)
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(body); err != nil {
		refuseWith(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	if s.objects[object.GetName()] != nil {
		refuseWith(w, apierrors.NewAlreadyExists(configMaps, object.GetName()))
		return
	}
	object.SetCreationTimestamp(metav1.Now())
	if s.objects == nil {
		s.objects = map[string]*unstructured.Unstructured{}
	}
	s.objects[object.GetName()] = object
	if s.loses {
		panic(http.ErrAbortHandler)
	}
	answerWith(w, http.StatusCreated, object)
}

func (s *store) posted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts
}

func (s *store) stored() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.objects)
}

func (s *store) annotations(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name].GetAnnotations()
}

func (s *store) annotate(name string, annotations map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name].SetAnnotations(annotations)
}

func answerWith(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

func refuseWith(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answerWith(w, int(status.Code), status)
}

func (s *store) start(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

func (s *store) creator(t *testing.T, options ...Option) *Creator {
	t.Helper()
	return creatorFor(t, s.start(t), options...)
}

func creatorFor(t *testing.T, config *rest.Config, options ...Option) *Creator {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	c, err := NewForConfig(config, append([]Option{WithMapper(mapper), WithRetryTimeout(10 * time.Second)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(data string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "p-", Namespace: "ns"},
		Data:       map[string]string{"key": data},
	}
}

// The types are found by the server's discovery, and the answer is decoded.
func TestCreate(t *testing.T) {
	s := &store{}
	c, err := NewForConfig(s.start(t))
	if err != nil {
		t.Fatal(err)
	}
	wanted := configMap("a")
	result, err := c.Create(t.Context(), wanted, NewID())
	if err != nil || result.Outcome != Created || s.posted() != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	var got corev1.ConfigMap
	if err := result.Into(&got); err != nil || got.Data["key"] != "a" || got.Name != result.Name || got.CreationTimestamp.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if prefix, _, ok := names.Split(result.Name); !ok || prefix != "p-" || wanted.Name != "" || wanted.Annotations != nil {
		t.Errorf("its name is %q, and what was given became %+v", result.Name, wanted)
	}
}

// The ids of owners are a promise: a controller finds what its older version
// has made. They were computed apart from this code.
func TestForVector(t *testing.T) {
	if got := For(owner, "worker-3").String(); got != "v1-31816e00fbe99a83ed068f8119781220" {
		t.Errorf("it is %s", got)
	}
	if got := FromKey("order-17").String(); got != "v1-faf455c5d362c49b7f6170bcad1f707a" {
		t.Errorf("of a key it is %s", got)
	}
	if For(owner, "a") == For(owner, "b") || For(&metav1.ObjectMeta{UID: "ab"}, "c") == For(&metav1.ObjectMeta{UID: "a"}, "bc") {
		t.Error("two purposes have one id")
	}
}

// A lost answer is read back, and not sent again.
func TestLostAnswer(t *testing.T) {
	s := &store{loses: true}
	var events []Event
	result, err := s.creator(t, WithEvents(func(e Event) { events = append(events, e) })).Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || s.posted() != 1 || s.stored() != 1 {
		t.Errorf("%+v, %v, %d POSTs", result, err, s.posted())
	}
	if len(events) != 1 || events[0].Action != ReadBack || events[0].Name != result.Name {
		t.Errorf("%+v", events)
	}
}

// resender is a transport as some people configure: it sends what fails again.
type resender struct{ http.RoundTripper }

func (r resender) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.RoundTripper.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	again := req.Clone(req.Context())
	again.Body, _ = req.GetBody()
	return r.RoundTripper.RoundTrip(again)
}

// A transport that repeats a POST by itself does not get it past the Creator's.
func TestTransportThatSendsAgain(t *testing.T) {
	s := &store{loses: true}
	config := s.start(t)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return resender{rt} })
	result, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || s.posted() != 1 {
		t.Errorf("%+v, %v, %d POSTs", result, err, s.posted())
	}
}

// A redirect is followed: nothing was carried out before it.
func TestRedirect(t *testing.T) {
	s := &store{}
	moved := false
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if moved || r.Method != http.MethodPost {
			return false
		}
		moved = true
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}
	if result, err := s.creator(t).Create(t.Context(), configMap("a"), NewID()); err != nil || result.Outcome != Created || !moved {
		t.Errorf("%+v, %v", result, err)
	}
}

// client-go repeats a POST after 429 and Retry-After by itself; a Creator's are
// its own, told of and counted.
func TestNoSilentResending(t *testing.T) {
	s := &store{}
	busy := 2
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		if busy == 0 {
			return false
		}
		busy--
		w.Header().Set("Retry-After", "0")
		refuseWith(w, apierrors.NewTooManyRequests("busy", 0))
		return true
	}
	var events []Event
	_, err := s.creator(t, WithEvents(func(e Event) { events = append(events, e) })).Create(t.Context(), configMap("a"), NewID())
	if err != nil || len(events) != 2 || events[0].Action != Resend || s.posted() != 1 {
		t.Errorf("%v, %+v", err, events)
	}
}

// A refusal keeps the server's words and type.
func TestRefused(t *testing.T) {
	s := &store{before: func(w http.ResponseWriter, _ *http.Request) bool {
		refuseWith(w, apierrors.NewForbidden(configMaps, "x", errors.New("exceeded quota")))
		return true
	}}
	_, err := s.creator(t).Create(t.Context(), configMap("a"), NewID())
	if !errors.Is(err, ErrRefused) || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
		t.Error(err)
	}
}

// A dry run stores nothing: a refusal stands, and nothing is read.
func TestDryRun(t *testing.T) {
	s := &store{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			t.Errorf("it reads %s", r.URL)
		}
		refuseWith(w, apierrors.NewForbidden(configMaps, "x", errors.New("exceeded quota")))
		return true
	}}
	dry := WithCreateOptions(metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if _, err := s.creator(t, dry).Create(t.Context(), configMap("a"), NewID()); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// An object with a name and without a mark is sent again when client-go sends
// it again, and the errors are the same.
func TestAsClientGo(t *testing.T) {
	full := apierrors.NewServiceUnavailable("full")
	for name, test := range map[string]struct {
		err        *apierrors.StatusError
		retryAfter string
		times      int // the error is answered, and then the truth
		want       int // POSTs
	}{
		"503, twice":             {full, "0", 2, 3},
		"503 for ever":           {full, "0", 99, 11},
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
			post := func(create func(*store) error) (int, error) {
				sent := 0
				s := &store{}
				s.before = func(w http.ResponseWriter, _ *http.Request) bool {
					if sent++; sent > test.times {
						return false
					}
					if test.retryAfter != "" {
						w.Header().Set("Retry-After", test.retryAfter)
					}
					refuseWith(w, test.err)
					return true
				}
				err := create(s)
				return sent, err
			}
			named := configMap("a")
			named.Name = "mine"
			sent, err := post(func(s *store) error {
				_, err := s.creator(t).Create(t.Context(), named, Unmarked())
				return err
			})
			theirs, want := post(func(s *store) error {
				object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(named)
				if err != nil {
					return err
				}
				_, err = dynamic.NewForConfigOrDie(s.start(t)).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
					Namespace("ns").Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
				return err
			})
			if sent != theirs || sent != test.want {
				t.Errorf("%d POSTs, client-go %d, want %d", sent, theirs, test.want)
			}
			if (err == nil) != (want == nil) || err != nil && causeOf(err) != want.Error() {
				t.Errorf("%v, client-go %v", err, want)
			}
		})
	}
}

// Where the server picks the name, only what was certainly not stored is sent
// again: a lost POST could make a second object.
func TestServerNamingSendsNothingTwice(t *testing.T) {
	for code, want := range map[int]int{http.StatusTooManyRequests: 3, http.StatusServiceUnavailable: 1} {
		s, sent := &store{}, 0
		s.before = func(w http.ResponseWriter, _ *http.Request) bool {
			if sent++; sent < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(code)
			}
			return sent < 3
		}
		_, err := s.creator(t, WithAttempts(1)).Create(t.Context(), configMap("a"), Unmarked())
		if sent != want || errors.Is(err, ErrUnknown) != (want == 1) {
			t.Errorf("%d: %d POSTs, %v", code, sent, err)
		}
	}
}

// An object that something has taken the marks from is another's if the server's
// own clock says so: the Date of an answer may be a proxy's.
func TestAge(t *testing.T) {
	reviews := "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for name, test := range map[string]struct {
		review func(w http.ResponseWriter)
		want   error
	}{
		"a server that is ahead": {func(w http.ResponseWriter) {
			answerWith(w, http.StatusCreated, map[string]any{
				"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
				"metadata": map[string]any{"creationTimestamp": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)},
			})
		}, nil},
		"a server that is not": {func(w http.ResponseWriter) {
			answerWith(w, http.StatusCreated, map[string]any{
				"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
				"metadata": map[string]any{"creationTimestamp": time.Now().UTC().Format(time.RFC3339)},
			})
		}, ErrUnknown},
		"no time": {func(w http.ResponseWriter) {
			answerWith(w, http.StatusCreated, map[string]any{"kind": "SelfSubjectReview"})
		}, ErrUnknown},
		"no such API": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, ErrUnknown},
	} {
		s := &store{}
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == reviews:
				test.review(w)
				return true
			case r.Method == http.MethodPost && len(s.objects) == 0: // another is faster
				s.post(httptest.NewRecorder(), r)
				for _, object := range s.objects {
					object.SetAnnotations(nil)
				}
				w.Header().Set("Date", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
				refuseWith(w, apierrors.NewAlreadyExists(configMaps, ""))
				return true
			}
			return false
		}
		if r, err := s.creator(t).Create(t.Context(), configMap("a"), NewID()); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// An IPAddress has its generateName for a name, so its conflict is one.
func TestIPAddress(t *testing.T) {
	taken := apierrors.NewGenerateNameConflict(ipAddresses, "10.9.8.7", 1)
	sent := 0
	s := &store{before: func(w http.ResponseWriter, _ *http.Request) bool {
		sent++
		refuseWith(w, taken)
		return true
	}}
	mapper := meta.NewDefaultRESTMapper(nil)
	kind := schema.GroupVersionKind{Group: ipAddresses.Group, Version: "v1", Kind: "IPAddress"}
	mapper.AddSpecific(kind, kind.GroupVersion().WithResource("ipaddresses"), kind.GroupVersion().WithResource("ipaddress"), meta.RESTScopeRoot)
	address := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generateName": "10.9.8.7"}}}
	address.SetGroupVersionKind(kind)
	_, err := s.creator(t, WithMapper(mapper)).Create(t.Context(), address, Unmarked())
	if !errors.Is(err, ErrTaken) || causeOf(err) != taken.Error() || sent != 1 {
		t.Errorf("%v after %d POSTs", err, sent)
	}
}

// What kubectl does: the name is the server's affair, and nothing is read back.
func TestUnmarked(t *testing.T) {
	s := &store{loses: true}
	named := configMap("a")
	named.Name = "mine"
	if _, err := s.creator(t).Create(t.Context(), named, Unmarked()); !errors.Is(err, ErrUnknown) || s.posted() != 1 {
		t.Errorf("%v after %d POSTs", err, s.posted())
	}
	if annotations := s.annotations("mine"); annotations != nil {
		t.Errorf("it is marked: %v", annotations)
	}
}

// A name that no path can carry (a branch's) cannot be read back. It cannot be
// stored either, so that its refusal stands at once, also after an answer that
// was lost.
func TestNameThatNoPathCanCarry(t *testing.T) {
	for _, test := range []struct{ name, generateName string }{
		{generateName: "feature/login-"}, {generateName: "50%-"}, {name: "feature/login"}, {name: ".."},
	} {
		for lost := range 2 {
			refuses := func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost {
					t.Errorf("%+v: %s %s", test, r.Method, r.URL)
				}
				if lost--; lost >= 0 {
					panic(http.ErrAbortHandler)
				}
				refuseWith(w, apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", field.ErrorList{
					field.Invalid(field.NewPath("metadata", "name"), "x", "a lowercase RFC 1123 subdomain"),
				}))
				return true
			}
			object := configMap("a")
			object.Name, object.GenerateName = test.name, test.generateName
			r, err := (&store{before: refuses}).creator(t).Create(t.Context(), object, NewID())
			if !errors.Is(err, ErrRefused) || !apierrors.IsInvalid(err) || r.TimeOver {
				t.Errorf("%+v: %+v, %v", test, r, err)
			}
		}
	}
}

// While such a name is in doubt, something may have stored it under another.
func TestNameThatNoPathCanCarryInDoubt(t *testing.T) {
	loses := func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	object := configMap("a")
	object.GenerateName = "feature/login-"
	c := (&store{before: loses}).creator(t, WithRetryTimeout(0))
	if _, err := c.Create(t.Context(), object, NewID()); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// Errors about the arguments send nothing.
func TestBadArguments(t *testing.T) {
	s := &store{}
	c := s.creator(t)
	kindless, homeless, nameless := configMap("a"), configMap("a"), configMap("a")
	kindless.TypeMeta, homeless.Namespace, nameless.GenerateName = metav1.TypeMeta{}, "", ""
	astray := configMap("a")
	astray.Namespace = "a/b" // client-go makes no request of it, as if no connection were had
	unknown := configMap("a")
	unknown.Kind = "Widget"
	for name, test := range map[string]struct {
		object runtime.Object
		id     ID
		option Option
		says   string
	}{
		"no ID":        {configMap("a"), ID{}, WithGrace(0), "an ID of no kind"},
		"no kind":      {kindless, NewID(), WithGrace(0), "needs WithScheme"},
		"no namespace": {homeless, NewID(), WithGrace(0), "configmaps need a namespace"},
		"slash":        {astray, NewID(), WithGrace(0), `the namespace "a/b" may not contain '/'`},
		"no name":      {nameless, NewID(), WithGrace(0), "neither a name nor a generateName"},
		"unknown kind": {unknown, NewID(), WithGrace(0), "no matches for kind"},
		"attempts":     {configMap("a"), NewID(), WithAttempts(0), "WithAttempts must be at least 1, not 0"},
		"suffix":       {configMap("a"), NewID(), WithSuffixLength(4), "WithSuffixLength must be from 5 to 11"},
	} {
		_, err := c.Create(t.Context(), test.object, test.id, test.option)
		if ended := (*Error)(nil); err == nil || errors.As(err, &ended) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.posted() > 0 {
		t.Errorf("%d POSTs", s.posted())
	}
	if _, err := NewForConfig(&rest.Config{Host: "https://x"}, WithRetryTimeout(-1)); err == nil {
		t.Error("a negative time is taken")
	}
}

// A scheme says the kind of an object that does not.
func TestWithScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object := configMap("a")
	object.TypeMeta = metav1.TypeMeta{}
	result, err := (&store{}).creator(t, WithScheme(scheme)).Create(t.Context(), object, NewID())
	if err != nil || result.Object.GetKind() != "ConfigMap" {
		t.Errorf("%+v, %v", result, err)
	}
}

// One Creator may be used by several goroutines.
func TestConcurrently(t *testing.T) {
	s := &store{}
	c := s.creator(t)
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			if _, err := c.Create(t.Context(), configMap("a"), For(owner, fmt.Sprint(n%10))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if s.stored() != 10 {
		t.Errorf("%d objects", s.stored())
	}
}

// Every request has a deadline: that of the configuration, or a minute, which
// begins below client-go's rate limiter.
func TestRequestsHaveADeadline(t *testing.T) {
	for configured, want := range map[time.Duration]time.Duration{0: requestTimeout, time.Second: 0} {
		config := (&store{}).start(t)
		config.Timeout = configured
		rt := creatorFor(t, config).client.Transport
		for {
			if o, is := rt.(observer); is {
				if o.timeout != want {
					t.Errorf("%s: %s", configured, o.timeout)
				}
				break
			}
			rt = rt.(interface{ WrappedRoundTripper() http.RoundTripper }).WrappedRoundTripper()
		}
	}
}

// limiter is a rate limiter that makes nobody wait.
type limiter struct {
	flowcontrol.RateLimiter
	deadlines int
}

func (l *limiter) Wait(ctx context.Context) error {
	if _, has := ctx.Deadline(); has {
		l.deadlines++
	}
	return nil
}

// The time for a request begins when it is sent: a limiter that has many to let
// through gives up at once where it sees that the time will not do.
func TestLimiterSeesNoDeadline(t *testing.T) {
	config := (&store{}).start(t)
	l := &limiter{RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter()}
	config.RateLimiter = l
	if _, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID()); err != nil || l.deadlines > 0 {
		t.Errorf("%v, %d deadlines", err, l.deadlines)
	}
}

// roundTripper is a transport that is not net/http's own.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A transport that says nothing of its connections may have sent every request:
// what it loses is read back, and an answer counts as one.
func TestTransportOfOnesOwn(t *testing.T) {
	s := &store{loses: true}
	config := s.start(t)
	config.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		return http.DefaultTransport.RoundTrip(req.WithContext(context.WithoutCancel(context.Background())))
	})
	result, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || s.posted() != 1 {
		t.Errorf("%+v, %v, %d POSTs", result, err, s.posted())
	}
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		refuseWith(w, apierrors.NewForbidden(configMaps, "x", errors.New("no")))
		return true
	}
	if _, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID()); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}

// What was created with other content is that also after a lost answer.
func TestMismatchInDoubt(t *testing.T) {
	s := &store{}
	config := s.start(t)
	if _, err := creatorFor(t, config).Create(t.Context(), configMap("a"), For(owner, "x")); err != nil {
		t.Fatal(err)
	}
	cut := false
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && !cut {
			cut = true
			panic(http.ErrAbortHandler)
		}
		return false
	}
	result, err := creatorFor(t, config).Create(t.Context(), configMap("b"), For(owner, "x"))
	if !errors.Is(err, ErrMismatch) || result.Object == nil || !cut {
		t.Errorf("%+v, %v", result, err)
	}
}

// The content is the same wherever the namespace was said.
func TestNamespaceOfAnOption(t *testing.T) {
	s := &store{}
	c := s.creator(t, WithNamespace("ns"))
	homeless := configMap("a")
	homeless.Namespace = ""
	for n, object := range []*corev1.ConfigMap{homeless, configMap("a")} {
		result, err := c.Create(t.Context(), object, For(owner, "x"))
		if want := []Outcome{Created, Found}[n]; err != nil || result.Outcome != want {
			t.Errorf("%+v, %v, want %s", result, err, want)
		}
	}
}

// IDs of nothing are none, and refused.
func TestNoID(t *testing.T) {
	s := &store{}
	for _, id := range []ID{For(&metav1.ObjectMeta{}, "x"), FromKey(""), Derived("", "run")} {
		if _, err := s.creator(t).Create(t.Context(), configMap("a"), id); err == nil || s.posted() > 0 {
			t.Errorf("%v, %d POSTs", err, s.posted())
		}
	}
	object := &unstructured.Unstructured{}
	NewID().Stamp(object)
	if idOf(object) == "" {
		t.Error("an object without metadata is not stamped")
	}
}

// A type that was not there at first is found once it is.
func TestTypeThatComesLater(t *testing.T) {
	s := &store{}
	there := false
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/v1" && !there {
			answerWith(w, http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1"})
			return true
		}
		return false
	}
	c, err := NewForConfig(s.start(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(t.Context(), configMap("a"), NewID()); !meta.IsNoMatchError(err) {
		t.Fatal(err)
	}
	s.mu.Lock()
	there = true
	s.mu.Unlock()
	c.asked = time.Now().Add(-askAgain) // as if the time were over
	if _, err := c.Create(t.Context(), configMap("a"), NewID()); err != nil {
		t.Error(err)
	}
}

// Whatever encoding the configuration is for, objects are sent and read as JSON.
func TestEncoding(t *testing.T) {
	s := &store{}
	config := s.start(t)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "protobuf") {
			t.Errorf("it accepts %s", accept)
		}
		return false
	}
	if _, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID()); err != nil {
		t.Error(err)
	}
}

package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
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
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// What these tests are about is what a Creator sends, and how it reads answers;
// behavior against Kubernetes is tested on a real server in test/e2e.

// asked returns how often the server was asked to do what verb says.
func asked(server *oncetest.Server, verb string) (times int) {
	for _, r := range server.Requests() {
		if r.Verb == verb {
			times++
		}
	}
	return times
}

var configMaps = schema.GroupResource{Resource: "configmaps"}

func statusOf(code int32, message string) metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}
}

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

// withHeader answers as fault does, and with a header.
func withHeader(fault oncetest.Fault, key, value string) oncetest.Fault {
	return func(r *oncetest.Request) (*http.Response, error) {
		resp, err := fault(r)
		if err == nil {
			resp.Header.Set(key, value)
		}
		return resp, err
	}
}

func creatorFor(t *testing.T, config *rest.Config, options ...Option) *Creator {
	t.Helper()
	c, err := NewForConfig(config, append([]Option{WithRetryTimeout(10 * time.Second)}, options...)...)
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

// The types are found by the server's discovery, and the answer is decoded,
// into the object that was given too, and nothing of that is left.
func TestCreate(t *testing.T) {
	server := oncetest.NewServer()
	wanted := configMap("a")
	result, err := creatorFor(t, server.Config()).Create(t.Context(), wanted, NewID())
	if err != nil || result.Outcome != Created || asked(server, "create") != 1 || asked(server, "get") != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	if prefix, _, ok := names.Split(result.Name); !ok || prefix != "p-" || wanted.Name != "" || wanted.Annotations != nil {
		t.Errorf("its name is %q, and what was given became %+v", result.Name, wanted)
	}
	var fresh corev1.ConfigMap
	untyped := &unstructured.Unstructured{Object: map[string]any{"kind": "Secret", "left": "over"}}
	wanted.Data["left"], wanted.Finalizers = "over", []string{"example.com/x"}
	for _, into := range []runtime.Object{&fresh, untyped, wanted} {
		if err := result.Into(into); err != nil {
			t.Error(err)
		}
		got, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
		if !equality(got, result.Object.Object) {
			t.Errorf("%T: %v, %v", into, got, err)
		}
	}
	untyped.SetName("another")
	if result.Object.GetName() != result.Name {
		t.Error("the decoded object and the result share their content")
	}
	if err := (Result{}).Into(&fresh); err == nil {
		t.Error("nothing was decoded")
	}
}

func equality(a, b map[string]any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

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

// A lost answer is read back, and not sent again. The event says of what it is,
// in words and to log/slog.
func TestLostAnswer(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	var events []Event
	result, err := creatorFor(t, server.Config(), WithEvents(func(e Event) { events = append(events, e) })).
		Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || asked(server, "create") != 1 || len(server.Objects()) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	if len(events) != 1 || events[0].Action != ReadBack || events[0].Name != result.Name ||
		events[0].Resource != configMaps || events[0].Namespace != "ns" {
		t.Fatalf("%+v", events)
	}
	text := &strings.Builder{}
	events[0].Wait, events[0].NextName = time.Second, "p-next"
	slog.New(slog.NewTextHandler(text, nil)).Info("retry", "create", events[0])
	for _, part := range []string{
		"create.resource=configmaps", "create.namespace=ns", "create.name=" + result.Name, "create.action=ReadBack",
		"create.reason=", "create.wait=1s", "create.nextName=p-next",
	} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%s lacks %s", text, part)
		}
	}
}

// Over a network, what certainly was not sent is not in doubt.
func TestOverANetwork(t *testing.T) {
	server := oncetest.NewServer()
	network := httptest.NewServer(server)
	defer network.Close()
	config := server.Config()
	config.Host, config.Transport = network.URL, nil
	c := creatorFor(t, config, WithRetryTimeout(0))
	server.Next("create", "*", oncetest.DropResponse)
	if r, err := c.Create(t.Context(), configMap("a"), NewID()); err != nil || r.Outcome != Created || asked(server, "create") != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	network.Close()
	if r, err := c.Create(t.Context(), configMap("a"), NewID()); !errors.Is(err, ErrExhausted) {
		t.Errorf("%+v, %v", r, err)
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
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	config := server.Config()
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return resender{rt} })
	result, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || asked(server, "create") != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A redirect is followed: nothing was carried out before it.
func TestRedirect(t *testing.T) {
	server := oncetest.NewServer()
	to := server.Config().Host + "/api/v1/namespaces/ns/configmaps"
	server.Next("create", "*", withHeader(text(http.StatusTemporaryRedirect), "Location", to))
	result, err := creatorFor(t, server.Config()).Create(t.Context(), configMap("a"), NewID())
	if err != nil || result.Outcome != Created || asked(server, "create") != 2 || asked(server, "get") != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// client-go repeats a POST after 429 and Retry-After by itself; a Creator's are
// its own, told of and counted.
func TestNoSilentResending(t *testing.T) {
	server := oncetest.NewServer()
	busy := withHeader(oncetest.TooManyRequests(0), "Retry-After", "0")
	server.Next("create", "*", busy, busy)
	var events []Event
	_, err := creatorFor(t, server.Config(), WithEvents(func(e Event) { events = append(events, e) })).
		Create(t.Context(), configMap("a"), NewID())
	if err != nil || len(events) != 2 || events[0].Action != Resend || asked(server, "create") != 3 {
		t.Errorf("%v, %+v", err, events)
	}
}

var exceeded = oncetest.Refuse(apierrors.NewForbidden(configMaps, "", errors.New("exceeded quota")))

// A refusal keeps the server's words and type.
func TestRefused(t *testing.T) {
	_, err := creatorFor(t, always(exceeded).Config()).Create(t.Context(), configMap("a"), NewID())
	if !errors.Is(err, ErrRefused) || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
		t.Error(err)
	}
}

// A dry run stores nothing: a refusal stands, and nothing is read.
func TestDryRun(t *testing.T) {
	server := always(exceeded)
	dry := WithCreateOptions(metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	_, err := creatorFor(t, server.Config(), dry).Create(t.Context(), configMap("a"), NewID())
	if !errors.Is(err, ErrRefused) || asked(server, "get") != 0 {
		t.Errorf("%v, %v", err, server.Requests())
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
			named := configMap("a")
			named.Name = "mine"
			sent, err := post(func(config *rest.Config) error {
				_, err := creatorFor(t, config).Create(t.Context(), named, Untracked())
				return err
			})
			theirs, want := post(func(config *rest.Config) error {
				object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(named)
				if err != nil {
					return err
				}
				_, err = dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
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
		server := oncetest.NewServer()
		fault := withHeader(text(code), "Retry-After", "0")
		server.Next("create", "*", fault, fault)
		_, err := creatorFor(t, server.Config(), WithAttempts(1)).Create(t.Context(), configMap("a"), Untracked())
		if sent := asked(server, "create"); sent != want || errors.Is(err, ErrUnknown) != (want == 1) {
			t.Errorf("%d: %d POSTs, %v", code, sent, err)
		}
	}
}

// An object that something has taken the marks from is another's if the server's
// own clock says so: the Date of an answer may be a proxy's.
func TestAge(t *testing.T) {
	for name, test := range map[string]struct {
		ahead  time.Duration // of the server's clock, once the object is there
		review oncetest.Fault
		want   error
	}{
		"a server that is ahead": {time.Hour, nil, nil},
		"a server that is not":   {0, nil, ErrUnknown},
		"no time":                {time.Hour, oncetest.Respond(http.StatusCreated, "application/json", `{"kind":"SelfSubjectReview"}`), ErrUnknown},
		"no such API":            {time.Hour, text(http.StatusNotFound), ErrUnknown},
	} {
		server := oncetest.NewServer()
		c := creatorFor(t, server.Config())
		if _, err := c.Create(t.Context(), configMap("a"), NewID()); err != nil { // discovery is over
			t.Fatal(err)
		}
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
		if r, err := c.Create(t.Context(), configMap("a"), NewID()); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// An IPAddress has its generateName for a name, so its conflict is one.
func TestIPAddress(t *testing.T) {
	server := oncetest.NewServer()
	taken := apierrors.NewGenerateNameConflict(ipAddresses, "10.9.8.7", 1)
	sent := 0
	server.Func(func(*oncetest.Request) oncetest.Fault { sent++; return oncetest.Refuse(taken) })
	mapper := meta.NewDefaultRESTMapper(nil)
	kind := schema.GroupVersionKind{Group: ipAddresses.Group, Version: "v1", Kind: "IPAddress"}
	mapper.AddSpecific(kind, kind.GroupVersion().WithResource("ipaddresses"), kind.GroupVersion().WithResource("ipaddress"), meta.RESTScopeRoot)
	address := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generateName": "10.9.8.7"}}}
	address.SetGroupVersionKind(kind)
	_, err := creatorFor(t, server.Config(), WithMapper(mapper)).Create(t.Context(), address, Untracked())
	if !errors.Is(err, ErrTaken) || causeOf(err) != taken.Error() || sent != 1 {
		t.Errorf("%v after %d POSTs", err, sent)
	}
}

// What kubectl does: the name is the server's affair, and nothing is read back.
func TestUntracked(t *testing.T) {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	named := configMap("a")
	named.Name = "mine"
	_, err := creatorFor(t, server.Config()).Create(t.Context(), named, Untracked())
	if !errors.Is(err, ErrUnknown) || len(server.Requests()) != 1 {
		t.Errorf("%v after %v", err, server.Requests())
	}
	if annotations := only(t, server).GetAnnotations(); annotations != nil {
		t.Errorf("it is marked: %v", annotations)
	}
}

// A name that no path can carry (a branch's) cannot be read back. It cannot be
// stored either, so that its refusal stands at once, also after an answer that
// was lost.
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
			object := configMap("a")
			object.Name, object.GenerateName = test.name, test.generateName
			r, err := creatorFor(t, server.Config()).Create(t.Context(), object, NewID())
			if !errors.Is(err, ErrRefused) || !apierrors.IsInvalid(err) || r.TimeOver || asked(server, "get") > 0 {
				t.Errorf("%+v: %+v, %v", test, r, err)
			}
		}
	}
}

// While such a name is in doubt, something may have stored it under another.
func TestNameThatNoPathCanCarryInDoubt(t *testing.T) {
	object := configMap("a")
	object.GenerateName = "feature/login-"
	c := creatorFor(t, always(oncetest.DropRequest).Config(), WithRetryTimeout(0))
	if _, err := c.Create(t.Context(), object, NewID()); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}

// Errors about the arguments send nothing.
func TestBadArguments(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, &corev1.ConfigMap{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Version: "v2", Kind: "ConfigMap"}, &corev1.ConfigMap{})
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
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
		"no UID":       {configMap("a"), For(&metav1.ObjectMeta{}, "x"), WithGrace(0), "For (of an owner that has a UID)"},
		"no key":       {configMap("a"), FromKey(""), WithGrace(0), "FromKey (of a key)"},
		"no creation":  {configMap("a"), Derived("", "run"), WithGrace(0), "an ID of no kind"},
		"no kind":      {kindless, NewID(), WithGrace(0), "needs WithScheme"},
		"two kinds":    {kindless, NewID(), WithScheme(scheme), "its apiVersion and kind must say which"},
		"not in it":    {&corev1.Secret{}, NewID(), WithScheme(scheme), "no kind is registered"},
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
	if len(server.Requests()) > 0 {
		t.Errorf("%v", server.Requests())
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
	result, err := creatorFor(t, oncetest.NewServer().Config(), WithScheme(scheme)).Create(t.Context(), object, NewID())
	if err != nil || result.Object.GetKind() != "ConfigMap" {
		t.Errorf("%+v, %v", result, err)
	}
}

// One Creator may be used by several goroutines, and several Creators for one
// server share nothing: two leaders, each with goroutines that want the same,
// amid faults.
func TestConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := klog.NewContext(t.Context(), logr.Discard()) // client-go logs answers that break off
		server := oncetest.NewServer()
		server.Random("*", "*", 1, 0.3)
		leaders := [2]*Creator{creatorFor(t, server.Config()), creatorFor(t, server.Config())}
		var group sync.WaitGroup
		for n := range 60 {
			group.Go(func() {
				if _, err := leaders[n%2].Create(ctx, configMap("a"), For(owner, fmt.Sprint(n%10))); err != nil {
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

// The deadline of a context ends a create within the grace, and what is in
// flight is said to be unknown.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		c := creatorFor(t, always(oncetest.Delay(time.Hour)).Config(), WithGrace(3*time.Second))
		_, err := c.Create(ctx, configMap("a"), For(owner, "x"))
		if took := time.Since(start); !errors.Is(err, ErrUnknown) || took < 2*time.Second || took > 6*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		if _, err := c.Create(ctx, configMap("a"), For(owner, "x")); !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("too late: %v", err)
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
		r, err := creatorFor(t, server.Config()).Create(ctx, configMap("a"), NewID())
		if took := time.Since(start); err != nil || r.Outcome != Created || took >= DefaultGrace || asked(server, "get") != 1 {
			t.Errorf("%+v, %v after %s", r, err, took)
		}
	})
}

// Every request has a deadline: that of the configuration, or a minute, which
// begins below client-go's rate limiter.
func TestRequestsHaveADeadline(t *testing.T) {
	for configured, want := range map[time.Duration]time.Duration{0: requestTimeout, time.Second: 0} {
		config := oncetest.NewServer().Config()
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
	config := oncetest.NewServer().Config()
	l := &limiter{RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter()}
	config.RateLimiter = l
	c := creatorFor(t, config)
	if _, err := c.Create(t.Context(), configMap("a"), NewID()); err != nil { // discovery is over
		t.Fatal(err)
	}
	l.deadlines = 0
	if _, err := c.Create(t.Context(), configMap("a"), NewID()); err != nil || l.deadlines > 0 {
		t.Errorf("%v, %d deadlines", err, l.deadlines)
	}
}

// What was created with other content is that also after a lost answer.
func TestMismatchInDoubt(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	if _, err := c.Create(t.Context(), configMap("a"), For(owner, "x")); err != nil {
		t.Fatal(err)
	}
	server.Next("create", "*", oncetest.DropRequest)
	result, err := c.Create(t.Context(), configMap("b"), For(owner, "x"))
	if !errors.Is(err, ErrMismatch) || result.Object == nil || asked(server, "create") != 2 {
		t.Errorf("%+v, %v", result, err)
	}
}

// The content is the same wherever the namespace was said.
func TestNamespaceOfAnOption(t *testing.T) {
	c := creatorFor(t, oncetest.NewServer().Config(), WithNamespace("ns"))
	homeless := configMap("a")
	homeless.Namespace = ""
	for n, object := range []*corev1.ConfigMap{homeless, configMap("a")} {
		result, err := c.Create(t.Context(), object, For(owner, "x"))
		if want := []Outcome{Created, Found}[n]; err != nil || result.Outcome != want {
			t.Errorf("%+v, %v, want %s", result, err, want)
		}
	}
}

// roundTripper is a transport that is a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A type that was not there at first is found once it is.
func TestTypeThatComesLater(t *testing.T) {
	server := oncetest.NewServer()
	config := server.Config()
	config.Transport = roundTripper(func(req *http.Request) (*http.Response, error) { return server.RoundTrip(req) })
	c := creatorFor(t, config)
	widget := configMap("a")
	widget.Kind = "Widget"
	if _, err := c.Create(t.Context(), widget, NewID()); !meta.IsNoMatchError(err) {
		t.Fatal(err)
	}
	server = oncetest.NewServer(oncetest.Type{Version: "v1", Kind: "Widget"})
	c.asked = time.Now().Add(-askAgain) // as if the time were over
	if _, err := c.Create(t.Context(), widget, NewID()); err != nil {
		t.Error(err)
	}
}

// Whatever encoding the configuration is for, objects are sent and read as JSON:
// oncetest knows no other.
func TestEncoding(t *testing.T) {
	server := oncetest.NewServer()
	config := server.Config()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	if _, err := creatorFor(t, config).Create(t.Context(), configMap("a"), NewID()); err != nil {
		t.Error(err)
	}
}

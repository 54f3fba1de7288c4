package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
)

// The HTTP model tests the parts that the model of pkg/once/protocol leaves out: requests, responses, client-go and
// the transport. Its server is scripted response by response. The model runs each script of accidents up to a depth.
// The checker of oncetest, which users have, checks the promise.

func TestHTTPModel(t *testing.T) {
	generated := ID{Derivation: Derivation{Creation: ourID}, names: ourID}
	for name, test := range map[string]struct {
		httpModel
		excused int // at most, of a hundred
	}{
		"generated":              {httpModel{depth: 3, id: generated}, 4},
		"generated, interrupted": {httpModel{depth: 2, id: generated, interrupts: true}, 2},
		"generated, the server's clock is behind": {httpModel{depth: 2, id: generated, ahead: -time.Hour}, 3},
		"generated, the server's clock is ahead":  {httpModel{depth: 2, id: generated, ahead: time.Hour}, 3},
		"named":                                   {httpModel{depth: 2, named: true, id: generated}, 6},
		"keyed":                                   {httpModel{depth: 2, id: Derive(Derivation{Creation: ourID, Run: "v1-run"})}, 3},
		"keyed, killed":                           {httpModel{depth: 2, id: Derive(Derivation{Creation: ourID, Run: "v1-run"}), kills: true}, 3},
		"named, keyed, killed":                    {httpModel{depth: 2, named: true, id: Derive(Derivation{Creation: ourID, Run: "v1-run"}), kills: true}, 5},
		"untracked":                               {httpModel{depth: 3, id: Untracked()}, 56},
		"untracked, named":                        {httpModel{depth: 3, named: true, id: Untracked()}, 44},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() {
				test.depth = 2 // the race detector sees the same code
			}
			ends, err := test.explore(t)
			if err != nil {
				t.Fatal(err)
			}
			all := 0
			for _, n := range ends {
				all += n
			}
			t.Log(ends)
			if share := 100 * ends[isExcused] / all; share > test.excused {
				t.Errorf("%d%% of %d histories are excused, want at most %d%%", share, all, test.excused)
			}
			for _, e := range []ending{isCreated, isFailed, isUnknown} {
				if ends[e] == 0 {
					t.Errorf("no run ended as %s: the model explores too little", e)
				}
			}
		})
	}
}

// httpModel is an object and the accidents that its requests can meet.
type httpModel struct {
	depth      int // how many requests can meet an accident
	named      bool
	id         ID
	interrupts bool                                      // the context may be done while a request is in flight
	kills      bool                                      // the process may be killed by then, and another one goes on
	ahead      time.Duration                             // of the server's clock
	wraps      func(http.RoundTripper) http.RoundTripper // between client and server, if not nil
}

// explore runs all scripts and counts how they ended. The error is of the first
// that broke the promise.
func (m httpModel) explore(t *testing.T) (ends map[ending]int, broken error) {
	ends = map[ending]int{}
	synctest.Test(t, func(t *testing.T) { // one for all, because the race detector never frees a bubble's memory
		for c, more := (&choices.Choices{Depth: m.depth}), true; more && broken == nil; more = c.Advance() {
			var kind ending
			kind, broken = m.run(t.Context(), c)
			ends[kind]++
			time.Sleep(time.Hour) // no request of the history is in flight then
		}
	})
	return ends, broken
}

// history is one script and its results so far.
type history struct {
	model   httpModel
	choices *choices.Choices
	server  *oncetest.Server
	stop    context.CancelFunc // ends the context given to Create
	killed  bool
	twin    bool // another process is at work, whose requests meet nothing
	script  []string
	hidden  excuse
	behind  excuse // excuses of a process that has ended
	there   bool   // when the last process had ended
}

func (m httpModel) run(ctx context.Context, c *choices.Choices) (ending, error) {
	ctx = klog.NewContext(ctx, logr.Discard()) // client-go logs responses that break off
	h := &history{model: m, choices: c, server: oncetest.NewServer()}
	h.server.SetClock(func() time.Time { return time.Now().Add(m.ahead) })
	h.server.Func(h.next)
	result, err := h.create(ctx)
	if h.killed {
		h.killed, h.behind = false, h.hidden
		time.Sleep(time.Minute)
		if m.id.Run != "" && slices.ContainsFunc(h.ofOurs(), hasRunLabel) { // a run with a key looks before it creates
			result, err = Result{Outcome: protocol.Found}, nil
		} else {
			result, err = h.create(ctx)
		}
	}
	h.there = len(h.ofOurs()) > 0
	reports := map[string]oncetest.Outcome{ourID: promiseOf(result, err)}
	kind := endingOf(result, err)
	for _, v := range h.server.Check(creationOf, reports) {
		kind = isExcused
		if !h.excuses(v, result, err) {
			return "", fmt.Errorf("%s\n\tthe result: %+v, %s\n\tthe script: %q", v, result, fmt.Sprint(err), h.script)
		}
	}
	return kind, nil
}

// isExcused is how a create ends that no client could have reported truly.
const isExcused ending = "excused"

func (h *history) create(ctx context.Context) (Result, error) {
	ctx, h.stop = context.WithCancel(ctx)
	defer h.stop()
	config := h.server.Config()
	if h.model.wraps != nil {
		config.Transport = h.model.wraps(h.server)
	}
	return h.model.create(ctx, config)
}

func (m httpModel) create(ctx context.Context, config *rest.Config) (Result, error) {
	creator, err := NewForConfig(config)
	if err != nil {
		return Result{}, err
	}
	object := configMapObject()
	object.Object["data"] = map[string]any{"creation": ourID}
	if m.named {
		object.SetName("p")
	} else {
		object.SetGenerateName("p-")
	}
	return creator.Create(ctx, configMapMapping, object, m.id, Settings{RetryTimeout: time.Minute, Attempts: 2})
}

// next is the accident that a request meets, by the script.
func (h *history) next(r *oncetest.Request) oncetest.Fault {
	switch {
	case h.twin:
		return nil
	case h.killed:
		return oncetest.DropRequest
	}
	accidents := map[string][]accident{"create": postAccidents, "get": getAccidents, "": reviewAccidents}[r.Verb]
	accidents = append(slices.Clip(accidents), h.more()...)
	a := accidents[h.choices.Choose(len(accidents))]
	h.script = append(h.script, r.Verb+" "+r.Name+": "+a.name)
	h.hidden |= a.hides
	if a.before != nil {
		object := configMapObject()
		object.SetName(r.Name)
		a.before(h.server, object)
	}
	return a.fault
}

// more returns the accidents that not every model has.
func (h *history) more() (accidents []accident) {
	if h.model.interrupts {
		accidents = append(accidents,
			accident{name: "interrupted", before: func(*oncetest.Server, *unstructured.Unstructured) { h.stop() }},
			accident{name: "interrupted, response lost", fault: oncetest.AfterStore(func(*oncetest.Request) (*http.Response, error) {
				h.stop()
				return nil, context.Canceled
			})})
	}
	if h.model.kills {
		accidents = append(accidents, accident{name: "killed", fault: oncetest.AfterStore(func(*oncetest.Request) (*http.Response, error) {
			h.stop()
			h.killed = true
			return nil, errKilled
		})})
	}
	if h.model.id.repeated {
		accidents = append(accidents, accident{name: "another process", before: func(s *oncetest.Server, _ *unstructured.Unstructured) {
			h.twin = true
			_, _ = h.model.create(context.Background(), s.Config())
			h.twin = false
		}})
	}
	return accidents
}

// ofOurs returns the objects of the creation that are there.
func (h *history) ofOurs() []*unstructured.Unstructured {
	return slices.DeleteFunc(h.server.Objects(), func(o *unstructured.Unstructured) bool { return creationOf(o) == "" })
}

func hasRunLabel(o *unstructured.Unstructured) bool { return o.GetLabels()[RunLabel] != "" }

// failedButExists is the problem of an object whose create was reported failed.
const failedButExists = "failed, but an object exists"

// excuses reports whether no client could have kept the promise.
func (h *history) excuses(v oncetest.Violation, r Result, err error) bool {
	switch {
	case h.hidden&nameGiven > 0, h.hidden&stripped > 0 && (h.model.named || h.model.id.repeated) && errors.Is(err, ErrTaken):
		return true
	case h.model.id.untracked:
		return h.hidden&behindTheResponse > 0
	case v.Problem == failedButExists && h.behind&landsLate > 0 && !h.there:
		return true
	case r.Unverified && apierrors.IsUnauthorized(err): // no credential could read it
		return true
	}
	return h.hidden&unreadable > 0 && (r.Unverified || v.Problem == failedButExists)
}

// promiseOf returns the outcome that a result promises.
func promiseOf(r Result, err error) oncetest.Outcome {
	switch {
	case err == nil, errors.Is(err, ErrRenamed):
		return oncetest.Created
	case r.Outcome == protocol.Unknown:
		return oncetest.Unknown
	}
	return oncetest.Failed
}

// creationOf returns the creation of an object. It is in the content, which no accident removes.
func creationOf(o metav1.Object) string {
	creation, _, _ := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "data", "creation")
	return creation
}

var configMapKind = schema.GroupKind{Kind: "ConfigMap"}

var configMapMapping = &meta.RESTMapping{
	Resource:         schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
	GroupVersionKind: configMapKind.WithVersion("v1"), Scope: meta.RESTScopeNamespace,
}

func configMapObject() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(configMapKind.WithVersion("v1"))
	object.SetNamespace("ns")
	return object
}

// misreading is a transport that replaces some responses. misreading stands for a wrong classification of these
// responses.
type misreading struct {
	below http.RoundTripper
	which string // responses, like "GET 403 text/html"
	as    oncetest.Fault
}

func (m misreading) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.below.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	what := req.Method
	if strings.HasSuffix(req.URL.Path, "/selfsubjectreviews") {
		what = "REVIEW"
	}
	if fmt.Sprintf("%s %d %s", what, resp.StatusCode, resp.Header.Get("Content-Type")) != m.which {
		return resp, nil
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	return m.as(nil)
}

// The HTTP model finds a wrong classification of responses.
func TestHTTPModelFindsWrongClassifications(t *testing.T) {
	absent := oncetest.Refuse(apierrors.NewNotFound(configMaps, ""))
	noPermission := oncetest.Refuse(apierrors.NewForbidden(configMaps, "", nil))
	notStored := oncetest.Refuse(apierrors.NewServiceUnavailable("apiserver is shutting down"))
	ourClock := func(*oncetest.Request) (*http.Response, error) {
		return oncetest.Respond(http.StatusCreated, "application/json", fmt.Sprintf(
			`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":%q}}`,
			time.Now().UTC().Format(time.RFC3339)))(nil)
	}
	for name, test := range map[string]struct {
		responses string
		are       oncetest.Fault
	}{
		"a 504 is a refusal":                    {"POST 504 application/json", badField},
		"a 504 comes before the store":          {"POST 504 application/json", notStored},
		"etcd's timeout is a refusal":           {"POST 500 application/json", badField},
		"a quota's 403 stands":                  {"POST 403 application/json", badField},
		"a load balancer's 503 is the API's":    {"POST 503 text/plain", notStored},
		"a 401 is a missing permission":         {"GET 401 application/json", noPermission},
		"a proxy's 403 is a missing permission": {"GET 403 text/html", noPermission},
		"a proxy's 404 is an absence":           {"GET 404 text/html", absent},
		"the server's clock is ours":            {"REVIEW 201 application/json", ourClock},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := httpModel{depth: 2, id: ID{Derivation: Derivation{Creation: ourID}, names: ourID}, ahead: -time.Hour}
			m.wraps = func(rt http.RoundTripper) http.RoundTripper { return misreading{rt, test.responses, test.are} }
			if _, err := m.explore(t); err == nil {
				t.Error("it is not found out")
			}
		})
	}
}

package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

func typeOf(group, kind, resource string) census.Resource {
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
	return census.Resource{GroupVersionResource: gvr, Kind: kind, Namespaced: true}
}

var (
	configMaps = typeOf("", "ConfigMap", "configmaps")
	jobs       = typeOf("batch", "Job", "jobs")
	workflows  = typeOf("argoproj.io", "Workflow", "workflows")
)

// responses are a server's responses to DELETE and GET, in order. The server repeats the last response.
type responses struct {
	mu       sync.Mutex
	of       map[string]handlers
	requests []string
	bodies   []string
}

func (r *responses) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req.Method)
	if req.Body != nil {
		body, _ := io.ReadAll(req.Body)
		r.bodies = append(r.bodies, string(body))
	}
	queue := r.of[req.Method]
	if len(queue) > 1 {
		r.of[req.Method] = queue[1:]
	}
	if len(queue) == 0 || queue[0] == nil {
		return nil, io.ErrUnexpectedEOF
	}
	w := httptest.NewRecorder()
	queue[0](w)
	return w.Result(), nil
}

// status responds with a Status of the API server.
func status(code int, reason string, details string) func(http.ResponseWriter) {
	return respond(code, fmt.Sprintf(
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"m","details":{%s},"code":%d}`, reason, details, code))
}

func respond(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "3")
		}
		fakeapi.Respond(w, code, body)
	}
}

// These are the responses of the test servers. A nil response breaks the connection.
var (
	success = respond(200, `{"kind":"Status","status":"Success","details":{"name":"run-bbbbb","uid":"u1"}}`)
	held    = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","deletionTimestamp":"2026-11-22T10:00:00Z",`+
		`"deletionGracePeriodSeconds":0,"finalizers":["a/b"]}}`)
	graceful     = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"uid":"u1","deletionTimestamp":"2026-11-22T10:00:00Z","deletionGracePeriodSeconds":30}}`)
	terminating  = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"uid":"u1","deletionTimestamp":"2026-11-22T10:00:00Z"}}`)
	finishedPod  = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"uid":"u1","deletionTimestamp":"2026-11-22T10:00:00Z","deletionGracePeriodSeconds":0}}`)
	foreign      = respond(200, `{"kind":"Status","status":"Success","details":{"name":"other","uid":"u7"}}`)
	page         = respond(200, `<html>`)
	absent       = status(404, "NotFound", `"name":"run-bbbbb"`)
	conflict     = status(409, "Conflict", `"name":"run-bbbbb"`)
	forbidden    = status(403, "Forbidden", `"name":"run-bbbbb"`)
	unauthorized = status(401, "Unauthorized", ``)
	trouble      = status(500, "InternalError", ``)
	busy         = respond(429, "Too many requests, please try again later.") // as API Priority and Fairness
	exists       = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","resourceVersion":"8","creationTimestamp":"2026-11-22T10:00:00Z"}}`)
	adopted      = respond(200, `{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","resourceVersion":"8","creationTimestamp":"2026-11-22T10:00:00Z","ownerReferences":[{"controller":true}]}}`)
	labeled      = respond(200, `{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","creationTimestamp":"2026-11-22T10:00:00Z","labels":{"app":"y"}}}`)
	renamed      = respond(200, `{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","generateName":"other-","uid":"u1","creationTimestamp":"2026-11-22T10:00:00Z"}}`)
	ours         = respond(200, `{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","uid":"u1"}}`)
	replaced     = respond(200, `{"kind":"PartialObjectMetadata","metadata":{"name":"run-bbbbb","uid":"u2"}}`)
	ending       = held
)

type handlers = []func(http.ResponseWriter)

// versions returns responses with n versions of the object, one for each request.
func versions(n int) (all handlers) {
	for i := range n {
		all = append(all, respond(200, fmt.Sprintf(`{"kind":"ConfigMap","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1",`+
			`"resourceVersion":"%d","creationTimestamp":"2026-11-22T10:00:00Z"}}`, 100+i)))
	}
	return all
}

// exchange has the responses to the requests of a delete, and its result. Without requests, prune gives up.
type exchange struct {
	deletes, gets handlers
	want          Outcome
	reason        v1alpha1.PruneReason
	requests      string
}

// run deletes an object, and returns the time that this took.
func (d exchange) run(t *testing.T, o Object) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		server := &responses{of: map[string]handlers{"DELETE": d.deletes, "GET": d.gets}}
		began := time.Now()
		got := newDeleter(t, server).delete(t.Context(), o)
		took = time.Since(began)
		gaveUp := d.requests == ""
		if got.Outcome != d.want || got.Reason != d.reason || got.GaveUp != gaveUp {
			t.Errorf("%s, reason %q, gave up %t, want %s, %q and %t: %v", got.Outcome, got.Reason, got.GaveUp, d.want, d.reason, gaveUp, got.Err)
		}
		if requests := strings.Join(server.requests, " "); !gaveUp && requests != d.requests {
			t.Errorf("the requests are %s, want %s", requests, d.requests)
		}
		if (got.Err != nil) != (got.Outcome == Failed || got.Outcome == Unknown) {
			t.Errorf("the error is %v", got.Err)
		}
		checkDeletions(t, server)
	})
	return took
}

func TestDeleteUntilTheOutcomeIsKnown(t *testing.T) {
	for name, test := range map[string]exchange{
		"deleted":                     {handlers{success}, nil, Deleted, "", "DELETE"},
		"held by a finalizer":         {handlers{held}, nil, Deleting, "", "DELETE"},
		"a running Pod":               {handlers{graceful}, nil, Deleting, "", "DELETE"},
		"a namespace":                 {handlers{terminating}, nil, Deleting, "", "DELETE"},
		"a finished Pod":              {handlers{finishedPod}, nil, Deleted, "", "DELETE"},
		"gone at once, with a body":   {handlers{ours}, nil, Deleted, "", "DELETE"},
		"adopted meanwhile":           {handlers{conflict}, handlers{adopted}, LeftAlone, v1alpha1.PruneControlled, "DELETE GET"},
		"labels that changed":         {handlers{conflict}, handlers{labeled}, LeftAlone, v1alpha1.PruneNotSelected, "DELETE GET"},
		"another generateName":        {handlers{conflict}, handlers{renamed}, LeftAlone, v1alpha1.PruneNotGenerated, "DELETE GET"},
		"deleted meanwhile":           {handlers{conflict}, handlers{ending}, LeftAlone, v1alpha1.PruneBeingDeleted, "DELETE GET"},
		"a conflict of a webhook":     {handlers{conflict}, handlers{exists}, Failed, "", "DELETE GET DELETE GET"},
		"changed all the time":        {handlers{conflict}, versions(maxConflicts + 1), LeftAlone, v1alpha1.PruneChanged, strings.Repeat("DELETE GET ", maxConflicts) + "DELETE GET"},
		"a 404 about nothing":         {handlers{status(404, "NotFound", ""), success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"deleted by another":          {handlers{absent}, nil, LeftAlone, v1alpha1.PruneGone, "DELETE"},
		"replaced":                    {handlers{conflict}, handlers{replaced}, LeftAlone, v1alpha1.PruneReplaced, "DELETE GET"},
		"gone after a conflict":       {handlers{conflict}, handlers{absent}, LeftAlone, v1alpha1.PruneGone, "DELETE GET"},
		"another conflict":            {handlers{conflict, success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"lost, and gone":              {handlers{nil}, handlers{absent}, Deleted, "", "DELETE GET"},
		"lost, and being deleted":     {handlers{nil}, handlers{ending}, Deleting, "", "DELETE GET"},
		"lost, and replaced":          {handlers{nil}, handlers{replaced}, LeftAlone, v1alpha1.PruneReplaced, "DELETE GET"},
		"lost, and still there":       {handlers{nil, success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"lost, and the GET too":       {handlers{nil}, handlers{nil, absent}, Deleted, "", "DELETE GET GET"},
		"500, and gone":               {handlers{trouble}, handlers{absent}, Deleted, "", "DELETE GET"},
		"a page of a proxy":           {handlers{page}, handlers{absent}, Deleted, "", "DELETE GET"},
		"about another object":        {handlers{foreign, success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"a 404 of a proxy":            {handlers{respond(404, "not here"), success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"a 404 of another object":     {handlers{status(404, "NotFound", `"name":"x"`), success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"a 403 of a proxy":            {handlers{respond(403, "<html>"), success}, handlers{exists}, Deleted, "", "DELETE GET DELETE"},
		"busy":                        {handlers{busy, success}, nil, Deleted, "", "DELETE DELETE"},
		"refused":                     {handlers{forbidden}, nil, Failed, "", "DELETE"},
		"refused while it starts":     {handlers{nil, forbidden, success}, handlers{exists}, Deleted, "", "DELETE GET DELETE DELETE"},
		"a credential that expires":   {handlers{unauthorized, success}, nil, Deleted, "", "DELETE DELETE"},
		"no credential":               {handlers{unauthorized}, nil, Failed, "", "DELETE DELETE DELETE DELETE DELETE"},
		"invalid":                     {handlers{status(422, "Invalid", "")}, nil, Failed, "", "DELETE"},
		"trouble without end":         {handlers{trouble}, handlers{exists}, Failed, "", ""},
		"no response without end":     {handlers{nil}, handlers{nil}, Unknown, "", ""},
		"no response, but it's there": {handlers{nil}, handlers{exists}, Unknown, "", ""},
		"busy without end":            {handlers{busy}, nil, Failed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if took := test.run(t, listed()); name == "busy" && took < 3*time.Second || took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Prune leaves a ConfigMap alone that changed after the plan, because the plan doesn't know its new users.
func TestUsableObjectsThatChanged(t *testing.T) {
	for name, test := range map[string]struct {
		resource census.Resource
		inUse    bool
		want     Outcome
	}{
		"a ConfigMap":                    {configMaps, false, LeftAlone},
		"a ConfigMap with --in-use":      {configMaps, true, Deleted},
		"a Job, which nothing refers to": {jobs, false, Deleted},
	} {
		server := &responses{of: map[string]handlers{"DELETE": {conflict, success}, "GET": {exists}}}
		o := listedOf(test.resource)
		o.Pool.rules.criteria.InUse, o.Pool.rules.criteria.Running = test.inUse, true
		got := newDeleter(t, server).delete(t.Context(), o)
		if got.Outcome != test.want || test.want == LeftAlone && got.Reason != v1alpha1.PruneChanged {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

// checkDeletions checks the options of each DELETE.
func checkDeletions(t *testing.T, server *responses) {
	t.Helper()
	for _, body := range server.bodies {
		var options struct {
			Preconditions     struct{ UID, ResourceVersion string }
			PropagationPolicy string
		}
		if err := json.Unmarshal([]byte(body), &options); err != nil {
			t.Fatal(err)
		}
		if options.Preconditions.UID != "u1" || options.Preconditions.ResourceVersion == "" || options.PropagationPolicy != "Background" {
			t.Errorf("the options are %s", body)
		}
	}
}

// An interrupt ends the pauses and the wait for the rate limiter. After a while, it also ends requests in flight.
func TestDeleteInterrupted(t *testing.T) {
	hangs := &fakeapi.Server{Fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}}
	of := func(response func(http.ResponseWriter)) *responses {
		return &responses{of: map[string]handlers{"DELETE": {response}}}
	}
	for name, test := range map[string]struct {
		server  http.RoundTripper
		limited bool
		want    Outcome
		ends    time.Duration // after the interrupt
	}{
		"before anything was carried out": {of(busy), false, NotTried, 0},
		"after a lost response":           {of(nil), false, Unknown, 0},
		"in flight":                       {hangs, false, Unknown, grace},
		"before its turn":                 {of(success), true, NotTried, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, interrupt)
				d := newDeleter(t, test.server)
				if test.limited {
					d.client.limiter = flowcontrol.NewTokenBucketRateLimiter(0.01, 1)
					d.client.limiter.Accept()
				}
				began := time.Now()
				got := d.delete(ctx, listed())
				if took := time.Since(began); got.Outcome != test.want || took != time.Second+test.ends {
					t.Errorf("%s after %s, want %s after %s: %v", got.Outcome, took, test.want, time.Second+test.ends, got.Err)
				}
			})
		})
	}
}

// newDeleter returns a deleter that retries for 30 seconds.
func newDeleter(t *testing.T, server http.RoundTripper) *deleter {
	t.Helper()
	client, err := newClient(&rest.Config{Host: "http://server", Transport: server, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &deleter{client: client, retryTimeout: 30 * time.Second, unreachableAt: &atomic.Int64{}}
}

func listed() Object { return listedOf(typeOf("rbac.authorization.k8s.io", "Role", "roles")) }

func listedOf(resource census.Resource) Object {
	rules, err := newRules(Target{resource, []string{"run-"}}, Criteria{Selector: "app!=y"})
	if err != nil {
		panic(err)
	}
	pool := &Pool{Resource: resource, Namespace: "ns", Prefix: "run-", rules: rules}
	return Object{Pool: pool, Name: "run-bbbbb", UID: "u1", ResourceVersion: "7"}
}

// labelsOf returns the labels of a Pod that a Job created.
func labelsOf(name, uid string) string {
	return fmt.Sprintf(`{"job-name":%q,"controller-uid":%q}`, name, uid)
}

func listOf(items ...string) string {
	return `{"kind":"List","metadata":{"resourceVersion":"7"},"items":[` + strings.Join(items, ",") + `]}`
}

// The plan contains the Pods that have no controller and whose Job doesn't exist. A new Job with the same name has
// another UID.
func TestOrphanedPods(t *testing.T) {
	pod := func(name, labels, more string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"creationTimestamp":"2026-11-01T00:00:00Z",`+
			`"labels":%s%s},"status":{"phase":"Succeeded"}}`, name, name, labels, more)
	}
	owned := `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"gone","uid":"u","controller":true}]`
	pods := []string{
		pod("gone-bbbbb", labelsOf("gone", "u1"), ""),
		pod("again-bbbbb", labelsOf("again", "old"), ""),
		pod("held-bbbbb", labelsOf("gone", "u1"), `,"deletionTimestamp":"2026-11-02T00:00:00Z"`),
		pod("there-bbbbb", labelsOf("there", "u2"), ""),
		pod("owned-bbbbb", labelsOf("gone", "u1"), owned),
		pod("alone-bbbbb", `{"app":"x"}`, ""),
		pod("half-bbbbb", `{"job-name":"gone"}`, ""),
	}
	lists := map[string]string{
		"/api/v1/pods": listOf(pods...),
		"/apis/batch/v1/jobs": listOf(`{"metadata":{"name":"there","namespace":"ns","uid":"u2"}}`,
			`{"metadata":{"name":"again","namespace":"ns","uid":"new"}}`),
	}
	p := using(t, lists, Criteria{Orphaned: true})
	plan, err := p.Plan(t.Context(), []Target{{Resource: census.Pods}}, nil)
	if err != nil || len(plan.Pools) != 1 {
		t.Fatalf("%+v, want 1 pool: %v", plan, err)
	}
	var got []string
	for o := range plan.Objects() {
		got = append(got, o.Name)
	}
	if diff := cmp.Diff([]string{"again-bbbbb", "gone-bbbbb"}, got); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
	want := map[v1alpha1.PruneReason]int64{v1alpha1.PruneNotOrphaned: 1, v1alpha1.PruneBeingDeleted: 1}
	if diff := cmp.Diff(want, plan.Pools[0].Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	lists["/apis/batch/v1/jobs"] = "Forbidden"
	if _, err := using(t, lists, Criteria{Orphaned: true}).Plan(t.Context(), []Target{{Resource: census.Pods}}, nil); err == nil {
		t.Error("a plan without a list of Jobs, want an error")
	}
}

// Before each DELETE of an orphaned Pod, prune sends a GET of its Job.
func TestDeleteOfAnOrphan(t *testing.T) {
	noJob := status(404, "NotFound", `"name":"j"`)
	job := func(uid string) func(http.ResponseWriter) {
		return respond(200, `{"kind":"Job","metadata":{"name":"j","uid":"`+uid+`"}}`)
	}
	pod := func(labels, more string) func(http.ResponseWriter) {
		return respond(200, `{"kind":"Pod","metadata":{"name":"run-bbbbb","uid":"u1","resourceVersion":"8",`+
			`"creationTimestamp":"2026-11-22T10:00:00Z","labels":`+labels+more+`}}`)
	}
	adopted := `,"ownerReferences":[{"kind":"Job","name":"j","uid":"j1","controller":true}]`
	rules, err := newRules(Target{Resource: census.Pods}, Criteria{Orphaned: true, Running: true})
	if err != nil {
		t.Fatal(err)
	}
	orphan := Object{
		Pool: &Pool{Resource: census.Pods, Namespace: "ns", rules: rules}, Name: "run-bbbbb", UID: "u1", ResourceVersion: "7",
		job: &object.JobRef{Name: "j", UID: "j1"}, Running: true,
	}
	for name, test := range map[string]exchange{
		"no Job":                {handlers{success}, handlers{noJob}, Deleted, "", "GET DELETE"},
		"another Job":           {handlers{success}, handlers{job("j2")}, Deleted, "", "GET DELETE"},
		"the Job exists":        {nil, handlers{job("j1")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET"},
		"no permission":         {nil, handlers{status(403, "Forbidden", `"name":"j"`)}, Failed, "", "GET"},
		"a 404 of a proxy":      {handlers{success}, handlers{respond(404, "not here"), noJob}, Deleted, "", "GET GET DELETE"},
		"adopted after a 409":   {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j1"), adopted)}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET"},
		"a Job after a 409":     {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j1"), ""), job("j1")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET GET"},
		"a lost response":       {handlers{nil, success}, handlers{noJob, pod(labelsOf("j", "j1"), ""), noJob}, Deleted, "", "GET DELETE GET GET DELETE"},
		"other labels by now":   {handlers{conflict}, handlers{noJob, pod(`{}`, "")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET"},
		"another Job in labels": {handlers{conflict}, handlers{noJob, pod(labelsOf("j", "j2"), ""), job("j2")}, LeftAlone, v1alpha1.PruneNotOrphaned, "GET DELETE GET GET"},
	} {
		t.Run(name, func(t *testing.T) { test.run(t, orphan) })
	}
}

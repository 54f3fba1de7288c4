package follow

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// server responds to requests about one Job, in the order of responses. It repeats the last response.
type server struct {
	t         *testing.T
	responses []string // a status and a body, "lost" or "hang"
	requests  []string // with the preconditions
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	request := r.Method
	if r.Method == http.MethodDelete {
		var sent metav1.DeleteOptions
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || *sent.PropagationPolicy != metav1.DeletePropagationBackground || *sent.Preconditions.UID != "a" {
			s.t.Errorf("%v: the body is %+v", err, sent)
		}
		if version := sent.Preconditions.ResourceVersion; version != nil {
			request += "@" + *version
		}
	}
	s.requests = append(s.requests, request)
	next := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	switch next {
	case "lost":
		panic(http.ErrAbortHandler)
	case "hang":
		<-r.Context().Done()
		return
	}
	code, text, _ := strings.Cut(next, " ")
	status, _ := strconv.Atoi(code)
	fakeapi.Respond(w, status, text)
}

// jobAs returns a response with the Job a, with this UID, version and condition.
func jobAs(uid, version, condition string) string {
	return fmt.Sprintf(`200 {"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a","uid":%q,"resourceVersion":%q},"status":{"conditions":[{"type":%q,"status":"True"}]}}`,
		uid, version, condition)
}

const done = `200 {"kind":"Status","apiVersion":"v1","status":"Success"}`

// Delete repeats a deletion until it gets a final response. It doesn't delete an object with another UID, or an object
// that has finished since the wait.
func TestDelete(t *testing.T) {
	const (
		conflict = `409 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`
		missing  = `404 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"name":"a"},"code":404}`
		proxy    = `404 default backend - 404`
		expired  = `401 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"who?","code":401}`
		broken   = `500 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`
		no       = `403 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`
		noVerb   = `405 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"MethodNotAllowed","message":"no","code":405}`
	)
	runs, goesOn, other := jobAs("a", "7", "Suspended"), jobAs("a", "8", "Suspended"), jobAs("b", "9", "Suspended")
	for name, test := range map[string]struct {
		responses []string
		requests  string
		result    wait.Result
		want      string        // error
		took      time.Duration // at least
	}{
		"deleted":                     {[]string{runs, done}, "GET DELETE@7", wait.Deleted, "", 0},
		"gone":                        {[]string{missing}, "GET", wait.Deleted, "", 0},
		"gone meanwhile":              {[]string{runs, missing}, "GET DELETE@7", wait.Deleted, "", 0},
		"replaced":                    {[]string{other}, "GET", wait.Deleted, "", 0},
		"replaced meanwhile":          {[]string{runs, conflict, other}, "GET DELETE@7 GET", wait.Deleted, "", 0},
		"succeeded":                   {[]string{jobAs("a", "8", "Complete")}, "GET", wait.Succeeded, "", 0},
		"succeeded meanwhile":         {[]string{runs, conflict, jobAs("a", "8", "Complete")}, "GET DELETE@7 GET", wait.Succeeded, "", 0},
		"failed meanwhile":            {[]string{runs, conflict, jobAs("a", "8", "Failed")}, "GET DELETE@7 GET", wait.Failed, "", 0},
		"changed meanwhile":           {[]string{runs, conflict, goesOn, done}, "GET DELETE@7 GET DELETE@8", wait.Deleted, "", 0},
		"a load balancer's 404":       {[]string{proxy, runs, proxy, proxy, goesOn, done}, "GET GET DELETE@7 GET GET DELETE@8", wait.Deleted, "", 0},
		"without permission to get":   {[]string{no, done}, "GET DELETE", wait.Deleted, "", 0},
		"a type without the verb get": {[]string{noVerb, done}, "GET DELETE", wait.Deleted, "", 0},
		"after errors":                {[]string{broken, runs, "lost", "lost", runs, done}, "GET GET DELETE@7 GET GET DELETE@7", wait.Deleted, "", 0},
		"expired credentials":         {[]string{expired, runs, expired, goesOn, done}, "GET GET DELETE@7 GET DELETE@8", wait.Deleted, "", 0},
		"no credentials":              {[]string{expired}, "", wait.Interrupted, "who?", MaxDeleting / 2},
		"forbidden":                   {[]string{runs, no}, "GET DELETE@7", wait.Interrupted, "no", 0},
		"lost":                        {slices.Repeat([]string{runs, "lost"}, 100), "", wait.Interrupted, "unexpected EOF", MaxDeleting / 2},
		"hanging":                     {[]string{"hang"}, "GET", wait.Interrupted, "the server did not respond within 10s", MaxDeleting},
		"hanging later":               {[]string{runs, "hang"}, "GET DELETE@7", wait.Interrupted, "the server did not respond within 10s", MaxDeleting},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{t: t, responses: test.responses}
			f := following(t, Config{Deletes: fakeapi.Direct(s.serve)})
			began, got, result := time.Now(), "", wait.Result("")
			for d := range f.deletions([]wait.Object{aJob("a")}) {
				if result = d.Result; d.Err != nil {
					got = apistatus.Brief(d.Err).Error()
				}
			}
			if took := time.Since(began); !strings.HasSuffix(got, test.want) || (test.want == "") != (got == "") || result != test.result || took < test.took || took > MaxDeleting {
				t.Errorf("%s: %s, %q after %s, want %s, %q", name, result, got, took, test.result, test.want)
			}
			if requests := strings.Join(s.requests, " "); test.requests != "" && requests != test.requests {
				t.Errorf("%s: %s, want %s", name, requests, test.requests)
			}
		})
	}
}

// An object counts as deleted once the server has responded, even if the caller has not read the Ended yet.
func TestDeletedBeforeTheCallerKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{t: t, responses: []string{jobAs("a", "7", "Suspended"), done}}
		f := following(t, Config{Deletes: fakeapi.Direct(s.serve)})
		f.ours["a"] = aJob("a")
		f.count(ended("a", wait.Interrupted), true)
		ends := f.deletions(f.Ours())
		synctest.Wait()
		if left, state := f.Ours(), f.State(); len(left) > 0 || state.Unfinished() > 0 {
			t.Errorf("%v are left, %+v", left, state)
		}
		<-ends
	})
}

// A finished object has failed if it didn't meet --for, and otherwise succeeded. If the run doesn't wait for an object,
// Delete deletes it even after it has finished.
func TestDeleteWithConditions(t *testing.T) {
	conditions := func(all ...bool) (conditions []wait.Condition) {
		for _, met := range all {
			conditions = append(conditions, func(*unstructured.Unstructured) (bool, error) { return met, nil })
		}
		return conditions
	}
	for name, test := range map[string]struct {
		config Config
		kind   string
		want   wait.Result
	}{
		"a condition that it doesn't meet": {Config{For: conditions(true, false)}, "Job", wait.Failed},
		"conditions that it meets":         {Config{For: conditions(true, true)}, "Job", wait.Succeeded},
		"not awaited":                      {Config{}, "ConfigMap", wait.Deleted},
	} {
		s := &server{t: t, responses: []string{jobAs("a", "8", "Complete"), done}}
		test.config.Deletes = fakeapi.Direct(s.serve)
		o := aJob("a")
		o.Mapping.GroupVersionKind.Kind = test.kind
		for d := range following(t, test.config).deletions([]wait.Object{o}) {
			if d.Result != test.want || d.Err != nil {
				t.Errorf("%s: %s, %v, want %s", name, d.Result, d.Err, test.want)
			}
		}
	}
}

// A deleted or finished object is no longer unfinished in the state, and the state has no reason of its Pods. An
// earlier copy of the state doesn't change.
func TestConclude(t *testing.T) {
	f := following(t, Config{}, "a", "b", "c", "d")
	suspended := ended("a", wait.Interrupted)
	suspended.Status.Suspended = true
	for _, e := range []wait.Ended{suspended, ended("b", wait.Interrupted), ended("c", wait.Succeeded), ended("d", wait.Interrupted)} {
		f.change(wait.Change{Object: e.Object, Suspended: e.Status.Suspended})
		f.count(e, e.Result == wait.Interrupted)
	}
	f.setReasons([]pods.Reason{{Owner: &pods.Owner{UID: "a"}}, {Owner: &pods.Owner{UID: "b"}}})
	before := f.State()
	f.conclude(ended("a", wait.Deleted))
	f.conclude(ended("x", wait.Deleted))
	s := f.State()
	if len(s.Running) != 2 || s.Running[0].Object.Name != "b" || s.Unfinished() != 2 || s.Left() != 2 || s.Ended[wait.Deleted] != 1 ||
		s.Suspended != 0 || s.Failed || len(s.Reasons) != 1 || s.Reasons[0].Owner.UID != "b" {
		t.Errorf("%+v, want b and d unfinished, the reason of b, and a deleted", s)
	}
	f.conclude(ended("d", wait.Failed))
	if s := f.State(); s.Unfinished() != 1 || s.Ended[wait.Failed] != 1 || !s.Failed {
		t.Errorf("%+v, want b unfinished, and d failed", s)
	}
	if before.Unfinished() != 3 || before.Running[0].Object.Name != "a" || before.Reasons[0].Owner.UID != "a" {
		t.Errorf("the state from before is %+v, want a, b and d unfinished", before)
	}
}

// Delete deletes the objects that this run created, until they have finished. Those of other types never finish. The
// deletion of a namespace or of a type would delete the objects of others.
func TestOurs(t *testing.T) {
	f := following(t, Config{Deletes: fakeapi.Direct(func(w http.ResponseWriter, r *http.Request) { // UIDs are the first letters of names
		fakeapi.Respond(w, http.StatusOK, fmt.Sprintf(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"uid":%q}}`, path.Base(r.URL.Path)[:1]))
	})})
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	for _, test := range []struct {
		name, kind string
		uid        apitypes.UID
		resource   schema.GroupResource
		ours       bool
		end        wait.Result // of the wait
	}{
		{"succeeded", "Job", "s", jobs, true, wait.Succeeded},
		{"interrupted", "Job", "i", jobs, true, wait.Interrupted},
		{"unread", "Job", "u", jobs, true, wait.Abandoned},
		{"other type", "ConfigMap", "o", schema.GroupResource{Resource: "configmaps"}, true, ""},
		{"found", "Job", "f", jobs, false, ""},
		{"no UID", "Job", "", jobs, true, ""},
		{"a namespace", "Namespace", "a", schema.GroupResource{Resource: "namespaces"}, true, ""},
		{"project", "Project", "p", schema.GroupResource{Group: "project.openshift.io", Resource: "projects"}, true, ""},
		{"definition", "Type", "d", schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, true, ""},
		{"elsewhere", "Namespace", "e", schema.GroupResource{Group: "example.com", Resource: "namespaces"}, true, ""},
	} {
		stored := &unstructured.Unstructured{Object: map[string]any{}}
		stored.SetName(test.name)
		stored.SetUID(test.uid)
		mapping := *aJob(test.name).Mapping
		mapping.GroupVersionKind.Kind, mapping.Resource = test.kind, test.resource.WithVersion("v1")
		o, awaited := f.Add(Created{Mapping: &mapping, Namespace: "ci", Stored: stored, Input: stored, Ours: test.ours})
		if awaited != (test.kind == "Job") {
			t.Errorf("%s is awaited: %t", test.name, awaited)
		}
		if test.end != "" {
			f.count(wait.Ended{Object: o, Result: test.end}, test.end == wait.Interrupted)
		}
	}
	var names []string
	for _, o := range f.Ours() {
		names = append(names, o.Namespace+"/"+o.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"ci/elsewhere", "ci/interrupted", "ci/other type", "ci/unread"}) {
		t.Errorf("%q, want elsewhere, interrupted, other type and unread", names)
	}
	for d := range f.Delete() {
		if d.Err != nil || d.Result != wait.Deleted {
			t.Errorf("%s: %s, %v", d.Object.Name, d.Result, d.Err)
		}
		if slices.ContainsFunc(f.State().Running, func(e wait.Ended) bool { return e.Object.UID == d.Object.UID }) {
			t.Errorf("%s is deleted, and the state during the deletion still has it as unfinished", d.Object.Name)
		}
	}
	if left := f.Ours(); len(left) > 0 || f.State().Unfinished() != 0 || f.State().Ended[wait.Deleted] != 1 {
		t.Errorf("%v are left, %+v", left, f.State())
	}
	if (*Follower)(nil).Ours() != nil {
		t.Error("without a follower, there are objects")
	}
}

package follow

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// server responds to the requests about a Job in their order. The last response repeats.
type server struct {
	t         *testing.T
	responses []string // a status and a body, "lost" or "hang"
	requests  []string
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			s.t.Error(err)
		}
		body = string(text)
	}
	s.requests = append(s.requests, r.Method)
	if r.Method == http.MethodDelete && (!strings.Contains(body, `"propagationPolicy":"Background"`) || !strings.Contains(body, `"preconditions":{"uid":"a"}`)) {
		s.t.Errorf("the body is %s", body)
	}
	next := s.responses[0]
	if len(s.responses) > 1 {
		s.responses = s.responses[1:]
	}
	switch next {
	case "lost":
		return nil, io.ErrUnexpectedEOF
	case "hang":
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	code, text, _ := strings.Cut(next, " ")
	status := map[string]int{"200": 200, "403": 403, "404": 404, "409": 409, "500": 500}[code]
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r,
	}, nil
}

// A DELETE is repeated until it has a final response. An object of another UID is left alone.
func TestDelete(t *testing.T) {
	const (
		done     = `200 {"kind":"Status","apiVersion":"v1","status":"Success"}`
		conflict = `409 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`
		missing  = `404 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"name":"a"},"code":404}`
		proxy    = `404 default backend - 404`
		other    = `200 {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"b"}}`
		same     = `200 {"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"a"}}`
		broken   = `500 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500}`
		no       = `403 {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`
	)
	for name, test := range map[string]struct {
		responses      []string
		requests, want string
		took           time.Duration // at least
	}{
		"deleted":               {[]string{done}, "DELETE", "", 0},
		"gone":                  {[]string{missing}, "DELETE", "", 0},
		"replaced":              {[]string{conflict, other}, "DELETE GET", "", 0},
		"gone meanwhile":        {[]string{conflict, missing}, "DELETE GET", "", 0},
		"a load balancer's 404": {[]string{proxy, conflict, proxy, done}, "DELETE DELETE GET DELETE", "", 0},
		"in conflict":           {[]string{conflict, same, done}, "DELETE GET DELETE", "", 0},
		"after an error":        {[]string{broken, "lost", done}, "DELETE DELETE DELETE", "", 0},
		"forbidden":             {[]string{no}, "DELETE", "no", 0},
		"lost":                  {[]string{"lost"}, "", "unexpected EOF", MaxDeleting / 2},
		"hanging":               {[]string{"hang"}, "DELETE", "the server did not respond within 10s", MaxDeleting},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{t: t, responses: test.responses}
			config := &rest.Config{Host: "http://server", WrapTransport: func(http.RoundTripper) http.RoundTripper { return s }}
			began, got := time.Now(), "none"
			for d := range deletions(config, []wait.Object{aJob("a")}) {
				got = ""
				if d.Err != nil {
					got = apistatus.Brief(d.Err).Error()
				}
			}
			if took := time.Since(began); !strings.HasSuffix(got, test.want) || (test.want == "") != (got == "") || took < test.took || took > MaxDeleting {
				t.Errorf("%s: %q after %s, want %q", name, got, took, test.want)
			}
			if requests := strings.Join(s.requests, " "); test.requests != "" && requests != test.requests {
				t.Errorf("%s: %s, want %s", name, requests, test.requests)
			}
		})
	}
}

// The state has no unfinished object that was deleted, and no reason of its Pods. An earlier state stays as it was.
func TestForget(t *testing.T) {
	f := following(t, Config{}, "a", "b", "c")
	suspended := ended("a", wait.Interrupted)
	suspended.Status.Suspended = true
	for _, e := range []wait.Ended{suspended, ended("b", wait.Interrupted), ended("c", wait.Succeeded)} {
		f.change(wait.Change{Object: e.Object, Suspended: e.Status.Suspended})
		f.count(e, e.Result == wait.Interrupted)
	}
	f.setReasons([]pods.Reason{{Owner: &pods.Owner{UID: "a"}}, {Owner: &pods.Owner{UID: "b"}}})
	before := f.State()
	f.forget("a")
	f.forget("x")
	s := f.State()
	if len(s.Running) != 1 || s.Running[0].Object.Name != "b" || s.Unfinished() != 1 || s.Left() != 1 || s.Ended[wait.Deleted] != 1 ||
		s.Suspended != 0 || len(s.Reasons) != 1 || s.Reasons[0].Owner.UID != "b" {
		t.Errorf("%+v, want b unfinished with its reason, and a deleted", s)
	}
	if before.Unfinished() != 2 || before.Running[0].Object.Name != "a" || before.Reasons[0].Owner.UID != "a" {
		t.Errorf("the state from before is %+v, want a and b unfinished", before)
	}
}

// Delete deletes the objects that this run created, until they have finished. Those of other types never finish.
func TestOurs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	}))
	defer server.Close()
	f := following(t, Config{Deletes: &rest.Config{Host: server.URL}})
	add := func(name string, uid apitypes.UID, kind string, ours bool) {
		stored := &unstructured.Unstructured{Object: map[string]any{}}
		stored.SetName(name)
		stored.SetUID(uid)
		mapping := *aJob(name).Mapping
		mapping.GroupVersionKind.Kind = kind
		if _, awaited := f.Add(Created{Mapping: &mapping, Namespace: "ci", Stored: stored, Input: stored, Ours: ours}); awaited != (kind == "Job") {
			t.Errorf("%s is awaited: %t", name, awaited)
		}
	}
	add("succeeded", "s", "Job", true)
	add("interrupted", "a", "Job", true)
	add("unread", "u", "Job", true)
	add("other type", "o", "ConfigMap", true)
	add("found", "f", "Job", false)
	add("no UID", "", "Job", true)
	for _, o := range f.state.Objects {
		switch o.Name {
		case "succeeded":
			f.count(wait.Ended{Object: o, Result: wait.Succeeded}, false)
		case "interrupted":
			f.count(wait.Ended{Object: o, Result: wait.Interrupted}, true)
		case "unread":
			f.count(wait.Ended{Object: o, Result: wait.Abandoned}, false)
		}
	}
	var names []string
	for _, o := range f.Ours() {
		names = append(names, o.Namespace+"/"+o.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"ci/interrupted", "ci/other type", "ci/unread"}) {
		t.Errorf("%q, want ci/interrupted, ci/other type and ci/unread", names)
	}
	for d := range f.Delete() {
		if d.Err != nil {
			t.Error(d.Err)
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

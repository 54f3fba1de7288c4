package census

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// drawObjects draws objects. Some of their prefixes begin with other prefixes. Some names are generated, some are
// fixed, and some don't begin with the object's generateName.
func drawObjects(t *rapid.T) []metav1.ObjectMeta {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) metav1.ObjectMeta {
		prefix := rapid.StringMatching(`[bc-]{1,9}`)
		o := metav1.ObjectMeta{
			Namespace:         rapid.SampledFrom([]string{"a", "a-b", "ab"}).Draw(t, "namespace"),
			Name:              prefix.Draw(t, "stem") + rapid.StringMatching(`[bc]{5}`).Draw(t, "suffix"),
			CreationTimestamp: metav1.Unix(rapid.Int64Range(1, 9).Draw(t, "created"), 0),
		}
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			o.GenerateName = o.Name[:len(o.Name)-5]
		case 1:
			o.GenerateName = prefix.Draw(t, "other")
		}
		if rapid.IntRange(0, 3).Draw(t, "labeled") == 0 {
			o.Labels = map[string]string{"app": "x", "other": "y"}
		}
		return o
	}), 0, 60, fakeapi.Key).Draw(t, "objects")
}

// For any objects, orders and pages, the counts are equal to the counts of the same objects in one set.
func TestCountsAnyList(t *testing.T) {
	var a fakeapi.Server
	config := a.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		a.Unsorted = rapid.Bool().Draw(rt, "unsorted")
		a.JSON = rapid.Bool().Draw(rt, "json")
		a.NoVersions = rapid.Bool().Draw(rt, "noVersions")
		a.Set(drawObjects(rt))
		s := &Scanner{Config: config, ChunkSize: rapid.Int64Range(1, 70).Draw(rt, "chunk"), Since: []time.Time{time.Unix(5, 0)}}
		if rapid.Bool().Draw(rt, "select") {
			s.Selector = labels.SelectorFromSet(labels.Set{"app": "x"})
		}
		if rapid.Bool().Draw(rt, "prefixes") {
			s.Prefixes = []string{"b", "bc"}
		}
		got, summary := count(rt, s, "", configMaps)
		want := countInOrder(a.Objects(fakeapi.ConfigMaps), s)
		if diff := cmp.Diff(want, got); diff != "" || len(summary.Skipped) > 0 || summary.Objects != int64(len(a.Objects(fakeapi.ConfigMaps))) {
			rt.Fatalf("%+v; (-want +got)\n%s", summary, diff)
		}
	})
}

// Count adds each object to one set, whatever the pages, the order and the faults of a list.
func TestFaults(t *testing.T) {
	objects := censustest.Population([]string{"a", "b"}, 300)
	want := naiveCount(objects, &Scanner{Since: testSince})
	type faultOf = func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool
	fails := func(code int, requests ...int) faultOf {
		return func(_ *fakeapi.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if slices.Contains(requests, n) {
				fakeapi.Fail(w, code, "")
			}
			return slices.Contains(requests, n)
		}
	}
	cut := func(part float64, requests ...int) faultOf {
		return func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool {
			if slices.Contains(requests, n) {
				a.Cut(w, r, part)
			}
			return false
		}
	}
	for name, test := range map[string]struct {
		api   *fakeapi.Server
		chunk int64
		fault faultOf
		// inconsistent reports whether the counts may be inconsistent.
		inconsistent bool
	}{
		"none":             {},
		"JSON only":        {api: &fakeapi.Server{JSON: true}},
		"unsorted":         {api: &fakeapi.Server{Unsorted: true}},
		"no versions":      {api: &fakeapi.Server{NoVersions: true}, inconsistent: true},
		"no counts":        {api: &fakeapi.Server{NoCounts: true}},
		"limit is ignored": {chunk: 100_000},
		"503 now and then": {fault: fails(http.StatusServiceUnavailable, 2, 7, 12)},
		"429 with Retry-After": {fault: func(_ *fakeapi.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 3 {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			}
			return n == 3
		}},
		"first page cut": {fault: cut(0.7, 0)},
		"first page cut, no versions": {api: &fakeapi.Server{NoVersions: true}, inconsistent: true, fault: func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 0:
				first := a.Objects(fakeapi.ConfigMaps)
				first[0].Name, first[0].GenerateName = "0", ""
				a.Set(first)
			case 1:
				a.Set(objects)
			}
			return cut(0.7, 0)(a, n, w, r)
		}},
		"pages cut again and again": {fault: cut(0.4, 1, 4, 7, 10, 13)},
		"JSON pages cut":            {api: &fakeapi.Server{JSON: true}, fault: cut(0.5, 1, 5, 9)},
		"unsorted pages cut":        {api: &fakeapi.Server{Unsorted: true}, fault: cut(0.5, 0, 1, 4)},
		"expired with a token": {inconsistent: true, fault: func(a *fakeapi.Server, n int, _ http.ResponseWriter, _ *http.Request) bool {
			if n == 2 {
				a.Set(a.Objects(fakeapi.ConfigMaps))
				a.Expire()
			}
			return false
		}},
		"expired with a token after a cut": {fault: func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 3 {
				a.Set(a.Objects(fakeapi.ConfigMaps))
				a.Expire()
			}
			return cut(0.5, 2)(a, n, w, r)
		}},
		"other objects after a cut": {api: &fakeapi.Server{Unsorted: true}, fault: func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 3 {
				list := a.Page(fakeapi.ConfigMaps, "", 1, "", 70)
				list.Items = list.Items[1:]
				a.Write(w, list)
			}
			return n == 3 || cut(0.9, 2)(a, n, w, r)
		}},
		"cut, and 401 and 403 of a server that starts": {fault: func(a *fakeapi.Server, n int, w http.ResponseWriter, r *http.Request) bool {
			return cut(0.5, 7)(a, n, w, r) || fails(http.StatusForbidden, 8)(a, n, w, r) || fails(http.StatusUnauthorized, 9)(a, n, w, r)
		}},
		"a response to another request": {fault: func(a *fakeapi.Server, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				a.Write(w, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}})
			}
			return n == 1
		}},
		"expired without a token": {fault: fails(http.StatusGone, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := test.api
			if a == nil {
				a = &fakeapi.Server{}
			}
			a.Set(objects)
			if test.fault != nil {
				a.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool { return test.fault(a, n, w, r) }
			}
			if test.chunk == 0 {
				test.chunk = 70
			}
			s := &Scanner{Config: a.Start(t), ChunkSize: test.chunk, Since: testSince, RetryTimeout: time.Minute}
			counts, summary, err := s.Count(t.Context(), []Resource{configMaps}, "")
			if err != nil || len(summary.Skipped) > 0 {
				t.Fatal(err, summary.Skipped)
			}
			got, folds := sorted(counts.All()), counts.Folds()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			counted := int64(0)
			for _, pool := range got {
				counted += pool.Names
			}
			for _, f := range folds {
				counted += f.Fold.Names
			}
			if n := int64(len(objects)); counted != n || summary.Objects != n || summary.Requests != int64(len(a.Requests)) {
				t.Errorf("%d objects, %+v after %d requests", counted, summary, len(a.Requests))
			}
			if inconsistent := len(summary.Inconsistent) > 0; inconsistent != test.inconsistent {
				t.Errorf("inconsistent: %v", summary.Inconsistent)
			}
			for _, uri := range a.Requests {
				if strings.Contains(uri, "resourceVersion=0") {
					t.Errorf("a list from the cache: %s", uri)
				}
			}
		})
	}
}

// Objects are created and deleted while the scan reads a list. The counts are correct for the resourceVersion of the
// first page.
func TestCountsAreConsistent(t *testing.T) {
	var a fakeapi.Server
	config := a.Start(t)
	rapid.Check(t, func(rt *rapid.T) {
		before, after := drawObjects(rt), drawObjects(rt)
		a.Requests = nil
		a.Set(before)
		a.Fault = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
			if n > 0 {
				a.Set(after[:n%(len(after)+1)])
			}
			return false
		}
		s := &Scanner{Config: config, ChunkSize: rapid.Int64Range(1, 70).Draw(rt, "chunk")}
		want := naiveCount(before, s)
		got, summary := count(rt, s, "", configMaps)
		if diff := cmp.Diff(want, got); diff != "" || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
			rt.Fatalf("%+v; (-want +got)\n%s", summary, diff)
		}
	})
}

// If a type can't be listed, the scan skips it with a reason, and counts none of its objects.
func TestSkipped(t *testing.T) {
	send := func(header, value string, code int, body string) func(*fakeapi.Server, http.ResponseWriter, *http.Request) {
		return func(_ *fakeapi.Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	respond := func(code int, body string) func(*fakeapi.Server, http.ResponseWriter, *http.Request) {
		return send("Audit-Id", "1", code, body) // the header of an API server
	}
	ofItems := func(fields string) func(*fakeapi.Server, http.ResponseWriter, *http.Request) {
		return send("Content-Type", "application/json", http.StatusOK, `{"metadata":{"resourceVersion":"1"},`+fields+`}`)
	}
	for name, test := range map[string]struct {
		fault  func(*fakeapi.Server, http.ResponseWriter, *http.Request)
		reason Reason
	}{
		"401": {respond(http.StatusUnauthorized, ""), Unauthorized},
		"403": {respond(http.StatusForbidden, ""), Forbidden},
		"404": {respond(http.StatusNotFound, "404 page not found"), NotFound},
		// Only an API server knows that a type no longer exists. A 404 of a load balancer means an unreachable server.
		"404 with a Status":      {send("Content-Type", "application/json", http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","code":404}`), NotFound},
		"404 of a balancer":      {send("Content-Type", "text/plain", http.StatusNotFound, "404 page not found"), Unreachable},
		"404 page of a balancer": {send("Content-Type", "text/html", http.StatusNotFound, "<html>Not Found</html>"), Unreachable},
		"404 JSON of a balancer": {send("Content-Type", "application/json", http.StatusNotFound, `{"error":"no route"}`), Unreachable},
		"405":                    {respond(http.StatusMethodNotAllowed, ""), NotListable},
		"406":                    {respond(http.StatusNotAcceptable, ""), NotListable},
		"422":                    {respond(http.StatusUnprocessableEntity, ""), Failed},
		"429":                    {respond(http.StatusTooManyRequests, ""), Throttled},
		"500":                    {respond(http.StatusInternalServerError, ""), Failed},
		"503":                    {respond(http.StatusServiceUnavailable, ""), Unreachable},
		"410":                    {respond(http.StatusGone, ""), Expired},
		"no kind":                {ofItems(`"items":[]`), Malformed},
		"another kind":           {ofItems(`"kind":"SecretList","items":[]`), Malformed},
		"another namespace":      {ofItems(`"kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"x","namespace":"b"}}]`), Malformed},
		"cluster-scoped objects": {ofItems(`"kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"x"}}]`), Malformed},
		"a page of another state": {func(a *fakeapi.Server, w http.ResponseWriter, _ *http.Request) {
			a.Write(w, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}})
		}, Malformed},
		"no list":   {respond(http.StatusOK, `{"kind":"Status","items":[]}`), Malformed},
		"no JSON":   {respond(http.StatusOK, "<html>"), Malformed},
		"too short": {respond(http.StatusOK, `{"kind":"List","items":[`), Unreachable},
		"hung up": {func(*fakeapi.Server, http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, Unreachable},
		"broken off": {func(a *fakeapi.Server, w http.ResponseWriter, r *http.Request) {
			a.Cut(w, r, 0.5)
		}, Unreachable},
		"the same page again": {func(a *fakeapi.Server, w http.ResponseWriter, _ *http.Request) {
			list := a.Page(fakeapi.ConfigMaps, "", 1, "", 10)
			list.Continue = "again"
			a.Write(w, list)
		}, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &fakeapi.Server{}
			a.Set(censustest.Population([]string{"a"}, 100))
			a.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 0 {
					return false // the first page has no fault
				}
				test.fault(a, w, r)
				return true
			}
			s := &Scanner{Config: a.Start(t), ChunkSize: 40, RetryTimeout: time.Millisecond}
			pools, summary := count(t, s, "a", configMaps)
			if len(pools) > 0 || summary.Objects > 0 {
				t.Errorf("counted %d objects in %v", summary.Objects, pools)
			}
			if len(summary.Skipped) != 1 {
				t.Fatalf("skipped %+v", summary.Skipped)
			}
			skipped := summary.Skipped[0]
			described := strings.HasPrefix(skipped.Message, "list configmaps: ")
			if skipped.Reason != test.reason || skipped.Resource != "configmaps" || !described {
				t.Errorf("%+v, want %s", skipped, test.reason)
			}
		})
	}
}

// An interrupted scan keeps finished lists and reports the others as skipped.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &fakeapi.Server{Fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "configmaps") {
			return false
		}
		cancel()
		<-r.Context().Done()
		return true
	}}
	a.Set(censustest.Population([]string{"a"}, 100))
	secrets := Resource{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "Secret", true}
	s := Scanner{Config: a.Start(t), Concurrency: 2}
	read := make(chan struct{})
	s.Listed = func(Listed) { close(read) }
	inner := a.Fault
	a.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "secrets") {
			<-read
		}
		return inner(n, w, r)
	}
	counts, summary, err := s.Count(ctx, []Resource{configMaps, secrets}, "a")
	if err != nil || len(summary.Skipped) != 1 {
		t.Fatal(summary, err)
	}
	if counted := sorted(counts.All()); len(counted) != 1 || counted[0].GroupResource != configMaps.GroupResource() {
		t.Errorf("%+v, want one pool of configmaps", counted)
	}
	skipped := summary.Skipped[0]
	if skipped.Reason != Interrupted || skipped.Resource != "secrets" || skipped.Namespace != "a" {
		t.Errorf("skipped %+v, want secrets in a as interrupted", skipped)
	}
}

func TestProgressNeverGoesBack(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(censustest.Population([]string{"a"}, 300))
	var seen []int64
	var last Progress
	countOf(t, a, &Scanner{ChunkSize: 100, Progress: func(p Progress) {
		seen = append(seen, p.Objects)
		last = p
	}})
	if len(seen) < 4 || !slices.IsSorted(seen) || seen[2] != 300 {
		t.Errorf("progress %v, want at least 4 sorted numbers, the third 300", seen)
	}
	if last.Types != 1 || last.Done != 1 || last.Current != configMaps {
		t.Errorf("the last progress is %+v, want 1 of 1 types, the configmaps", last)
	}
}

// A server that hangs delays a scan for a few requests, not for each type.
func TestServerHangs(t *testing.T) {
	a := &fakeapi.Server{Fault: func(n int, _ http.ResponseWriter, r *http.Request) bool {
		if n > 0 {
			<-r.Context().Done()
		}
		return n > 0
	}}
	a.Set(censustest.Population([]string{"a"}, 10))
	var resources []Resource
	for i := range 300 {
		name := schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: fmt.Sprintf("type%03d", i)}
		resources = append(resources, Resource{name, "T", true})
	}
	s := Scanner{Config: a.Start(t), RetryTimeout: 300 * time.Millisecond}
	s.Config.Timeout = 100 * time.Millisecond
	_, summary := count(t, &s, "", resources...)
	if len(summary.Skipped) < 299 {
		t.Fatal(len(summary.Skipped))
	}
	if summary.Requests > 100 {
		t.Errorf("%d requests", summary.Requests)
	}
	for _, skipped := range summary.Skipped {
		if skipped.Reason != TimedOut {
			t.Errorf("skipped %+v, want %s", skipped, TimedOut)
		}
	}
}

// An aggregated server that can't produce metadata sends whole objects.
func TestServerWithoutMetadata(t *testing.T) {
	objects := censustest.Population([]string{"a", "b"}, 100)
	a := &fakeapi.Server{}
	a.Set(objects)
	a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		plain := false
		for clause := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
			plain = plain || strings.TrimSpace(clause) == "application/json"
		}
		if !plain {
			fakeapi.Fail(w, http.StatusNotAcceptable, "")
			return true
		}
		list := a.Page(fakeapi.ConfigMaps, "", 1, "", 0)
		items := []any{}
		for _, item := range list.Items {
			spec := map[string]any{"metadata": map[string]any{"name": "no"}}
			items = append(items, map[string]any{"metadata": item.ObjectMeta, "spec": spec})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "items": items})
		return true
	}
	got, _ := countOf(t, a, &Scanner{Since: testSince})
	if diff := cmp.Diff(naiveCount(objects, &Scanner{Since: testSince}), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// If a page has fewer objects than the previous page announced, the list is inconsistent.
func TestFewerThanAnnounced(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(censustest.Population([]string{"a"}, 100))
	a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			a.Write(w, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
		}
		return n == 1
	}
	_, summary := countOf(t, a, &Scanner{ChunkSize: 40})
	if summary.Objects != 40 || !slices.Equal(summary.Inconsistent, []string{"configmaps"}) {
		t.Errorf("%d objects, inconsistent %v, want 40 and configmaps", summary.Objects, summary.Inconsistent)
	}
}

// kept is a visitor that keeps the names of its objects. Commit copies the names to committed.
type kept struct{ names, committed []string }

func (k *kept) Visit(o *object.Object) error {
	k.names = append(k.names, o.Name)
	return nil
}
func (k *kept) Commit() { k.committed = k.names }

// The first page of a list breaks off, and an object of this page is replaced. The scan doesn't know the
// resourceVersion yet, so it reads the list again. It then has no object of the old state, and no object twice.
func TestFirstPageBreaksOff(t *testing.T) {
	for _, complete := range []int{0, 1, 2, 3} {
		a := &fakeapi.Server{JSON: true}
		for _, name := range []string{"a", "c", "d"} {
			a.Change(fakeapi.ConfigMaps, "ADDED", metav1.ObjectMeta{Namespace: "a", Name: name})
		}
		a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n > 0 {
				return false
			}
			var items []string
			for _, name := range []string{"a", "c", "d"}[:complete] {
				items = append(items, fmt.Sprintf(`{"metadata":{"namespace":"a","name":%q}}`, name))
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100000")
			fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","items":[%s`, strings.Join(append(items, "{"), ","))
			a.Change(fakeapi.ConfigMaps, "DELETED", metav1.ObjectMeta{Namespace: "a", Name: "a"})
			a.Change(fakeapi.ConfigMaps, "ADDED", metav1.ObjectMeta{Namespace: "a", Name: "b"})
			return true
		}
		var last *kept
		s := &Scanner{Config: a.Start(t)}
		_, err := s.Visit(t.Context(), []Resource{configMaps}, "", decode.Options{}, func(Resource) Visitor {
			last = &kept{}
			return last
		})
		if want := []string{"b", "c", "d"}; err != nil || !slices.Equal(last.committed, want) {
			t.Errorf("after %d objects: %q are committed, want %q: %v", complete, last.committed, want, err)
		}
	}
}

var configMaps = Resource{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap", true}

// countOf counts the ConfigMaps of server a. It fails the test if the scan skipped anything.
func countOf(t testing.TB, a *fakeapi.Server, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	pools, summary := countWithFaults(t, a, s)
	if len(summary.Skipped) > 0 {
		t.Fatalf("skipped: %+v", summary.Skipped)
	}
	return pools, summary
}

func countWithFaults(t testing.TB, a *fakeapi.Server, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	if s.Config == nil {
		s.Config = a.Start(t)
	}
	return count(t, s, "", configMaps)
}

// count returns the sorted name pools that s counts.
func count(t require, s *Scanner, namespace string, resources ...Resource) ([]pools.Pool, Summary) {
	counts, summary, err := s.Count(t.Context(), resources, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(counts.All()), summary
}

// require is implemented by a test, and by one case of a property test.
type require interface {
	Context() context.Context
	Fatal(args ...any)
}

// naiveCount counts objects without a server, in the order in which etcd stores them.
func naiveCount(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(x, y metav1.ObjectMeta) int { return strings.Compare(fakeapi.Key(x), fakeapi.Key(y)) })
	return countInOrder(objects, s)
}

// countInOrder counts objects without a server, in the given order. internal/pools tests the counting itself.
func countInOrder(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList"}}
	for _, o := range objects {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	rules := s.rules()
	set := pools.New(configMaps.GroupVersionResource, &rules)
	if _, err := decode.List(bytes.NewReader(censustest.JSON(list)), decode.Options{}, func(o *object.Object) error {
		set.Add(o)
		return nil
	}); err != nil {
		panic(err)
	}
	set.Folds()
	return sorted(set.All())
}

func sorted(all iter.Seq[*pools.Pool]) (sorted []pools.Pool) {
	for pool := range all {
		sorted = append(sorted, *pool)
	}
	slices.SortFunc(sorted, func(a, b pools.Pool) int { return a.Compare(b.Key) })
	return sorted
}

var testSince = []time.Time{time.Unix(1_700_000_050, 0), time.Unix(1_700_000_200, 0)}

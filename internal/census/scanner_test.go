package census

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// drawObjects draws objects whose stems nest, collide and come late: with generated names, with fixed
// names, and with a generateName whose prefix their name lacks.
func drawObjects(t *rapid.T) []metav1.ObjectMeta {
	long := strings.Repeat("b", 57)
	prefix := rapid.OneOf(
		rapid.StringMatching(`[bc-]{1,4}`),
		rapid.StringMatching(`[bc]{6,9}`),
		rapid.SampledFrom([]string{long, long + "b", long + "bc", long + "bd", long + "cb", long + "b-"}),
	)
	generatedName := func(t *rapid.T, prefix string) string {
		return prefix[:min(len(prefix), 58)] + rapid.StringMatching(`[bc]{5}`).Draw(t, "suffix")
	}
	objects := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) metav1.ObjectMeta {
		o := metav1.ObjectMeta{Namespace: rapid.SampledFrom([]string{"a", "a-b", "ab"}).Draw(t, "namespace")}
		declared := prefix.Draw(t, "prefix")
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0, 1: // generated
			o.GenerateName, o.Name = declared, generatedName(t, declared)
		case 2: // fixed name that looks generated
			o.Name = generatedName(t, declared)
		case 3: // fixed name and any generateName
			o.GenerateName, o.Name = declared, rapid.StringMatching(`[bc-]{1,12}`).Draw(t, "name")
		case 4: // the generateName has another prefix
			o.GenerateName, o.Name = declared, generatedName(t, prefix.Draw(t, "other"))
		case 5: // with a longer suffix
			suffix := rapid.StringMatching(`[bc]{6,11}`).Draw(t, "long suffix")
			o.GenerateName, o.Name = declared, declared[:min(len(declared), 63-len(suffix))]+suffix
		}
		if seconds := rapid.Int64Range(0, 9).Draw(t, "created"); seconds > 0 {
			o.CreationTimestamp = metav1.Unix(seconds, 0)
		}
		if rapid.IntRange(0, 3).Draw(t, "labeled") == 0 {
			o.Labels = map[string]string{"app": "x", "other": "y"}
		}
		drawCreator(t, &o)
		return o
	}), 0, 60, key).Draw(t, "objects")
	for _, o := range drawClientNames(t) {
		if !slices.ContainsFunc(objects, func(other metav1.ObjectMeta) bool { return key(o) == key(other) }) {
			objects = append(objects, o)
		}
	}
	return objects
}

// drawCreator draws the creator of an object.
func drawCreator(t *rapid.T, o *metav1.ObjectMeta) {
	if rapid.Bool().Draw(t, "marked") {
		o.Annotations = map[string]string{"genname.dev/creation-id": "x"}
	}
	controls := rapid.Bool().Draw(t, "controls")
	switch rapid.IntRange(0, 3).Draw(t, "creator") {
	case 0:
		kind := rapid.SampledFrom([]string{"Job", "ReplicaSet"}).Draw(t, "kind")
		name := rapid.SampledFrom([]string{"b", "client", "client-" + "bbb"}).Draw(t, "controller")
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: &controls}}
	case 1:
		fields := metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{}}}`)
		o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "old"}, {Manager: "creator", FieldsV1: fields}}
	case 2:
		o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "oldest"}}
	}
}

// drawClientNames draws names from a client's own generator, and other names with the same stem. Some
// of the other names are created in order.
func drawClientNames(t *rapid.T) (objects []metav1.ObjectMeta) {
	add := func(suffixes []string, created func(i int) int64) {
		for i, suffix := range suffixes {
			o := metav1.ObjectMeta{Namespace: "a", Name: "client-" + suffix, CreationTimestamp: metav1.Unix(created(i), 0)}
			drawCreator(t, &o)
			objects = append(objects, o)
		}
	}
	suffixes := func(of string) []string {
		return rapid.SliceOfNDistinct(rapid.StringMatching(of), 8, 24, rapid.ID).Draw(t, "suffixes")
	}
	switch rapid.IntRange(0, 3).Draw(t, "clients") {
	case 1:
		add(suffixes(`[`+names.Alphabet+`]{5}`), func(i int) int64 { return int64(1 + i*7%10) })
		others := rapid.SliceOfNDistinct(rapid.StringMatching(`a[a-z0-9]{4}`), 0, 2, rapid.ID)
		add(others.Draw(t, "others"), func(int) int64 { return 1 })
	case 2:
		made := suffixes(`[` + names.Alphabet + `]{5}`)
		slices.Sort(made)
		add(made, func(i int) int64 { return int64(1 + i) })
	case 3:
		add(suffixes(`[0-9a-f]{5}`), func(i int) int64 { return int64(1 + i*7%10) })
	}
	return objects
}

// For any objects in any order and any pages, the counts equal those of the naive oracle.
func TestCountsAreTheOracles(t *testing.T) {
	var a api
	config := a.start(t)
	rapid.Check(t, func(rt *rapid.T) {
		objects := drawObjects(rt)
		a.unsorted = rapid.Bool().Draw(rt, "unsorted")
		a.jsonOnly = rapid.Bool().Draw(rt, "json")
		a.noVersions = rapid.Bool().Draw(rt, "noVersions")
		a.states = nil
		a.set(objects)
		s := &Scanner{
			Config:    config,
			ChunkSize: rapid.Int64Range(1, 70).Draw(rt, "chunk"),
			Since: []time.Time{
				time.Unix(rapid.Int64Range(0, 9).Draw(rt, "since"), 0), time.Unix(rapid.Int64Range(0, 9).Draw(rt, "later"), 0),
			},
		}
		if rapid.Bool().Draw(rt, "select") {
			s.Selector = labels.SelectorFromSet(labels.Set{"app": "x"})
		}
		if rapid.Bool().Draw(rt, "prefixes") {
			s.Prefixes = []string{"b", "bc"}
		}
		s.MinCount = rapid.Int64Range(0, 12).Draw(rt, "minCount")
		s.FoldBelow = rapid.Int64Range(0, 12).Draw(rt, "foldBelow")
		got, summary := scanWith(rt, s, poolsAtOnce)

		oracle, listed := oracleOf(s), a.states[0]
		oracle.Unordered = len(summary.Inconsistent) > 0
		want := poolsOf(configMaps, oracle.Count(listed))
		forgetOwners(want, got, oracle.Unordered)
		if diff := cmp.Diff(want, got); diff != "" || len(summary.Skipped) > 0 {
			rt.Fatalf("skipped %v; (-want +got)\n%s", summary.Skipped, diff)
		}
		wantSummary := Summary{
			Objects: int64(len(objects)), Requests: summary.Requests, Inconsistent: summary.Inconsistent,
			Unprefixed: countOf(oracle.Unprefixed(listed)),
		}
		if diff := cmp.Diff(wantSummary, summary); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// forgetOwners clears the hashes of owners, and owners that a sweep did not find. A sweep doesn't read
// all owners.
func forgetOwners(want, got []NamePool, sweep bool) {
	for i := range got {
		clear(got[i].Owners)
		if i < len(want) && got[i].OwnerKind == "" && (sweep || want[i].Generated == 0) {
			want[i].OwnerKind, want[i].Owners = "", nil
		}
	}
}

// Count gives each object to one set, whatever the pages, the order and the faults of a list.
func TestCount(t *testing.T) {
	for name, fault := range map[string]func(n int, w http.ResponseWriter, r *http.Request) bool{
		"no fault": nil,
		"a busy server": func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 2 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n == 2
		},
	} {
		for _, unsorted := range []bool{false, true} {
			a := &api{unsorted: unsorted, fault: fault}
			objects := censustest.Population([]string{"a", "b"}, 100)
			a.set(objects)
			s := &Scanner{Config: a.start(t), ChunkSize: 30}
			counts, summary, err := s.Count(t.Context(), []Resource{configMaps}, "")
			if err != nil || len(summary.Skipped) > 0 {
				t.Fatal(err, summary)
			}
			names := int64(0)
			for pool := range counts.All() {
				names += pool.Names
				if pool.Resource != configMaps || pool.Names != 80 || pool.Generated != 70 {
					t.Errorf("%+v", pool)
				}
			}
			unprefixed := int64(0)
			for _, u := range summary.Unprefixed {
				unprefixed += u.Objects
			}
			if total := int64(len(objects)); summary.Objects != total || names == 0 || names+unprefixed != total {
				t.Errorf("%s: %d names, %d others, %+v", name, names, unprefixed, summary)
			}
		}
	}
}

// countOf returns the count of ConfigMaps in a summary.
func countOf(objects int64) []TypeCount {
	if objects == 0 {
		return nil
	}
	return []TypeCount{{configMaps, objects}}
}

// scanWith scans with a limited number of targets per sweep.
func scanWith(t *rapid.T, s *Scanner, targets int) ([]NamePool, Summary) {
	var l committed
	run, err := s.newScan(l.begin)
	if err != nil {
		t.Fatal(err)
	}
	run.rules.AtOnce = targets
	run.count(t.Context(), configMaps, "")
	return l.sorted(), run.summary()
}

// Cases that random tests reach rarely.
func TestCountsOfNeighbors(t *testing.T) {
	object := func(namespace, name, generateName string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, GenerateName: generateName}
	}
	long := strings.Repeat("x", 58)
	for name, objects := range map[string][]metav1.ObjectMeta{
		"one name in two namespaces": {object("a", "job-bbbbb", "job-"), object("b", "job-bbbbb", "job-")},
		"namespaces out of their own order": {
			object("a", "job-bbbbb", "job-"), object("a-b", "job-bbbbb", "job-"), object("a0", "job-bbbbb", "job-"),
		},
		"a stem in a stem": {
			object("a", "job-bbbbb", "job-"), object("a", "job-bbbbbccccc", "job-bbbbb"),
			object("a", "job-bbbbbccccd", ""), object("a", "job-ccccc", "job-"),
		},
		"said after its names":  {object("a", "job-bbbbb", ""), object("a", "job-z", "job-")},
		"said after its end":    {object("a", "job-bbbbb", ""), object("a", "z", "job-")},
		"said before its names": {object("a", "a", "job-"), object("a", "job-bbbbb", "")},
		"said twice":            {object("a", "a", "job-"), object("a", "job-bbbbb", "job-"), object("a", "z", "job-")},
		"said elsewhere":        {object("a", "z", "job-"), object("b", "job-bbbbb", "")},
		"said for nobody":       {object("a", "z", "job-")},
		"its own generateName":  {object("a", "job-", "job-")},
		"several raw prefixes": {
			object("a", long+"bbbbb", long+"1"), object("a", long+"bbbbc", long+"2"), object("a", long+"bbbbd", long+"2"),
		},
		"raw prefixes elsewhere": {
			object("a", "b", "c"), object("a", long+"bbbbb", long+"1"), object("b", long+"bbbbb", long+"2"),
		},
	} {
		for _, unsorted := range []bool{false, true} {
			a := &api{unsorted: unsorted}
			if unsorted {
				slices.Reverse(objects)
			}
			a.set(objects)
			s := &Scanner{ChunkSize: 1}
			got, _ := scanOf(t, a, s)
			if diff := cmp.Diff(naiveCount(configMaps, objects, s), got); diff != "" {
				t.Errorf("%s, unsorted: %v (-want +got)\n%s", name, unsorted, diff)
			}
		}
	}
}

// A name pool counts if only an object with another name matches the selector.
func TestSelectedFromElsewhere(t *testing.T) {
	a := &api{}
	a.set([]metav1.ObjectMeta{
		{Namespace: "a", Name: "job-bbbbb", GenerateName: "job-"},
		{Namespace: "a", Name: "other-bbbbb", GenerateName: "other-"},
		{Namespace: "a", Name: "z", GenerateName: "job-", Labels: map[string]string{"app": "x"}},
	})
	got, _ := scanOf(t, a, &Scanner{Selector: labels.SelectorFromSet(labels.Set{"app": "x"})})
	want := []NamePool{{Resource: configMaps, Namespace: "a", Prefix: "job-", SuffixLength: 5, Names: 1, Generated: 1, RawPrefixes: 1}}
	if !cmp.Equal(want, got, cmpopts.IgnoreFields(NamePool{}, "Recent")) {
		t.Errorf("%+v", got)
	}
}

// A prefix has more generateNames than are counted.
func TestManyRawPrefixes(t *testing.T) {
	long := strings.Repeat("x", 58)
	var objects []metav1.ObjectMeta
	for i, o := range censustest.Population([]string{"a"}, 2*MaxRawPrefixes) {
		o.Name, o.GenerateName = long+censustest.SuffixOf(i), fmt.Sprint(long, i)
		objects = append(objects, o)
	}
	a := &api{}
	a.set(objects)
	got, _ := scanOf(t, a, &Scanner{})
	if len(got) != 1 || got[0].RawPrefixes != MaxRawPrefixes || got[0].Names != int64(len(objects)) {
		t.Errorf("%+v", got)
	}
}

func TestFaults(t *testing.T) {
	objects := censustest.Population([]string{"a", "b"}, 300)
	want := naiveCount(configMaps, objects, &Scanner{Since: testSince})
	status := func(w http.ResponseWriter, code int) {
		writeStatus(w, &metav1.Status{Status: "Failure", Code: int32(code)})
	}
	for name, test := range map[string]struct {
		api   *api
		chunk int64
		fault func(a *api, n int, w http.ResponseWriter, r *http.Request) bool
		// inconsistent reports whether the counts may be inconsistent.
		inconsistent bool
	}{
		"none":             {},
		"JSON only":        {api: &api{jsonOnly: true}},
		"unsorted":         {api: &api{unsorted: true}, inconsistent: true},
		"no versions":      {api: &api{noVersions: true}, inconsistent: true},
		"no counts":        {api: &api{noCounts: true}},
		"limit is ignored": {chunk: 100_000},
		"503 now and then": {fault: func(_ *api, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n%5 == 2 {
				status(w, http.StatusServiceUnavailable)
			}
			return n%5 == 2
		}},
		"429 with Retry-After": {fault: func(_ *api, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 3 {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			}
			return n == 3
		}},
		"first page cut": {fault: func(a *api, n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 0 {
				a.cut(w, r, 0.7)
			}
			return false
		}},
		"first page cut, no versions": {api: &api{noVersions: true}, inconsistent: true, fault: func(
			a *api, n int, w http.ResponseWriter, r *http.Request,
		) bool {
			if n == 0 {
				a.cut(w, r, 0.7)
			}
			return false
		}},
		"pages cut again and again": {fault: func(a *api, n int, w http.ResponseWriter, r *http.Request) bool {
			if n%3 == 1 {
				a.cut(w, r, float64(n%10)/10)
			}
			return false
		}},
		"JSON pages cut": {api: &api{jsonOnly: true}, fault: func(a *api, n int, w http.ResponseWriter, r *http.Request) bool {
			if n%4 == 1 {
				a.cut(w, r, 0.5)
			}
			return false
		}},
		"unsorted pages cut": {api: &api{unsorted: true}, inconsistent: true, fault: func(
			a *api, n int, w http.ResponseWriter, r *http.Request,
		) bool {
			if n == 1 || n == 14 {
				a.cut(w, r, 0.5)
			}
			return false
		}},
		"expired with a token": {inconsistent: true, fault: func(a *api, n int, _ http.ResponseWriter, _ *http.Request) bool {
			if n == 2 {
				a.set(a.states[0])
				a.compact = 1
			}
			return false
		}},
		"expired without a token": {fault: func(_ *api, n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 2 {
				status(w, http.StatusGone)
			}
			return n == 2
		}},
		"expired before the sweep": {inconsistent: true, fault: func(
			_ *api, _ int, w http.ResponseWriter, r *http.Request,
		) bool {
			if r.URL.Query().Has("resourceVersion") {
				status(w, http.StatusGone)
				return true
			}
			return false
		}},
		"no reading at a version": {inconsistent: true, fault: func(_ *api, _ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Has("resourceVersion") {
				status(w, http.StatusBadRequest)
				return true
			}
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := test.api
			if a == nil {
				a = &api{}
			}
			a.set(objects)
			if test.fault != nil {
				a.fault = func(n int, w http.ResponseWriter, r *http.Request) bool { return test.fault(a, n, w, r) }
			}
			if test.chunk == 0 {
				test.chunk = 70
			}
			got, summary := scanOf(t, a, &Scanner{ChunkSize: test.chunk, Since: testSince, RetryTimeout: time.Minute})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if summary.Objects != int64(len(objects)) || summary.Requests != int64(len(a.requests)) {
				t.Errorf("%+v after %d requests", summary, len(a.requests))
			}
			if inconsistent := len(summary.Inconsistent) > 0; inconsistent != test.inconsistent {
				t.Errorf("inconsistent: %v", summary.Inconsistent)
			}
			if len(summary.Uncounted) > 0 {
				t.Errorf("uncounted: %+v", summary.Uncounted)
			}
			for _, uri := range a.requests {
				if strings.Contains(uri, "resourceVersion=0") {
					t.Errorf("a list from the cache: %s", uri)
				}
			}
		})
	}
}

// A page breaks off before it shows that the server does not sort. The retry must not mistake new
// objects for objects that were read before.
func TestUnsortedPageCut(t *testing.T) {
	var objects []metav1.ObjectMeta
	for _, name := range []string{"job-bbbbb", "job-ddddd", "job-ccccc", "job-fffff"} {
		objects = append(objects, metav1.ObjectMeta{Namespace: "a", Name: name, GenerateName: "job-"})
	}
	a := &api{unsorted: true}
	a.set(objects)
	a.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 0 {
			a.cut(w, r, 0.72) // after two objects
		}
		return false
	}
	got, _ := scanOf(t, a, &Scanner{})
	if len(got) != 1 || got[0].Names != 4 {
		t.Errorf("%+v", got)
	}
}

// A list that continued at a later resourceVersion is reported as inconsistent.
func TestExpiredListIsInconsistent(t *testing.T) {
	a := &api{}
	a.set([]metav1.ObjectMeta{{Namespace: "a", Name: "job-bbbbb", GenerateName: "job-"}, {Namespace: "a", Name: "job-ccccc"}})
	a.fault = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			a.set([]metav1.ObjectMeta{{Namespace: "a", Name: "job-ccccc"}, {Namespace: "a", Name: "job-ddddd"}})
			a.compact = 1
		}
		return false
	}
	got, summary := scanOf(t, a, &Scanner{ChunkSize: 1})
	if len(got) != 1 || got[0].Names != 3 || !slices.Equal(summary.Inconsistent, []Resource{configMaps}) {
		t.Errorf("%+v %+v", got, summary)
	}
}

// Objects are created and deleted while a list is read and swept. The counts are those of the first
// page's resourceVersion.
func TestCountsAreConsistent(t *testing.T) {
	var a api
	config := a.start(t)
	rapid.Check(t, func(rt *rapid.T) {
		before, after := drawObjects(rt), drawObjects(rt)
		a.states, a.requests = nil, nil
		a.set(before)
		a.fault = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
			if n > 0 {
				a.set(after[:n%(len(after)+1)])
			}
			return false
		}
		s := &Scanner{Config: config, ChunkSize: rapid.Int64Range(1, 70).Draw(rt, "chunk")}
		want := naiveCount(configMaps, before, s)
		got, summary := scanWith(rt, s, poolsAtOnce)
		if diff := cmp.Diff(want, got); diff != "" || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
			rt.Fatalf("%+v; (-want +got)\n%s", summary, diff)
		}
	})
}

// A type that can't be listed is skipped with a reason, and none of its objects counts.
func TestSkipped(t *testing.T) {
	respond := func(code int, body string) func(*api, http.ResponseWriter, *http.Request) {
		return func(_ *api, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Audit-Id", "1") // the header of an API server
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, test := range map[string]struct {
		fault  func(*api, http.ResponseWriter, *http.Request)
		reason Reason
	}{
		"401":       {respond(http.StatusUnauthorized, ""), Unauthorized},
		"403":       {respond(http.StatusForbidden, ""), Forbidden},
		"404":       {respond(http.StatusNotFound, "404 page not found"), NotFound},
		"405":       {respond(http.StatusMethodNotAllowed, ""), NotListable},
		"406":       {respond(http.StatusNotAcceptable, ""), NotListable},
		"422":       {respond(http.StatusUnprocessableEntity, ""), Failed},
		"429":       {respond(http.StatusTooManyRequests, ""), Throttled},
		"500":       {respond(http.StatusInternalServerError, ""), Failed},
		"503":       {respond(http.StatusServiceUnavailable, ""), Unreachable},
		"410":       {respond(http.StatusGone, ""), Expired},
		"no list":   {respond(http.StatusOK, `{"kind":"Status","items":[]}`), Malformed},
		"no JSON":   {respond(http.StatusOK, "<html>"), Malformed},
		"too short": {respond(http.StatusOK, `{"kind":"List","items":[`), Unreachable},
		"hung up": {func(*api, http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, Unreachable},
		"broken off": {func(a *api, w http.ResponseWriter, r *http.Request) {
			a.cut(w, r, 0.5)
		}, Unreachable},
		"the same page again": {func(a *api, w http.ResponseWriter, _ *http.Request) {
			list := a.pageOf(1, "", "", "10")
			list.Continue = "again"
			a.write(w, list)
		}, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{}
			a.set(censustest.Population([]string{"a"}, 100))
			a.fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n == 0 {
					return false // the first page has no fault
				}
				test.fault(a, w, r)
				return true
			}
			pools, summary := scanWithFaults(t, a, &Scanner{ChunkSize: 40, RetryTimeout: time.Millisecond})
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

func TestSkippedByTimeout(t *testing.T) {
	a := &api{fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}}
	config := a.start(t)
	config.Timeout = 50 * time.Millisecond
	_, summary := scanWithFaults(t, a, &Scanner{Config: config, RetryTimeout: time.Millisecond})
	if len(summary.Skipped) != 1 || summary.Skipped[0].Reason != TimedOut {
		t.Errorf("%+v", summary.Skipped)
	}
}

// An interrupted scan keeps finished lists and names the others.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &api{fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "configmaps") {
			return false
		}
		cancel()
		<-r.Context().Done()
		return true
	}}
	a.set(censustest.Population([]string{"a"}, 100))
	secrets := Resource{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "Secret", true}
	var l committed
	s := Scanner{Config: a.start(t), Concurrency: 1}
	// One after the other: the first scan shows what the second must keep.
	summary, err := s.Scan(ctx, []Resource{configMaps}, "", l.begin)
	if err != nil || len(summary.Skipped) > 0 || len(l.pools) == 0 {
		t.Fatal(summary, err)
	}
	counted := len(l.pools)
	summary, err = s.Scan(ctx, []Resource{secrets}, "a", l.begin)
	if err != nil || len(summary.Skipped) != 1 || len(l.pools) != counted {
		t.Fatal(summary, err)
	}
	skipped := summary.Skipped[0]
	if skipped.Reason != Interrupted || skipped.Resource != "secrets" || skipped.Namespace != "a" {
		t.Errorf("%+v", skipped)
	}
}

func TestProgressNeverGoesBack(t *testing.T) {
	a := &api{}
	a.set(censustest.Population([]string{"a"}, 300))
	var seen []int64
	var last Progress
	scanOf(t, a, &Scanner{ChunkSize: 100, Progress: func(p Progress) {
		seen = append(seen, p.Objects)
		last = p
	}})
	if len(seen) < 4 || !slices.IsSorted(seen) || seen[2] != 300 {
		t.Errorf("%v", seen)
	}
	if last.Types != 1 || last.Done != 1 || last.Current != configMaps {
		t.Errorf("%+v", last)
	}
}

// A server that hangs delays a scan for a few requests, not for each type.
func TestServerHangs(t *testing.T) {
	a := &api{fault: func(n int, _ http.ResponseWriter, r *http.Request) bool {
		if n > 0 {
			<-r.Context().Done()
		}
		return n > 0
	}}
	a.set(censustest.Population([]string{"a"}, 10))
	var resources []Resource
	for i := range 300 {
		name := schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: fmt.Sprintf("type%03d", i)}
		resources = append(resources, Resource{name, "T", true})
	}
	s := Scanner{Config: a.start(t), RetryTimeout: 300 * time.Millisecond}
	s.Config.Timeout = 100 * time.Millisecond
	var l committed
	summary, err := s.Scan(t.Context(), resources, "", l.begin)
	if err != nil || len(summary.Skipped) < 299 {
		t.Fatal(len(summary.Skipped), err)
	}
	if summary.Requests > 100 {
		t.Errorf("%d requests", summary.Requests)
	}
	for _, skipped := range summary.Skipped {
		if skipped.Reason != TimedOut {
			t.Errorf("%+v", skipped)
		}
	}
}

// An aggregated server that can't produce metadata sends whole objects.
func TestServerWithoutMetadata(t *testing.T) {
	objects := censustest.Population([]string{"a", "b"}, 100)
	a := &api{}
	a.set(objects)
	a.fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		plain := false
		for clause := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
			plain = plain || strings.TrimSpace(clause) == "application/json"
		}
		if !plain {
			writeStatus(w, &metav1.Status{Status: "Failure", Code: http.StatusNotAcceptable})
			return true
		}
		list := a.pageOf(1, "", "", "")
		items := []any{}
		for _, item := range list.Items {
			spec := map[string]any{"metadata": map[string]any{"name": "no"}}
			items = append(items, map[string]any{"metadata": item.ObjectMeta, "spec": spec})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "items": items})
		return true
	}
	got, _ := scanOf(t, a, &Scanner{Since: testSince})
	if diff := cmp.Diff(naiveCount(configMaps, objects, &Scanner{Since: testSince}), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Go's client buffers megabytes of each HTTP/2 stream. The memory of a scan would grow with its pages.
func TestNoHTTP2(t *testing.T) {
	var mu sync.Mutex
	protocols := map[string]int{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		protocols[r.Proto]++
		mu.Unlock()
		a := &api{}
		a.write(w, &metav1.PartialObjectMetadataList{})
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s := Scanner{Config: &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}}
	summary, err := s.Scan(t.Context(), []Resource{configMaps}, "", (&committed{}).begin)
	if err != nil || len(summary.Skipped) != 0 || protocols["HTTP/1.1"] != 1 || len(protocols) != 1 {
		t.Errorf("%+v, %v, requests by protocol: %v", summary, err, protocols)
	}
}

// A list that can't be restarted is skipped with the reason of the last failure.
func TestReasonOfStartingAgain(t *testing.T) {
	for cause, want := range map[error]Reason{
		io.ErrUnexpectedEOF:      Unreachable,
		context.DeadlineExceeded: TimedOut,
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusGone}}:               Expired,
		&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusServiceUnavailable}}: Unreachable,
	} {
		if got := ReasonFor(fmt.Errorf("%w: %w", errStartAgain, cause)); got != want {
			t.Errorf("%v: %s, want %s", cause, got, want)
		}
	}
}

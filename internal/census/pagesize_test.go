package census

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

func limitsOf(t *testing.T, a *fakeapi.Server) (limits []int64) {
	t.Helper()
	for _, request := range a.Requests {
		u, err := url.Parse(request)
		if err != nil {
			t.Fatal(err)
		}
		limit, _ := strconv.ParseInt(u.Query().Get("limit"), 10, 64)
		limits = append(limits, limit)
	}
	return limits
}

// inOrder returns n objects.
func inOrder(n int) (objects []metav1.ObjectMeta) {
	for i := range n {
		objects = append(objects, metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("object-%d", i)})
	}
	return objects
}

func TestPagesGrow(t *testing.T) {
	for name, test := range map[string]struct {
		chunkSize int64
		want      []int64
	}{
		// The second request lists the namespaces. Then the list is restarted.
		"chosen": {0, []int64{1000, 1000, 5000, 25000, 25000}},
		"given":  {15_000, []int64{15000, 15000, 15000, 15000, 15000}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &fakeapi.Server{}
			a.Set(inOrder(40_000))
			_, summary := countOf(t, a, &Scanner{ChunkSize: test.chunkSize, limits: limitsWithTime("v1.34.4", time.Hour)})
			if diff := cmp.Diff(test.want, limitsOf(t, a)); diff != "" || summary.Objects != 40_000 {
				t.Errorf("%+v, (-want +got)\n%s", summary, diff)
			}
		})
	}
}

// If a server can't send large pages before the timeout of a request, pages become smaller and stay small.
func TestPagesShrink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inTime = 300
		slow := 0
		a := &fakeapi.Server{Fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
			if limit <= inTime {
				return false
			}
			slow++
			<-r.Context().Done()
			return true
		}}
		a.Set(inOrder(4000))
		s := &Scanner{Config: &rest.Config{Transport: a, Timeout: 7 * time.Second}, RetryTimeout: 6 * time.Second}
		_, summary := countOf(t, a, s)
		if summary.Objects != 4000 || slow > len(a.Requests)/3 {
			t.Errorf("%+v, %d of %d requests took too long: %v", summary, slow, len(a.Requests), limitsOf(t, a))
		}
	})
}

// Pages have the size that the server serves in a third of a second.
func TestPageSize(t *testing.T) {
	p := newPageSize(0, limitsFor("v1.34.4"))
	expect := func(what string, want int64) {
		t.Helper()
		if got := p.current(); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	page := func(limit int64, took time.Duration) {
		p.succeeded(pageCost{limit: limit, objects: limit, bytes: 500 * limit, took: took})
	}
	page(firstPage, pageTime)
	expect("a page that took just so long", firstPage)
	page(firstPage, pageTime/2)
	expect("a quick page", 2*firstPage)
	page(firstPage, time.Millisecond)
	expect("a quick page that is smaller than what is asked for by now", 2*firstPage)
	page(2*firstPage, time.Millisecond)
	expect("a very quick page", 10*firstPage)
	p.succeeded(pageCost{limit: 10 * firstPage, objects: 3, took: time.Microsecond})
	expect("a quick page of few objects", 10*firstPage)
	p.succeeded(pageCost{limit: 10 * firstPage, objects: 9 * firstPage, bytes: 9, took: 2 * pageTime})
	expect("a slow page, not full", 4500)
	page(10*firstPage, 3*pageTime)
	expect("a slow page of before", 3333)
	page(3333, time.Hour)
	expect("a very slow page", 3333/step)
	page(3333/step, time.Hour)
	expect("another", slowestPage)
	page(slowestPage, time.Hour)
	expect("one that does not get quicker", slowestPage)
	p.limit = 9000
	p.succeeded(pageCost{limit: 9000, objects: 9000, remaining: 300_000, took: time.Hour})
	expect("one that is slow because of what lies behind it", 7500)
	for range 5 {
		page(p.current(), time.Nanosecond)
	}
	expect("many quick pages", largestPage)
	p.succeeded(pageCost{limit: largestPage, objects: largestPage, bytes: 2 * largestBody, took: 1})
	expect("many bytes", largestPage/2)
	for range 2 {
		if !p.shrink(largestPage / 2) {
			t.Error("a page that failed is not followed by a smaller one")
		}
	}
	expect("two pages of the same size that failed", largestPage/4)
	page(largestPage/4, time.Millisecond)
	expect("a quick page after one that failed", largestPage/4+largestPage/16)
	for range 20 {
		p.shrink(p.current())
	}
	expect("many that failed", smallestPage)
	if p.shrink(smallestPage) {
		t.Error("smaller than the smallest")
	}
	page(smallestPage, time.Hour)
	expect("a slow page that is as small as can be", smallestPage)
}

// For servers that read pages from etcd as whole objects, pages stay small, even if the server is fast.
func TestPagesFromEtcd(t *testing.T) {
	for version, want := range map[string]int64{
		"v1.30.14": largestFromEtcd, "v1.33.13+k3s1": largestFromEtcd, "1.33": largestFromEtcd,
		"": largestFromEtcd, "what": largestFromEtcd,
		"v1.34.0-alpha.1": largestPage, "v1.34.4": largestPage, "1.34": largestPage, "v1.37.1-gke.100": largestPage,
	} {
		if got := limitsFor(version).objects; got != want {
			t.Errorf("version %q: pages of %d, want %d", version, got, want)
		}
	}
	a := &fakeapi.Server{}
	a.Set(inOrder(9_000))
	countOf(t, a, &Scanner{limits: limitsWithTime("v1.33.1", time.Hour)})
	if later := slices.Max(limitsOf(t, a)[1:]); later != slowestPage {
		t.Errorf("a page of %d of 9,000 objects, want %d", later, slowestPage)
	}
	const first = firstPage
	for all, want := range map[int64]int64{
		first: largestFromEtcd, // a list that ends, or has a selector
		2_000: slowestPage, 60_000: slowestPage, 400_000: 781, 1_000_000: 1953, 8_000_000: largestFromEtcd,
	} {
		p := newPageSize(0, limitsFor("v1.33.0"))
		p.succeeded(pageCost{limit: first, objects: first, bytes: first, remaining: all - first, took: 1})
		for limit := p.current(); ; limit = p.current() { // later pages have fewer objects after them
			if p.succeeded(pageCost{limit: limit, objects: limit, bytes: limit, remaining: limit, took: 1}); p.current() == limit {
				break
			}
		}
		if got := p.current(); got != want {
			t.Errorf("%d objects in pages of %d, want %d", all, got, want)
		}
	}
	p := newPageSize(0, limitsFor("v1.33.0"))
	p.succeeded(pageCost{limit: first, objects: first, bytes: 10_000 * first, took: 1})
	if got := p.current(); got != largestBodyFromEtcd/10_000 {
		t.Errorf("pages of %d objects of 10 kB of metadata, want %d", got, largestBodyFromEtcd/10_000)
	}
}

// limitsWithTime returns the limits of a version with another pageTime, because the test machine can be busy.
func limitsWithTime(version string, aim time.Duration) pageLimits {
	limits := limitsFor(version)
	limits.time = aim
	return limits
}

// The scan skips a list whose pages don't end.
func TestListsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		next     func(n int) int // token of the page after n
		items    bool
		requests int
	}{
		"tokens in a circle":        {func(n int) int { return n % 3 }, true, 4},
		"pages without any objects": {func(n int) int { return n }, false, 1_001},
	} {
		a := &fakeapi.Server{}
		a.Set([]metav1.ObjectMeta{{Namespace: "a", Name: "a"}})
		a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			list := &metav1.PartialObjectMetadataList{}
			list.ResourceVersion, list.Continue = "1", fmt.Sprint("t", test.next(n))
			if test.items {
				list.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("n%06d", n)}}}
			}
			if n < 5_000 { // else the list ends, so that the test does
				a.Write(w, list)
			}
			return n < 5_000
		}
		_, summary := countWithFaults(t, a, &Scanner{})
		if len(summary.Skipped) != 1 || summary.Skipped[0].Reason != Malformed || len(a.Requests) != test.requests {
			t.Errorf("%s: %d requests, %+v", name, len(a.Requests), summary)
		}
	}
}

// If a page is too large, the scan requests it again with fewer objects, until the page is small enough. The test sets
// a lower limit for pages, because the race detector reads only 1 MiB per second.
func TestLargeResponses(t *testing.T) {
	padded := func(w http.ResponseWriter, objects, size int) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[`)
		for i := range objects {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"metadata":{"namespace":"a","name":"n%06d"},"padding":"%s"}`, i, strings.Repeat("x", size))
		}
		fmt.Fprint(w, `]}`)
	}
	limits := limitsFor("v1.34.4")
	if limits.read < smallestPage*decode.MaxObject {
		t.Errorf("pages of up to %d bytes", limits.read)
	}
	limits.read = 4 << 20
	for name, test := range map[string]struct {
		size   int
		limits string
	}{
		"small":        {1 << 10, "[1000]"},
		"a large page": {32 << 10, "[1000 500]"},
	} {
		a := &fakeapi.Server{}
		a.Set([]metav1.ObjectMeta{{Namespace: "a", Name: "a"}})
		a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("limit") == "500" {
				padded(w, 300, 1<<10)
			} else {
				padded(w, 300, test.size)
			}
			return true
		}
		_, summary := countWithFaults(t, a, &Scanner{limits: limits})
		if limits := fmt.Sprint(limitsOf(t, a)); summary.Objects != 300 || limits != test.limits {
			t.Errorf("%s: limits %s, %+v", name, limits, summary)
		}
	}
}

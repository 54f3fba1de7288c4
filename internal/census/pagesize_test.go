package census

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func limitsOf(t *testing.T, a *api) (limits []int64) {
	t.Helper()
	for _, request := range a.requests {
		u, err := url.Parse(request)
		if err != nil {
			t.Fatal(err)
		}
		limit, _ := strconv.ParseInt(u.Query().Get("limit"), 10, 64)
		limits = append(limits, limit)
	}
	return limits
}

// inOrder is n objects that are counted in one walk.
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
		// The second request is for the namespaces; then the list is begun again.
		"chosen": {0, []int64{1000, 1000, 5000, 25000, 25000}},
		"given":  {15_000, []int64{15000, 15000, 15000, 15000, 15000}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &api{}
			a.set(inOrder(40_000))
			_, summary := scanOf(t, a, &Scanner{ChunkSize: test.chunkSize, quick: time.Hour})
			if diff := cmp.Diff(test.want, limitsOf(t, a)); diff != "" || summary.Objects != 40_000 {
				t.Errorf("%+v, (-want +got)\n%s", summary, diff)
			}
		})
	}
}

// A server that cannot make large pages in time, and has no more patience with
// a page than with a request, is asked for smaller ones, and goes on being so.
func TestPagesShrink(t *testing.T) {
	const inTime = 300
	slow := 0
	a := &api{fault: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if limit <= inTime {
			return false
		}
		slow++
		<-r.Context().Done()
		return true
	}}
	a.set(inOrder(4000))
	s := &Scanner{Config: a.start(t), RetryTimeout: 600 * time.Millisecond}
	s.Config.Timeout = 700 * time.Millisecond
	_, summary := scanOf(t, a, s)
	if summary.Objects != 4000 || slow > len(a.requests)/3 {
		t.Errorf("%+v, %d of %d requests took too long: %v", summary, slow, len(a.requests), limitsOf(t, a))
	}
}

func TestPageSize(t *testing.T) {
	p := newPageSize(0, defaultQuick)
	expect := func(what string, want int64) {
		t.Helper()
		if got := p.current(); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	p.succeeded(firstPage, 3*time.Second)
	expect("a slow page", firstPage)
	p.succeeded(firstPage, time.Second)
	expect("a quick page", 5*firstPage)
	p.succeeded(firstPage, time.Second)
	expect("a quick page that is smaller than what is asked for by now", 5*firstPage)
	for range 2 {
		if !p.shrink(5 * firstPage) {
			t.Error("a page that failed is not followed by a smaller one")
		}
	}
	expect("two pages of the same size that failed", 5*firstPage/2)
	p.succeeded(5*firstPage/2, time.Second)
	expect("a quick page after one that failed", 3125)
	for range 20 {
		p.shrink(p.current())
	}
	expect("many that failed", smallestPage)
	if p.shrink(smallestPage) {
		t.Error("smaller than the smallest")
	}
}

package census

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// paged records the pages of a list.
type paged struct {
	pages  [][]string
	page   []string
	begun  int
	sorted bool
	end    func() error
}

func (p *paged) Begin(sorted bool) {
	p.pages, p.page, p.sorted = nil, nil, sorted
	p.begun++
}

func (p *paged) Visit(o *decode.Object) { p.page = append(p.page, o.Name) }

func (p *paged) EndPage(context.Context) error {
	p.pages = append(p.pages, p.page)
	p.page = nil
	if p.end != nil {
		return p.end()
	}
	return nil
}

// walkPages walks the ConfigMaps of a server, in pages of three.
func walkPages(t *testing.T, a *fakeapi.Server, of Pages, to PageVisitor) (string, error) {
	t.Helper()
	reader, err := (&Scanner{Config: a.Start(t), ChunkSize: 3}).Reader()
	if err != nil {
		t.Fatal(err)
	}
	of.Resource = configMaps
	return reader.Walk(t.Context(), of, to)
}

// named returns objects with these names.
func named(names ...string) (objects []metav1.ObjectMeta) {
	for _, name := range names {
		objects = append(objects, metav1.ObjectMeta{Namespace: "a", Name: name})
	}
	return objects
}

// A page ends after its last object. A page that broke off is not visited twice.
func TestWalkPages(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(named("a", "b", "c", "d", "e"))
	a.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			a.Cut(w, r, 0.7)
		}
		return false
	}
	var p paged
	at, err := walkPages(t, a, Pages{Selector: "app in (x,y)"}, &p)
	want := [][]string{{"a", "b", "c"}, {"d", "e"}}
	if err != nil || at == "" || p.begun != 1 || !p.sorted || !slices.EqualFunc(p.pages, want, slices.Equal) {
		t.Errorf("%+v at %q: %v", p, at, err)
	}
	for _, uri := range a.Requests {
		if !strings.Contains(uri, "labelSelector=app+in+%28x%2Cy%29") {
			t.Errorf("a request without the selector: %s", uri)
		}
	}
}

// A walk can read an earlier resourceVersion. If it has expired, the walk reads the latest one.
func TestWalkPagesAtAState(t *testing.T) {
	for _, expired := range []bool{false, true} {
		a := &fakeapi.Server{}
		a.Set(named("a", "b"))
		first, err := walkPages(t, a, Pages{}, &paged{})
		if err != nil {
			t.Fatal(err)
		}
		a.Set(named("b", "c"))
		want := []string{"a", "b"}
		if expired {
			a.Expire()
			want = []string{"b", "c"}
		}
		var p paged
		if _, err := walkPages(t, a, Pages{At: first}, &p); err != nil || !slices.Equal(slices.Concat(p.pages...), want) {
			t.Errorf("expired is %v: %v %v", expired, p.pages, err)
		}
	}
}

// While the visitor handles a page, objects are deleted, and its token may expire.
func TestWalkPagesWhileObjectsAreDeleted(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(named("a", "b", "c", "d", "e", "f", "g"))
	p := paged{}
	p.end = func() error {
		if len(p.pages) == 1 {
			a.Set(named("e", "f", "g"))
			a.Expire()
		}
		return nil
	}
	at, err := walkPages(t, a, Pages{}, &p)
	if got := slices.Concat(p.pages...); err != nil || at != "" || !slices.Equal(got, []string{"a", "b", "c", "e", "f", "g"}) {
		t.Errorf("%v at %q: %v", got, at, err)
	}
}

// An error of EndPage ends the walk without a retry.
func TestWalkPagesEndsByAnError(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(named("a", "b", "c", "d", "e"))
	boom := errors.New("boom")
	if _, err := walkPages(t, a, Pages{}, &paged{end: func() error { return boom }}); !errors.Is(err, boom) || len(a.Requests) != 1 {
		t.Errorf("%v after %d requests", err, len(a.Requests))
	}
}

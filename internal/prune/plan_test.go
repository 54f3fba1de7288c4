package prune

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/censustest"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// paged is a server of a long list of ConfigMaps, which accepts every DELETE.
type paged struct {
	censustest.Pages

	mu      sync.Mutex
	limits  []int
	deleted []string
}

func (p *paged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodDelete {
		p.deleted = append(p.deleted, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"Status","status":"Success"}`)
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	p.limits = append(p.limits, limit)
	p.Pages.ServeHTTP(w, r)
}

// pruner returns a Pruner of that server.
func (p *paged) pruner(t testing.TB, criteria Criteria) *Pruner {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	return &Pruner{
		Lists: config, Deletions: config, Version: "v1.34.4", Criteria: criteria,
		Concurrency: 8, RetryTimeout: time.Second,
	}
}

// generated returns the i-th of many objects with generated names, in the order of storage. Each
// object is one second younger than the one before it.
func generated(i int) metav1.ObjectMeta {
	const sorted = "2456789bcdfghjklmnpqrstvwxz"
	digits := []byte("22222")
	for at, n := len(digits)-1, i; n > 0; at, n = at-1, n/len(sorted) {
		digits[at] = sorted[n%len(sorted)]
	}
	return metav1.ObjectMeta{
		Namespace: "ns", Name: "run-" + string(digits), GenerateName: "run-", UID: "u1",
		CreationTimestamp: metav1.Unix(int64(1+i), 0),
	}
}

func TestPlanAndDelete(t *testing.T) {
	server := &paged{Pages: censustest.Pages{Objects: 3000, Object: generated}}
	p := server.pruner(t, Criteria{Before: time.Unix(2001, 0)})
	targets := []Target{{configMaps, []string{"run-"}}}
	now := time.Unix(10+24*3600, 0)
	var reported []int64
	plan, err := p.Plan(t.Context(), targets, now, func(found int64) { reported = append(reported, found) })
	if err != nil {
		t.Fatal(err)
	}
	want := []Pool{{
		Resource: configMaps, Namespace: "ns", Prefix: "run-", Chosen: 2000, ByAge: [4]int64{1990, 10},
		Oldest: time.Unix(1, 0).UTC(), Newest: time.Unix(2000, 0).UTC(), Left: map[Reason]int64{TooYoung: 1000},
	}}
	if diff := cmp.Diff(want, plan.Pools); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if plan.Chosen != 2000 || plan.Left[TooYoung] != 1000 || len(plan.First) != maxFirst || plan.First[0].Name != "run-22222" ||
		len(reported) < 2 || reported[len(reported)-1] != 2000 || len(server.deleted) != 0 {
		t.Errorf("%+v, told %v, deleted %d", plan, reported, len(server.deleted))
	}
	var names []string
	if err := p.Each(t.Context(), targets, plan, func(o Object) error { names = append(names, o.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	var results []Result
	if err := p.Delete(t.Context(), targets, plan, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for _, path := range server.deleted {
		gone = append(gone, strings.TrimPrefix(path, "/api/v1/namespaces/ns/configmaps/"))
	}
	slices.Sort(gone)
	if !slices.Equal(names, gone) || len(results) != 2000 {
		t.Errorf("%d named, %d deleted, %d results", len(names), len(gone), len(results))
	}
}

// Of generateNames that share a truncated prefix, only a named one is chosen.
func TestPlanOfATruncatedPrefix(t *testing.T) {
	long := strings.Repeat("x", 58)
	declared := []string{long + "-one-", long + "-one-", long + "-two-"}
	server := &paged{Pages: censustest.Pages{Objects: len(declared), Object: func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "ns", Name: long + "bbbb" + string("bcd"[i]), GenerateName: declared[i], UID: "u", CreationTimestamp: metav1.Unix(1, 0),
		}
	}}}
	p := server.pruner(t, Criteria{Before: time.Unix(5, 0)})
	for _, test := range []struct {
		named, similar []string
		chosen         int64
	}{
		{[]string{long}, []string{long + "-one-", long + "-two-"}, 0},
		{[]string{long + "-one-"}, []string{long + "-two-"}, 2},
		{[]string{long + "-one-", long + "-two-"}, nil, 3},
	} {
		plan, err := p.Plan(t.Context(), []Target{{configMaps, test.named}}, time.Unix(100, 0), nil)
		if err != nil || plan.Chosen != test.chosen || !slices.Equal(plan.Similar[configMaps], test.similar) {
			t.Errorf("%q: %+v %v", test.named, plan, err)
		}
	}
}

// However many names a prefix has, prune holds only one page of objects and the newest objects to
// keep.
func TestNoMoreIsHeldThanAPage(t *testing.T) {
	keep, objects := 100, 60_000
	if testing.Short() {
		objects = 30_000
	}
	server := &paged{Pages: censustest.Pages{Objects: objects, Object: generated}}
	p := server.pruner(t, Criteria{Keep: &keep})
	targets := []Target{{configMaps, []string{"run-"}}}
	plan, err := p.Plan(t.Context(), targets, time.Unix(1e6, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	largest, all := 0, 0
	err = p.pages(t.Context(), targets, plan, func(_ context.Context, page []Object, _ bool) error {
		largest, all = max(largest, len(page)), all+len(page)
		return nil
	})
	if limit := slices.Max(server.limits); err != nil || all != objects-keep || largest > limit || limit > 25_000 {
		t.Errorf("%d objects, at most %d of a page of %d: %v", all, largest, limit, err)
	}
}

// If a list is restarted after objects were handed over, some of them might repeat. Each then stops
// with ErrListChanged.
func TestEachOfAListThatIsBegunAgain(t *testing.T) {
	to := &pageOf{take: func(_ context.Context, _ []Object, again bool) error {
		if again {
			return ErrListChanged
		}
		return nil
	}}
	to.chooser = newChooser(Target{configMaps, []string{"run-"}}, Criteria{}, time.Unix(100, 0), to)
	visit := func() error {
		to.Begin(true)
		o := decode.Object{Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 5}
		o.UID = "u"
		to.Visit(&o)
		return to.EndPage(t.Context())
	}
	if err := visit(); err != nil {
		t.Fatal(err)
	}
	if err := visit(); !errors.Is(err, ErrListChanged) {
		t.Error(err)
	}
}

// Delete stops after 100 failures in a row.
func TestDeleteStops(t *testing.T) {
	refusing := &paged{Pages: censustest.Pages{Objects: 3000, Object: generated}}
	p := refusing.pruner(t, Criteria{Before: time.Unix(5000, 0)})
	targets := []Target{{configMaps, []string{"run-"}}}
	plan, err := p.Plan(t.Context(), targets, time.Unix(10000, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { forbidden(w) }))
	defer server.Close()
	p.Deletions = &rest.Config{Host: server.URL, QPS: -1}
	failed := 0
	err = p.Delete(t.Context(), targets, plan, func(r Result) {
		if r.Outcome == Failed {
			failed++
		}
	})
	if err == nil || failed < maxFailures || failed >= maxFailures+p.Concurrency {
		t.Errorf("%d failed: %v", failed, err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	p.Deletions = p.Lists
	deleted := 0
	err = p.Delete(ctx, targets, plan, func(Result) {
		deleted++
		if deleted == 50 {
			interrupt()
		}
	})
	if !errors.Is(err, context.Canceled) || deleted < 50 || deleted >= 50+p.Concurrency {
		t.Errorf("%d deleted: %v", deleted, err)
	}
}

// BenchmarkMillion plans the deletion of a million objects. Memory must stay at one page.
func BenchmarkMillion(b *testing.B) {
	server := &paged{Pages: censustest.Pages{Objects: 1_000_000, Object: generated}}
	p := server.pruner(b, Criteria{Before: time.Unix(1<<40, 0)})
	for b.Loop() {
		if _, err := p.Plan(b.Context(), []Target{{configMaps, []string{"run-"}}}, time.Unix(1<<40, 0), nil); err != nil {
			b.Fatal(err)
		}
	}
}

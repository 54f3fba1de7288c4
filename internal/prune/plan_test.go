package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// prunable is a server of ConfigMaps. It accepts every DELETE.
type prunable struct {
	fakeapi.Server
	deleted []string
}

func serve(n int, object func(i int) metav1.ObjectMeta) *prunable {
	objects, p := make([]metav1.ObjectMeta, n), &prunable{}
	for i := range objects {
		objects[i] = object(i)
	}
	p.Set(objects)
	p.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		p.Lock()
		defer p.Unlock()
		p.deleted = append(p.deleted, r.URL.Path)
		respond(200, `{"kind":"Status","status":"Success"}`)(w)
		return true
	}
	return p
}

// pruner returns a Pruner that uses this server.
func (p *prunable) pruner(t testing.TB, criteria Criteria) *Pruner {
	t.Helper()
	config := p.StartPipe(t)
	config.QPS = -1
	return &Pruner{
		Lists: config, Deletions: config, Version: "v1.34.4", Criteria: criteria,
		Concurrency: 8, RetryTimeout: time.Second,
		Types: func(context.Context) ([]census.Resource, error) {
			gateways := typeOf("gateway.networking.k8s.io", "Gateway", "gateways")
			clusters := typeOf("ray.io", "RayCluster", "rayclusters")
			return []census.Resource{workflows, jobs, configMaps, gateways, clusters, typeOf("keda.sh", "ScaledJob", "scaledjobs")}, nil
		},
	}
}

// generated returns the i-th of many objects with generated names, in the order of storage. Each object is one second
// younger than the object before it.
func generated(i int) metav1.ObjectMeta {
	const sorted = "2456789bcdfghjklmnpqrstvwxz"
	digits := []byte("22222")
	for at, n := len(digits)-1, i; n > 0; at, n = at-1, n/len(sorted) {
		digits[at] = sorted[n%len(sorted)]
	}
	return metav1.ObjectMeta{
		Namespace: "ns", Name: "run-" + string(digits), GenerateName: "run-", UID: types.UID(fmt.Sprint("u", i)), ResourceVersion: "7",
		CreationTimestamp: metav1.Unix(int64(1+i), 0),
	}
}

func TestPlanAndDelete(t *testing.T) {
	server := serve(3000, generated)
	p := server.pruner(t, Criteria{Before: time.Unix(2001, 0)})
	var reported []int64
	plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, func(found int64) { reported = append(reported, found) })
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Pools) != 1 || len(plan.Pools[0].Objects) != 2000 || plan.Pools[0].Left[v1alpha1.PruneTooYoung] != 1000 ||
		len(reported) < 2 || reported[len(reported)-1] != 3000 || len(server.deleted) != 0 {
		t.Errorf("%d pools, told %v, deleted %d", len(plan.Pools), reported, len(server.deleted))
	}
	lists := len(server.Requests)
	var names []string
	for o := range plan.Objects() {
		names = append(names, o.Name)
	}
	results := 0
	if err := p.Delete(t.Context(), plan, func(Result) { results++ }); err != nil {
		t.Fatal(err)
	}
	var gone []string
	for _, path := range server.deleted {
		gone = append(gone, strings.TrimPrefix(path, "/api/v1/namespaces/ns/configmaps/"))
	}
	slices.Sort(names)
	slices.Sort(gone)
	if !slices.Equal(names, gone) || results != 2000 || len(server.Requests) != lists+2000 {
		t.Errorf("%d named, %d deleted, %d results, %d more lists", len(names), len(gone), results, len(server.Requests)-lists-2000)
	}
}

// The server selects objects by their labels. A plan doesn't count objects with other labels.
func TestPlanOfSelectedObjects(t *testing.T) {
	server := serve(3, generated)
	var selectors []string
	accept := server.Fault
	server.Fault = func(i int, w http.ResponseWriter, r *http.Request) bool {
		selectors = append(selectors, r.URL.Query().Get("labelSelector"))
		return accept(i, w, r)
	}
	p := server.pruner(t, Criteria{Selector: "app=x"})
	if _, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil); err != nil {
		t.Fatal(err)
	}
	if len(selectors) == 0 || slices.ContainsFunc(selectors, func(s string) bool { return s != "app=x" }) {
		t.Errorf("the lists select %q", selectors)
	}
}

// A Job that is large in JSON doesn't hide the other Jobs. The server encodes "<" as six bytes.
func TestPlanWithALargeJob(t *testing.T) {
	list := batchv1.JobList{TypeMeta: metav1.TypeMeta{Kind: "JobList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for i := range 11 {
		list.Items = append(list.Items, batchv1.Job{ObjectMeta: generated(i)})
	}
	list.Items[5].Spec.Template.Spec.Containers = []corev1.Container{
		{Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("<", 710_000)}}},
	}
	server := serve(0, nil)
	server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		at := slices.IndexFunc(list.Items, func(o batchv1.Job) bool { return o.Name == path.Base(r.URL.Path) })
		if at < 0 {
			return json.NewEncoder(w).Encode(list) == nil
		}
		return json.NewEncoder(w).Encode(list.Items[at]) == nil
	}
	p := server.pruner(t, Criteria{Running: true})
	plan, err := p.Plan(t.Context(), []Target{{jobs, []string{"run-"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if chosen := len(slices.Collect(plan.Objects())); chosen != 11 {
		t.Errorf("%d are chosen", chosen)
	}
	c, err := newClient(p.Deletions)
	for o := range plan.Objects() {
		if err == nil {
			_, err = c.get(t.Context(), o)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// If generateNames share a truncated prefix, prune chooses only objects of the named generateNames.
func TestPlanOfATruncatedPrefix(t *testing.T) {
	long := strings.Repeat("x", 58)
	declared := []string{long + "-one-", long + "-one-", long + "-two-"}
	server := serve(len(declared), func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "ns", Name: long + "bbbb" + string("bcd"[i]), GenerateName: declared[i], UID: types.UID("bcd"[i : i+1]), CreationTimestamp: metav1.Unix(1, 0),
		}
	})
	p := server.pruner(t, Criteria{Before: time.Unix(5, 0)})
	for _, test := range []struct {
		named, similar []string
		chosen         int
	}{
		{[]string{long, "x"}, []string{long + "-one-", long + "-two-"}, 0},
		{[]string{long + "-one-"}, nil, 2},
		{[]string{long + "-one-", long + "-two-"}, nil, 3},
	} {
		plan, err := p.Plan(t.Context(), []Target{{configMaps, test.named}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var similar []string
		for _, missing := range plan.NotFound { // of them, x has only another generateName that begins with it
			similar = append(similar, missing.Similar...)
		}
		if chosen := len(slices.Collect(plan.Objects())); chosen != test.chosen || !slices.Equal(similar, test.similar) {
			t.Errorf("%q: %d chosen, similar are %q, want %d and %q", test.named, chosen, similar, test.chosen, test.similar)
		}
	}
}

// After prune gave up on an object, later objects have less time for retries until an object has an outcome.
func TestShortRetryTimeout(t *testing.T) {
	r := &run{deleter: deleter{retryTimeout: time.Hour}, done: func(Result) {}}
	for _, step := range []struct {
		before Result
		want   time.Duration
	}{{Result{}, time.Hour}, {Result{Outcome: Failed, GaveUp: true}, shortRetryTimeout}, {Result{}, time.Hour}} {
		if err := r.note(step.before); err != nil || r.nextDeleter().retryTimeout != step.want {
			t.Errorf("after %+v: %s, %v, want %s", step.before, r.nextDeleter().retryTimeout, err, step.want)
		}
	}
}

// Refusals don't stop a run. The run stops if the server fails for many objects in a row.
func TestDeleteStops(t *testing.T) {
	server := serve(300, generated)
	p := server.pruner(t, Criteria{Before: time.Unix(5000, 0)})
	plan, err := p.Plan(t.Context(), []Target{{configMaps, []string{"run-"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.RetryTimeout = time.Millisecond
	run := func(respond http.HandlerFunc) (outcomes map[Outcome]int, err error) {
		server := httptest.NewServer(respond)
		defer server.Close()
		p.Deletions = &rest.Config{Host: server.URL, QPS: -1}
		outcomes = map[Outcome]int{}
		err = p.Delete(t.Context(), plan, func(r Result) { outcomes[r.Outcome]++ })
		return outcomes, err
	}
	refusing := func(w http.ResponseWriter, r *http.Request) {
		status(403, "Forbidden", `"name":"`+path.Base(r.URL.Path)+`"`)(w)
	}
	if got, err := run(refusing); err != nil || got[Failed] != 300 {
		t.Errorf("%v, want 300 failed: %v", got, err)
	}
	failing := func(w http.ResponseWriter, _ *http.Request) { trouble(w) }
	if got, err := run(failing); err == nil || got[Unknown]+got[Failed] > maxGivenUp+p.Concurrency {
		t.Errorf("%v, %v, want an error, and at most %d unknown or failed", got, err, maxGivenUp+p.Concurrency)
	}
	overloaded := func(w http.ResponseWriter, _ *http.Request) { busy(w) }
	if got, err := run(overloaded); err == nil || got[Failed] < maxGivenUp || got[Failed] > maxGivenUp+p.Concurrency {
		t.Errorf("%v, %v, want an error, and %d to %d failed", got, err, maxGivenUp, maxGivenUp+p.Concurrency)
	}
}

// A pool lists each creator once. An object's creator is its controller, else its field manager, else unknown.
func TestCreators(t *testing.T) {
	var p Pool
	for i, want := range []int8{0, 1, 2, 0, 1} {
		c := []object.Creator{{Manager: "curl"}, {Kind: "CronJob", Name: "nightly", Manager: "m"}, {}}[i%3]
		if got := p.creator(c); got != want {
			t.Errorf("%+v is creator %d, want %d", c, got, want)
		}
	}
	if names := fmt.Sprint(p.Creators[0].Creator, p.Creators[1].Creator, p.Creators[2].Creator); names != "curlCronJob/nightlyunknown" || len(p.Creators) != 3 {
		t.Errorf("%+v, want curl, CronJob/nightly and unknown", p.Creators)
	}
}

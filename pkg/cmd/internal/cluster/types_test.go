package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

func typeOf(group, version, name string) census.Resource {
	return census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: version, Resource: name}}
}

// A type stays known if its group can't be discovered.
func TestDiscover(t *testing.T) {
	runs, gizmos := typeOf("tekton.dev", "v1", "runs"), typeOf("example.com", "v1", "gizmos")
	pods, jobs := typeOf("", "v1", "pods"), typeOf("batch", "v1", "jobs")
	var found []census.Resource
	var skipped []census.Skipped
	var failure error
	types := &Types{known: []census.Resource{runs, gizmos, pods}}
	types.find = func(context.Context) ([]census.Resource, []census.Skipped, error) { return found, skipped, failure }
	for _, step := range []struct {
		found   []census.Resource
		skipped []census.Skipped
		want    []census.Resource
	}{
		{[]census.Resource{pods, jobs, runs}, []census.Skipped{{Group: "example.com"}}, []census.Resource{pods, jobs, runs, gizmos}},
		// As many as before, but others.
		{[]census.Resource{pods, jobs, gizmos}, []census.Skipped{{Group: "tekton.dev"}}, []census.Resource{pods, jobs, gizmos, runs}},
		{[]census.Resource{pods, runs}, []census.Skipped{{Group: "batch", Resource: "jobs"}}, []census.Resource{pods, runs}},
	} {
		found, skipped = step.found, step.skipped
		if got, err := types.Discover(t.Context()); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("%v, %v, want %v", got, err, step.want)
		}
		if got := types.known; !slices.Equal(got, step.want) {
			t.Errorf("%v are known, want %v", got, step.want)
		}
		if got := types.Skipped(); !slices.Equal(got, step.skipped) {
			t.Errorf("%v are skipped, want %v", got, step.skipped)
		}
	}
	failure = errors.New("no")
	if _, err := types.Discover(t.Context()); !errors.Is(err, failure) {
		t.Error(err)
	}
}

// Only named types are discovered, in the version that the server has now. The engine finds
// out that a type is gone.
func TestDiscoverNamed(t *testing.T) {
	gizmos, gone := typeOf("example.com", "v1", "gizmos"), typeOf("example.com", "v1", "gadgets")
	newer, pods := typeOf("example.com", "v2", "gizmos"), typeOf("", "v1", "pods")
	skipped := []census.Skipped{{Group: "example.com", Resource: "events"}}
	types := &Types{named: true, known: []census.Resource{gizmos, gone}, skipped: skipped}
	types.find = func(context.Context) ([]census.Resource, []census.Skipped, error) {
		return []census.Resource{pods, newer}, []census.Skipped{{Group: "tekton.dev"}}, nil
	}
	for range 2 {
		if got, err := types.Discover(t.Context()); err != nil || !slices.Equal(got, []census.Resource{newer}) {
			t.Errorf("%v, want %v: %v", got, newer, err)
		}
	}
	if got := types.Skipped(); !slices.Equal(got, skipped) {
		t.Errorf("%v are skipped", got)
	}
}

// Discovery, and a suggestion, end with their context even if the server doesn't respond.
func TestDiscoverIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/version":
			fmt.Fprint(w, `{"gitVersion":"v1.36.0"}`)
		case "/api":
			asked <- struct{}{}
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	c, err := New(ctx, factory{config: &rest.Config{Host: server.URL}}, nil, ServerWait{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		stop()
	}()
	if _, err := c.Types(nil, nil, false, "").Discover(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	unknown := census.NoSuchType{GroupResource: schema.GroupResource{Resource: "jbos"}}
	if err := c.Suggest(ctx, unknown); !errors.Is(err, unknown) {
		t.Error(err)
	}
}

package once_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// changing is a transport to a server that the test replaces by a server with other types.
type changing struct {
	now atomic.Pointer[oncetest.Server]
}

func (c *changing) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.now.Load().RoundTrip(r)
}

// serve replaces the server. serve serves the kind Worker under each of the plurals.
func (c *changing) serve(plurals ...string) *oncetest.Server {
	var types []oncetest.Type
	for _, plural := range plurals {
		types = append(types, oncetest.Type{Group: "example.com", Version: "v1", Kind: "Worker", Resource: plural})
	}
	c.now.Store(oncetest.NewServer(types...))
	return c.now.Load()
}

func (c *changing) creator() *once.Creator {
	config := oncetest.NewServer().Config()
	config.Transport = c
	return once.New(dynamicFor(config))
}

func worker() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Worker",
		"metadata": map[string]any{"generateName": "demo-", "namespace": "ns"},
	}}
}

// The first call finds a new type. If a type is created again under another plural, one call is refused, and the next
// call finds the type.
func TestTypeChanges(t *testing.T) {
	var server changing
	server.serve()
	creator := server.creator()
	mustCreate(t, creator, configMap(), idOf(t), once.Created)
	server.serve("workers")
	mustCreate(t, creator, worker(), idOf(t), once.Created)
	last := server.serve("workerz")
	if _, err := creator.Create(t.Context(), worker(), idOf(t)); !errors.Is(err, once.ErrRefused) || once.IsPermanent(err) {
		t.Errorf("a type that is gone: %v", err)
	}
	mustCreate(t, creator, worker(), idOf(t), once.Created)
	if len(last.Objects()) != 1 {
		t.Errorf("%d objects", len(last.Objects()))
	}
	server.serve()
	if _, err := creator.Create(t.Context(), worker(), idOf(t)); !errors.Is(err, once.ErrRefused) || once.IsPermanent(err) {
		t.Errorf("a type that is gone: %v", err)
	}
	if _, err := creator.Create(t.Context(), worker(), idOf(t)); !errors.Is(err, once.ErrRefused) || !meta.IsNoMatchError(err) {
		t.Errorf("no type: %v", err)
	}
}

// If a namespace is missing, discovery isn't repeated, because the type still exists.
func TestMissingObjectsKeepTheMapper(t *testing.T) {
	server := oncetest.NewServer()
	creator := creatorFor(server)
	mustCreate(t, creator, configMap(), idOf(t), once.Created)
	server.Func(func(r *oncetest.Request) oncetest.Fault {
		if r.Verb == "" {
			t.Error("discovery was repeated")
		}
		return nil
	})
	server.Always("create", "*", oncetest.Refuse(missingNamespace))
	for range 2 { // the second would repeat discovery
		if _, err := creator.Create(t.Context(), configMap(), once.NewID()); !errors.Is(err, once.ErrRefused) {
			t.Error(err)
		}
	}
}

// blocking is a mapper that waits for a server.
type blocking struct {
	meta.RESTMapper
	until chan struct{}
}

func (b blocking) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	<-b.until
	return nil, errors.New("no server")
}

// A call ends with its context, even if the mapper hangs.
func TestMapperHonorsContext(t *testing.T) {
	server, mapper := oncetest.NewServer(), blocking{until: make(chan struct{})}
	defer close(mapper.until)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	creator := once.New(once.Dynamic(dynamic.NewForConfigOrDie(server.Config()), mapper))
	_, err := creator.Create(ctx, configMap(), idOf(t))
	if !errors.Is(err, once.ErrInterrupted) || !errors.Is(err, context.DeadlineExceeded) || verbsOf(server) != "" {
		t.Errorf("%v, want an interrupt and no requests: %s", err, verbsOf(server))
	}
}

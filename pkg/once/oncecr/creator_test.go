package oncecr_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

func clientOf(t *testing.T, server *oncetest.Server) client.Client {
	t.Helper()
	c, err := client.New(server.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-", Namespace: "ns"},
		Data:       map[string]string{"value": value},
	}
}

// counts returns the values of the counter by kind and outcome.
func counts(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "genname_once_creates_total" {
			t.Errorf("the metric %s", family.GetName())
		}
		for _, m := range family.GetMetric() {
			series := ""
			for _, label := range m.GetLabel() { // sorted by name
				series += label.GetValue() + " "
			}
			values[series] = m.GetCounter().GetValue()
		}
	}
	return values
}

// The counter counts each outcome, for all Creators that share the registerer.
func TestMetrics(t *testing.T) {
	server, registry := oncetest.NewServer(), prometheus.NewRegistry()
	c := clientOf(t, server)
	creators := []*oncecr.Creator{oncecr.New(c, c), oncecr.New(c, c)}
	for _, creator := range creators {
		if err := creator.Register(registry); err != nil {
			t.Fatal(err)
		}
	}
	id, err := once.FromKey("order-17")
	if err != nil {
		t.Fatal(err)
	}
	server.Next("create", "configmaps", oncetest.QuotaExceeded)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for i, call := range []struct {
		ctx    context.Context //nolint:containedctx // of one call
		object client.Object
		id     once.ID
		want   error
	}{
		{t.Context(), configMap("a"), id, once.ErrRefused},
		{t.Context(), configMap("a"), id, nil},
		{t.Context(), configMap("a"), id, nil},
		{t.Context(), configMap("a"), id, nil},
		{t.Context(), configMap("b"), id, once.ErrMismatch},
		{done, configMap("a"), id, once.ErrInterrupted},
	} {
		if _, err := creators[i%2].Create(call.ctx, call.object, call.id); !errors.Is(err, call.want) {
			t.Errorf("%v, want %v", err, call.want)
		}
	}
	held := server.Objects()[0]
	held.SetAnnotations(map[string]string{once.Annotation: once.NewID().String()})
	server.Put(held)
	if _, err := creators[0].Create(t.Context(), configMap("a"), id); !errors.Is(err, once.ErrTaken) {
		t.Error(err)
	}
	held.SetAnnotations(nil)
	server.Put(held)
	if _, err := creators[0].Create(t.Context(), configMap("a"), id); !errors.Is(err, once.ErrUnknown) {
		t.Error(err)
	}
	for _, object := range []client.Object{configMap("a"), (*corev1.ConfigMap)(nil), nil} {
		if _, err := creators[0].Create(t.Context(), object, once.ID{}); !once.IsPermanent(err) {
			t.Error(err)
		}
	}
	want := map[string]float64{
		"ConfigMap created ": 1, "ConfigMap found ": 2, "ConfigMap refused ": 1, "ConfigMap mismatch ": 1,
		"ConfigMap interrupted ": 1, "ConfigMap taken ": 1, "ConfigMap unknown ": 1, "ConfigMap invalid ": 1, " invalid ": 2,
	}
	if got := counts(t, registry); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Register returns an error if there is no registerer, or another metric has the
// name.
func TestRegisterRefuses(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "genname_once_creates_total"}))
	for name, registerer := range map[string]prometheus.Registerer{
		"nil": nil, "nil pointer": (*prometheus.Registry)(nil), "another metric": registry,
	} {
		t.Run(name, func(t *testing.T) {
			if err := oncecr.New(nil, nil).Register(registerer); err == nil {
				t.Error("no error")
			}
		})
	}
}

// manager stands for a program whose client was not set.
type manager struct{ client.Client }

// Without a writer or a reader, each Create is a permanent error, and sends
// nothing.
func TestNilClients(t *testing.T) {
	server := oncetest.NewServer()
	c := clientOf(t, server)
	for name, creator := range map[string]*oncecr.Creator{
		"writer":         oncecr.New(nil, c),
		"reader":         oncecr.New(c, nil),
		"writer pointer": oncecr.New((*manager)(nil), c),
		"reader pointer": oncecr.New(c, (*manager)(nil)),
		"both":           oncecr.New(nil, nil),
		"creator":        nil,
		"zero":           {},
	} {
		t.Run(name, func(t *testing.T) {
			if result, err := creator.Create(t.Context(), configMap("a"), once.NewID()); !once.IsPermanent(err) {
				t.Errorf("%v, %v, want a permanent error", result.Outcome, err)
			}
		})
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// If an object is in another namespace than the client or the reader, and nothing was sent, the error is permanent.
func TestOtherNamespace(t *testing.T) {
	server := oncetest.NewServer()
	c := clientOf(t, server)
	other := client.NewNamespacedClient(c, "other")
	secret := once.WithSecret([]byte("a-secret-of-at-least-32-characters"), once.NoSecret)
	for name, creator := range map[string]*oncecr.Creator{
		"client": oncecr.New(other, c),
		"reader": oncecr.New(c, other, secret), // Create first reads the object under the name without a secret
	} {
		if result, err := creator.Create(t.Context(), configMap("a"), once.NewID()); !once.IsPermanent(err) || result.Name != "" {
			t.Errorf("%s: %+v, %v, want a permanent error and no name", name, result, err)
		}
	}
	if all := server.Requests(); len(all) != 0 {
		t.Errorf("requests: %v", all)
	}
	id := once.NewID()
	if _, err := oncecr.New(c, c).Create(t.Context(), configMap("a"), id); err != nil {
		t.Fatal(err)
	}
	if result, err := oncecr.New(c, other).Create(t.Context(), configMap("a"), id); !errors.Is(err, once.ErrUnknown) || once.IsPermanent(err) {
		t.Errorf("after a POST: %+v, %v", result, err)
	}
}

// Create reads with the reader, and never with the writer's cache.
func TestReadsWithReader(t *testing.T) {
	server, other := oncetest.NewServer(), oncetest.NewServer()
	creator := oncecr.New(clientOf(t, server), clientOf(t, server))
	id := once.NewID()
	for _, want := range []once.Outcome{once.Created, once.Found} {
		object := configMap("a")
		result, err := creator.Create(t.Context(), object, id)
		if err != nil || result.Outcome != want || object.UID == "" {
			t.Errorf("%+v, %v; want %s", result, err, want)
		}
	}
	if _, err := oncecr.New(clientOf(t, server), clientOf(t, other)).Create(t.Context(), configMap("a"), id); !errors.Is(err, once.ErrUnknown) {
		t.Errorf("%v, want an unknown outcome", err)
	}
	if n := len(other.Requests()); n != 3 {
		t.Errorf("%d requests of the reader", n)
	}
}

// blocking is a client that waits for the server's resource types.
type blocking struct {
	client.Client
	until chan struct{}
}

func (b blocking) IsObjectNamespaced(runtime.Object) (bool, error) {
	<-b.until
	return false, errors.New("no server")
}

// A call ends with its context, even if discovery hangs.
func TestDiscoveryHonorsContext(t *testing.T) {
	c := blocking{clientOf(t, oncetest.NewServer()), make(chan struct{})}
	defer close(c.until)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := oncecr.New(c, c).Create(ctx, configMap("a"), once.NewID())
	if !errors.Is(err, once.ErrInterrupted) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want an interrupt", err)
	}
}

package exporter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
)

// upgraded is a server with one ConfigMap, whose minor version changes. The server can have another type.
type upgraded struct {
	cmdutil.Factory
	minor  atomic.Int64
	other  atomic.Pointer[string]
	mapper meta.RESTMapper
}

func (u *upgraded) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"major":"1","minor":"%d"}`, u.minor.Load())
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind":"APIGroupList","groups":[]}`)
	case r.URL.Path == "/api/v1":
		other := ""
		if name := u.other.Load(); name != nil {
			other = fmt.Sprintf(`{"name":%[1]q,"kind":%[1]q,"namespaced":true,"verbs":["list","create"]},`, *name)
		}
		fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[`+other+
			`{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list","create"]}]}`)
	case path.Dir(r.URL.Path) == "/api/v1" && !r.URL.Query().Has("watch"):
		fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`+
			`{"metadata":{"name":"run-bcdfg","generateName":"run-","namespace":"a","resourceVersion":"1"}}]}`)
	default:
		w.WriteHeader(http.StatusForbidden)
	}
	return w.Result(), nil
}

func (u *upgraded) ToRESTConfig() (*rest.Config, error) {
	return &rest.Config{Host: "http://server", Transport: u}, nil
}

func (u *upgraded) KubernetesClientSet() (*kubernetes.Clientset, error) {
	config, _ := u.ToRESTConfig()
	return kubernetes.NewForConfig(config)
}

func (u *upgraded) ToRESTMapper() (meta.RESTMapper, error) { return u.mapper, nil }

// samples returns the values of a metric by the label resource.
func samples(t *testing.T, registry *prometheus.Registry, metric string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, sample := range family.GetMetric() {
			for _, label := range sample.GetLabel() {
				if family.GetName() == metric && label.GetName() == "resource" {
					got[label.GetValue()] = sample.GetGauge().GetValue()
				}
			}
		}
	}
	return got
}

// A report logs each reason to skip a type once, even if the type has several reasons in different namespaces.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	o := &options{IOStreams: genericiooptions.IOStreams{ErrOut: &out}}
	in := func(namespace string, reason census.Reason) census.Skipped {
		return census.Skipped{Resource: "pods", Namespace: namespace, Reason: reason, Message: "list pods: " + string(reason)}
	}
	late, gone, forbidden := in("a", census.TimedOut), in("b", census.Unreachable), in("c", census.Forbidden)
	for i, step := range []struct {
		skipped []census.Skipped
		want    string
	}{
		{[]census.Skipped{late, gone, in("d", census.TimedOut)}, "Warning: pods is not counted: list pods: timeout\n" +
			"Warning: pods is not counted: list pods: unreachable\n"},
		{[]census.Skipped{late, gone}, ""},
		{[]census.Skipped{gone, forbidden}, "Warning: 1 type not counted, because the exporter needs permission to list and watch: pods\n"},
		{nil, "pods is counted again\n"},
		{nil, ""},
	} {
		out.Reset()
		if o.report(exporter.State{Skipped: step.skipped}, true); out.String() != step.want {
			t.Errorf("step %d: %q, want %q", i, out.String(), step.want)
		}
	}
	o.report(exporter.State{Skipped: []census.Skipped{forbidden}}, true)
	o.notice(live.Notice{Type: live.Vanished, Resource: schema.GroupResource{Resource: "pods"}})
	out.Reset()
	if o.report(exporter.State{}, true); out.Len() > 0 {
		t.Errorf("a type is gone: %q", out.String())
	}
}

// watched starts a watch of some types, or of all. It returns its metrics, and a function that ends it.
func watched(t *testing.T, server *upgraded, types ...string) (registry *prometheus.Registry, stop func()) {
	t.Helper()
	o := &options{
		IOStreams: genericiooptions.IOStreams{ErrOut: io.Discard}, conn: &connection.Connection{Factory: server},
		minCount: 1, types: types,
	}
	collector, registry := exporter.New(1, 1), prometheus.NewRegistry()
	registry.MustRegister(collector)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- o.watch(ctx, collector) }()
	return registry, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// The metric of the attempts follows an upgrade of the server.
func TestAttemptsAfterAnUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &upgraded{}
		server.minor.Store(29)
		registry, stop := watched(t, server)
		for _, want := range []float64{1, 8} {
			time.Sleep(15 * time.Minute)
			if got := samples(t, registry, "genname_prefix_attempts"); len(got) != 1 || got["configmaps"] != want {
				t.Errorf("%v attempts, want %v", got, want)
			}
			server.minor.Store(35)
		}
		stop()
	})
}

// A named type that appears later is counted, also if another one disappears.
func TestTypeAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &upgraded{}
		server.minor.Store(35)
		server.other.Store(new("gadgets"))
		clients, err := server.KubernetesClientSet()
		if err != nil {
			t.Fatal(err)
		}
		server.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clients.Discovery()))
		registry, stop := watched(t, server, "configmaps,gadgets,widgets")
		for _, want := range []map[string]float64{{"configmaps": 1, "gadgets": 1}, {"configmaps": 1, "widgets": 1}} {
			time.Sleep(5 * time.Minute)
			if got := samples(t, registry, "genname_resource_names"); !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			server.other.Store(new("widgets"))
		}
		stop()
	})
}

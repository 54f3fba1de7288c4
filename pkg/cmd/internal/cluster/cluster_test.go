package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
)

// factory is a factory that has only a configuration.
type factory struct {
	cmdutil.Factory
	config *rest.Config
}

func (f factory) ToRESTConfig() (*rest.Config, error) { return f.config, nil }

func (f factory) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(f.config)
	return memory.NewMemCacheClient(client), err
}

// Resources runs again while lists are in flight, so it must not write to a configuration that
// others have.
func TestResourcesLeavesTheConfiguration(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/version":
			fmt.Fprint(w, `{"gitVersion":"v1.36.0"}`)
		case "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/api/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[`+
				`{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","create"]}]}`)
		default:
			fmt.Fprint(w, `{"kind":"APIGroupList","groups":[]}`)
		}
	}))
	defer server.Close()
	c, err := New(t.Context(), factory{config: &rest.Config{Host: server.URL}}, &flagvalue.Attempts{}, ServerWait{})
	if err != nil {
		t.Fatal(err)
	}
	before := c.Config
	// The engine discovers types while another goroutine can use the configuration.
	if _, err := c.Types(nil, nil, true, "").Discover(t.Context()); err != nil || c.Config != before {
		t.Errorf("the configuration is another after a discovery, %v", err)
	}
	for range 2 {
		found, _, err := c.Resources(t.Context(), nil, "")
		if err != nil || len(found) != 1 || found[0].Resource != "pods" {
			t.Fatalf("%v, want pods: %v", found, err)
		}
	}
	if before.WarningHandler != nil {
		t.Error("it was written to")
	}
	if c.Config.WarningHandler == nil {
		t.Error("lists of all types say that one is deprecated")
	}
}

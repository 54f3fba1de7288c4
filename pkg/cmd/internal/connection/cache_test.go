package connection

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// A client whose clock is behind the server's sees a resource type that appears.
func TestDiscoveryWithAClockThatIsBehind(t *testing.T) {
	names := []string{"widgets"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		tag := fmt.Sprintf("%q", names)
		w.Header().Set("Cache-Control", "public") // as kube-apiserver
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		resources := ""
		for i, name := range names {
			if i > 0 {
				resources += ","
			}
			resources += fmt.Sprintf(`{"resource":%q,"responseKind":{"kind":"Kind"},"scope":"Namespaced","verbs":["create"]}`, name)
		}
		if r.URL.Path != "/apis" {
			resources = ""
		}
		_, _ = fmt.Fprintf(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},
			"items":[{"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[%s]}]}]}`, resources)
	}))
	defer server.Close()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	c := New(streams)
	cache := t.TempDir()
	c.flags.APIServer, c.flags.CacheDir = &server.URL, &cache
	client, err := c.flags.ToDiscoveryClient()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 2} {
		client.Invalidate()
		list, err := client.ServerResourcesForGroupVersion("example.com/v1")
		if err != nil || len(list.APIResources) != want {
			t.Errorf("%v, %v, want %d types", list, err, want)
		}
		names = []string{"widgets", "gadgets"}
	}
}

package connection

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// A response of some kilobytes that has a gigabyte after decompression can't fill the memory.
func TestGzipBomb(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, `{"kind":"`)
		spaces := strings.Repeat(" ", 1<<20)
		for range 1 << 10 {
			if _, err := io.WriteString(zip, spaces); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	config := (&Connection{}).configure(&rest.Config{Host: server.URL})
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = client.ServerVersion()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "the response is too large: more than 64 MiB") {
		t.Errorf("%.200v", err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 1024 {
		t.Errorf("%d MiB were allocated", took)
	}
}

package connection

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// The log of a container is passed on line by line, so it can have any length.
func TestLongLog(t *testing.T) {
	const lines = apistatus.MaxResponse>>20 + 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		line := append(bytes.Repeat([]byte("x"), 1<<20-1), '\n')
		for range lines {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	client, err := corev1client.NewForConfig((&Connection{}).configure(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []corev1.PodLogOptions{{Timestamps: true}, {Timestamps: true, Follow: true}} {
		log, err := client.Pods("ci").GetLogs("p", &options).Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, log); n != lines<<20 || err != nil {
			t.Errorf("%+v: %d bytes, %v, want %d", options, n, err, lines<<20)
		}
		_ = log.Close()
	}
}

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

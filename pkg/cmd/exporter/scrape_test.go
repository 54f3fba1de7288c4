package exporter

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// largeRegistry returns a registry with some hundred kilobytes of metrics.
func largeRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	names := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "names", Help: "h"}, []string{"prefix"})
	for i := range 4_000 {
		names.WithLabelValues(fmt.Sprintf("%060d", i)).Set(1)
	}
	registry.MustRegister(names)
	return registry
}

// serve serves a registry, and returns the address of the metrics.
func serve(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	o := &options{
		IOStreams:      genericiooptions.IOStreams{ErrOut: io.Discard},
		metricsAddress: "127.0.0.1:0", healthAddress: "127.0.0.1:0", scope: scan.Flags{Namespace: "<ci>"},
	}
	s, err := o.listen(registry)
	if err != nil {
		t.Fatal(err)
	}
	group, ctx := errgroup.WithContext(t.Context())
	s.start(ctx, group)
	t.Cleanup(func() { _ = group.Wait() })
	return s.metricsAt.Addr().String()
}

// read reads a URL with these headers, and returns the response without its body.
func read(t *testing.T, url string, headers ...string) (code int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

// gathered counts how often metrics are gathered.
type gathered struct{ times int }

func (*gathered) Describe(chan<- *prometheus.Desc) {}

func (g *gathered) Collect(metrics chan<- prometheus.Metric) {
	g.times++
	metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc("times_total", "h", nil, nil), prometheus.CounterValue, float64(g.times))
}

// Clients share a text, one for each format, with and without compression.
func TestFormats(t *testing.T) {
	const open = "application/openmetrics-text;version=1.0.0"
	registry, g := prometheus.NewRegistry(), &gathered{}
	registry.MustRegister(g)
	address := "http://" + serve(t, registry)
	for _, test := range []struct{ accept, encoding, contentType, end string }{
		{"", "identity", "text/plain; version=0.0.4", "times_total 1\n"},
		{"text/html", "identity", "text/plain; version=0.0.4", "times_total 1\n"},
		{open, "identity", "application/openmetrics-text; version=", "# EOF\n"},
		{open + ";escaping=dots", "identity", "application/openmetrics-text; version=", "# EOF\n"},
		{open, "gzip", "application/openmetrics-text; version=", ""},
	} {
		_, header, body := read(t, address+"/metrics", "Accept", test.accept, "Accept-Encoding", test.encoding)
		if got := header.Get("Content-Type"); !strings.HasPrefix(got, test.contentType) || !strings.HasSuffix(body, test.end) {
			t.Errorf("%+v: %s\n%s", test, got, body)
		}
		if zipped := strings.HasPrefix(body, "\x1f\x8b"); zipped != (test.encoding == "gzip") {
			t.Errorf("%+v: compressed: %v", test, zipped)
		}
	}
	if g.times > 4 { // three forms, of which one may be older than a second
		t.Errorf("gathered %d times", g.times)
	}
	for path, want := range map[string]string{"/": "namespace &#34;&lt;ci&gt;&#34;. To count all namespaces, use -A", "/nothing": "404"} {
		if _, _, body := read(t, address+path); !strings.Contains(body, want) {
			t.Errorf("%s: no %s in\n%s", path, want, body)
		}
	}
}

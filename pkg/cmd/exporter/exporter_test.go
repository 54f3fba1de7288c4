package exporter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// The authentication of the metrics doesn't cover the health checks. The log has the addresses, without http if the
// file of the authentication can require TLS.
func TestServing(t *testing.T) {
	config := filepath.Join(t.TempDir(), "web.yml")
	users := "basic_auth_users:\n  prometheus: $2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi\n"
	if err := os.WriteFile(config, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	o := &options{
		IOStreams:      genericiooptions.IOStreams{ErrOut: &log},
		metricsAddress: "127.0.0.1:0", healthAddress: "127.0.0.1:0", webConfig: config, top: 1, minCount: 1,
		scope: scan.Flags{RetryTimeout: 1},
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := o.listen(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	group, running := errgroup.WithContext(ctx)
	s.start(running, group)
	check := func(url string, want int) {
		t.Helper()
		response, err := http.Get("http://" + url)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %s, want %d", url, response.Status, want)
		}
	}
	metrics, health := s.metricsAt.Addr().String(), s.healthAt.Addr().String()
	if want := "Serving /metrics on " + metrics + ", and /healthz and /readyz on " + health + "\n"; !strings.HasSuffix(log.String(), want) {
		t.Errorf("%q, want %q at the end", log.String(), want)
	}
	check(metrics+"/metrics", http.StatusUnauthorized)
	check(health+"/healthz", http.StatusOK)
	check(health+"/readyz", http.StatusServiceUnavailable)
	o.isReady.Store(true)
	check(health+"/readyz", http.StatusOK)
	stop()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// An address that is in use is an error that names the flag.
func TestAddressInUse(t *testing.T) {
	o := &options{IOStreams: genericiooptions.IOStreams{ErrOut: io.Discard}, metricsAddress: "127.0.0.1:0", healthAddress: "127.0.0.1:0"}
	s, err := o.listen(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.metricsAt.Close(), s.healthAt.Close() }()
	o.healthAddress = s.healthAt.Addr().String()
	if _, err := o.listen(prometheus.NewRegistry()); err == nil || !strings.HasPrefix(err.Error(), "--"+healthFlag+": ") {
		t.Errorf("%v, want an error of --%s", err, healthFlag)
	}
	if err := stopped(metricsFlag, errors.New("broken")); err == nil || !strings.Contains(err.Error(), "--"+metricsFlag) {
		t.Errorf("%v, want an error of --%s", err, metricsFlag)
	}
}

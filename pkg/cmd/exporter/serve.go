package exporter

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// headerTimeout limits the time for the header of a request, requestTimeout the time for a request and its
	// response, and idleTimeout the time until the next request of a connection. Prometheus usually pauses longer
	// between scrapes, and then opens a new connection.
	headerTimeout  = 5 * time.Second
	requestTimeout = 30 * time.Second
	idleTimeout    = 90 * time.Second
	// streamsAtOnce is the number of requests in flight of a connection with HTTP/2.
	streamsAtOnce = 10
	// closeTimeout limits the time for requests in flight when the command ends.
	closeTimeout = 2 * time.Second
)

// serving are the two HTTP servers.
type serving struct {
	metrics, health     *http.Server
	metricsAt, healthAt net.Listener
	flags               *web.FlagConfig
	logger              *slog.Logger
}

func (o *options) listen(registry *prometheus.Registry) (*serving, error) {
	metricsAt, err := net.Listen("tcp", o.metricsAddress)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", metricsFlag, err)
	}
	healthAt, err := net.Listen("tcp", o.healthAddress)
	if err != nil {
		_ = metricsAt.Close()
		return nil, fmt.Errorf("--%s: %w", healthFlag, err)
	}
	s := &serving{
		metricsAt: &boundedListener{Listener: metricsAt}, healthAt: &boundedListener{Listener: healthAt},
		flags:  &web.FlagConfig{WebConfigFile: &o.webConfig},
		logger: slog.New(slog.NewTextHandler(o.ErrOut, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", &scrapes{gatherer: registry})
	mux.HandleFunc("/{$}", o.landingPage)
	s.metrics, s.health = newServer(mux), newServer(o.healthHandler())
	o.log(o.scopeText())
	o.log(terminal.Sprintf("Serving /metrics on %s, and /healthz and /readyz on %s", metricsAt.Addr(), healthAt.Addr()))
	return s, nil
}

func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsAtOnce},
	}
}

func (o *options) landingPage(w http.ResponseWriter, r *http.Request) {
	page, err := web.NewLandingPage(web.LandingConfig{
		Name: "kubectl genname exporter", Version: buildinfo.Version(), Profiling: "false",
		Description: html.EscapeString(o.scopeText()),
		Links:       []web.LandingLinks{{Address: "/metrics", Text: "Metrics"}},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	page.ServeHTTP(w, r)
}

// healthHandler returns the checks of the kubelet. Once everything has been counted, neither check depends on the API
// server.
func (o *options) healthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !o.isReady.Load() {
			http.Error(w, "not everything has been counted", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}

// start serves until ctx is done.
func (s *serving) start(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error { return stopped(metricsFlag, web.Serve(s.metricsAt, s.metrics, s.flags, s.logger)) })
	group.Go(func() error { return stopped(healthFlag, s.health.Serve(s.healthAt)) })
	group.Go(func() error {
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		// Requests without a response in time are cut off. That is no failure, because the command ends.
		_, _ = s.metrics.Shutdown(closing), s.health.Shutdown(closing)
		return nil
	})
}

// stopped returns an error if an HTTP server has stopped by itself, and nil if it was shut down.
func stopped(flag string, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("the HTTP server of --%s stopped: %w", flag, err)
}

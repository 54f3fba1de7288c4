package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/exporter/messages"
)

const (
	// scrapesAtOnce is how many scrapes get a response at the same time. Others get 503.
	scrapesAtOnce = 3
	// headerTimeout is how long a client may take for the header of a request, and
	// requestTimeout for a request and its response.
	headerTimeout  = 5 * time.Second
	requestTimeout = 30 * time.Second
	// closeTimeout is how long requests in flight may take at the end.
	closeTimeout = 2 * time.Second
)

// serving are the two HTTP servers.
type serving struct {
	metrics, health     *http.Server
	metricsAt, healthAt net.Listener
	flags               *web.FlagConfig
	logger              *slog.Logger
	isReady             atomic.Bool
}

// listen listens on both addresses.
func (o *options) listen(registry *prometheus.Registry) (*serving, error) {
	metricsAt, err := net.Listen("tcp", o.metricsAddress)
	if err != nil {
		return nil, fmt.Errorf(messages.BadAddress, "--"+metricsFlag, err)
	}
	healthAt, err := net.Listen("tcp", o.healthAddress)
	if err != nil {
		_ = metricsAt.Close()
		return nil, fmt.Errorf(messages.BadAddress, "--"+healthFlag, err)
	}
	s := &serving{
		metricsAt: metricsAt, healthAt: healthAt,
		flags:  &web.FlagConfig{WebConfigFile: &o.webConfig},
		logger: slog.New(slog.NewTextHandler(o.ErrOut, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Registry: registry, EnableOpenMetrics: true, MaxRequestsInFlight: scrapesAtOnce,
	}))
	s.metrics, s.health = newServer(mux), newServer(s.healthHandler())
	o.log(messages.Listening, "http://"+metricsAt.Addr().String(), healthAt.Addr().String())
	return s, nil
}

func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
	}
}

// healthHandler returns the checks of the kubelet. Neither depends on the API server once
// everything has been counted.
func (s *serving) healthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !s.isReady.Load() {
			http.Error(w, "not everything has been counted", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}

// ready makes /readyz succeed.
func (s *serving) ready() { s.isReady.Store(true) }

// start serves until ctx is done.
func (s *serving) start(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error { return stopped(metricsFlag, web.Serve(s.metricsAt, s.metrics, s.flags, s.logger)) })
	group.Go(func() error { return stopped(healthFlag, s.health.Serve(s.healthAt)) })
	group.Go(func() error {
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		// Requests without a response in time are cut off. At the end, this is no failure.
		_, _ = s.metrics.Shutdown(closing), s.health.Shutdown(closing)
		return nil
	})
}

// stopped returns why a server has stopped before its end.
func stopped(flag string, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf(messages.Stopped, "--"+flag, err)
}

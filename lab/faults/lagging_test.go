package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// lag is the delay of one of the servers. Each watch ends after watchEnds, so that the next one goes to the other
// server.
const lag, watchEnds = 1500 * time.Millisecond, 2 * time.Second

// behind delays a response by the lag.
type behind struct {
	http.ResponseWriter
	ctx    context.Context
	queue  chan part
	copied chan struct{}
}

// part is a part of a response and the time at which it is sent.
type part struct {
	data []byte
	at   time.Time
}

func newBehind(ctx context.Context, w http.ResponseWriter) *behind {
	b := &behind{ResponseWriter: w, ctx: ctx, queue: make(chan part, 1000), copied: make(chan struct{})}
	go func() {
		defer close(b.copied)
		for p := range b.queue {
			select {
			case <-time.After(time.Until(p.at)):
				_, _ = w.Write(p.data)
				_ = http.NewResponseController(w).Flush()
			case <-ctx.Done():
			}
		}
	}()
	return b
}

func (b *behind) Write(p []byte) (int, error) {
	select {
	case b.queue <- part{append([]byte{}, p...), time.Now().Add(lag)}:
	case <-b.ctx.Done():
	}
	return len(p), nil
}

// Flush implements http.Flusher. Each part is flushed when it is sent.
func (b *behind) Flush() {}

// oneLags delays every second watch, like a server that lags.
func oneLags(opened *atomic.Int64) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if r.URL.Query().Get("watch") != "true" {
			return nil
		}
		lags := opened.Add(1)%2 == 1
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithTimeout(r.Context(), watchEnds)
				defer cancel()
				if !lags {
					next.ServeHTTP(w, r.WithContext(ctx))
					return
				}
				late := newBehind(ctx, w)
				defer func() { close(late.queue); <-late.copied }()
				next.ServeHTTP(late, r.WithContext(ctx))
			})
		}
	}
}

// lagging watches through a balancer. The watches of one server behind it lag. No event is lost, and none counts
// twice.
func (a *audits) lagging(t *testing.T) {
	for range 20 {
		a.create(t, "lagging-")
	}
	var opened atomic.Int64
	proxy, err := faultproxy.StartBalancer(faultproxy.HTTP2, faultproxy.ByRequest, a.cp.Admin(), addresses(a.cp), oneLags(&opened))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, proxy.Config); err != nil {
		t.Fatal(err)
	}
	w, err := StartWatch(t.Context(), a.plugin, "configmaps/lagging-", "-n=default", "--kubeconfig="+kubeconfig, "--cache-dir="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.kill()
	if err := w.Until(t.Context(), func(*v1alpha1.AuditReport) error { return nil }); err != nil {
		t.Fatal(err)
	}
	maps := a.client.CoreV1().ConfigMaps("default")
	for range 40 {
		a.create(t, "lagging-")
		time.Sleep(watchEnds / 8)
	}
	for _, i := range listed(t, a, "lagging-")[:10] {
		if err := maps.Delete(t.Context(), i, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	err = w.Until(t.Context(), func(r *v1alpha1.AuditReport) error {
		if len(r.Items) != 1 || r.Items[0].Names != 50 {
			return fmt.Errorf("not 50 names: %+v", r.Items)
		}
		return nil
	})
	last, ended := w.End()
	if err := errors.Join(err, ended); err != nil {
		t.Fatal(err)
	}
	m := last.Items[0].Measured
	if !last.Complete || last.Items[0].Names != 50 || m == nil || m.Creates != 40 || m.Deletes != 10 || m.Gaps != 0 || opened.Load() < 4 {
		t.Errorf("after %d watches: %+v, %s", opened.Load(), last.Items[0], w.stderr())
	}
}

// listed returns the names of the ConfigMaps of a prefix.
func listed(t *testing.T, a *audits, prefix string) (found []string) {
	t.Helper()
	all, err := a.client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range all.Items {
		if object.GenerateName == prefix {
			found = append(found, object.Name)
		}
	}
	return found
}

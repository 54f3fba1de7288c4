package faults

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Three members of etcd and two servers run behind a balancer that alternates between the servers. One of them fails
// at a time. All creates are kept. An audit counts correctly, or reports the resources that it could not count.
func TestReplicated(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t, controlplane.Replicated)
	a := &audits{cp: cp, plugin: plugin(t), client: clientOf(t, cp, cp.Servers[0])}
	t.Run("creates", func(t *testing.T) {
		s := Full()
		s.Plugin, s.Log = a.plugin, t.Output()
		s.Documents, s.Count, s.ServerKills, s.Replicated = 20, 10, 3, true
		keepsPromises(t, cp, s, "keyed")
	})
	for range 80 {
		a.create(t, "listed-")
	}
	for _, f := range replicatedFailures {
		t.Run("an audit, and "+f.name, func(t *testing.T) { a.during(t, f) })
	}
	t.Run("an audit, and a kube-apiserver frozen", func(t *testing.T) {
		a.during(t, failure{lasts: 3 * time.Second, begin: func(_ context.Context, cp *controlplane.ControlPlane) (func() error, error) {
			return cp.Servers[1].Thaw, cp.Servers[1].Freeze()
		}})
	})
	t.Run("a watch", func(t *testing.T) {
		s := Full()
		s.Plugin = a.plugin
		follow(t, cp, s, "configmaps,secrets,serviceaccounts")
	})
	t.Run("an audit of what is in no cache yet", a.isFresh)
	t.Run("an audit without a valid response", a.reportsFailure)
}

// audits runs audits on a control plane.
type audits struct {
	cp     *controlplane.ControlPlane
	plugin string
	client kubernetes.Interface // of the first server
	made   uint32               // number of objects
}

func clientOf(t *testing.T, cp *controlplane.ControlPlane, at *controlplane.Server) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(cp.Admin())
	config.Host = at.URL
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// create creates one object. create repeats the request, because etcd can be electing a leader.
func (a *audits) create(t *testing.T, prefix string) {
	t.Helper()
	a.made++
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: prefix, Name: names.Candidate(prefix, "audits", a.made),
	}}
	harness.Eventually(t, func() error {
		_, err := a.client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // the response to an earlier request was lost
		}
		return err
	})
}

// through returns the flags of an audit through a balancer that alternates between the servers. choose returns the
// fault for the n-th list.
func (a *audits) through(t *testing.T, servers []*controlplane.Server, choose func(n int64) faultproxy.Fault) []string {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL)
	}
	var lists atomic.Int64
	proxy, err := faultproxy.StartBalancer(faultproxy.HTTP2, a.cp.Admin(), urls, func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return nil
		}
		return choose(lists.Add(1))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	dir := t.TempDir()
	if err := controlplane.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), proxy.Config); err != nil {
		t.Fatal(err)
	}
	return []string{
		"--kubeconfig=" + filepath.Join(dir, "kubeconfig"), "--cache-dir=" + dir, "--chunk-size=20", "--request-timeout=10s",
	}
}

// expect fails unless the audit is complete and correct.
func (a *audits) expect(t *testing.T, flags []string) {
	t.Helper()
	report, err := Audit(t.Context(), a.plugin, a.client, flags...)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Complete || len(report.Summary.Inconsistent) > 0 {
		t.Errorf("skipped %+v, inconsistent %v", report.Skipped, report.Summary.Inconsistent)
	}
}

// during starts the failure before the second page, and ends it after its time.
func (a *audits) during(t *testing.T, f failure) {
	over := make(chan error, 1)
	begin := sync.OnceFunc(func() {
		end, err := f.begin(t.Context(), a.cp)
		if err != nil {
			over <- err
			return
		}
		go func() {
			time.Sleep(f.lasts)
			over <- end()
		}()
	})
	flags := a.through(t, a.cp.Servers, func(n int64) faultproxy.Fault {
		if n == 2 {
			begin()
		}
		return nil
	})
	a.expect(t, flags)
	if err := <-over; err != nil {
		t.Fatal(err)
	}
}

// isFresh creates at one server and counts at the other.
func (a *audits) isFresh(t *testing.T) {
	flags := a.through(t, a.cp.Servers[1:], func(int64) faultproxy.Fault { return nil })
	for range 10 {
		a.create(t, "fresh-")
		a.expect(t, flags)
	}
}

// reportsFailure runs an audit that gets no valid response within --retry-timeout. The report must be incomplete.
func (a *audits) reportsFailure(t *testing.T) {
	flags := a.through(t, a.cp.Servers, func(n int64) faultproxy.Fault {
		if n < 2 {
			return nil // the first page
		}
		return faultproxy.Respond(http.StatusBadGateway, nil, "Bad Gateway\n")
	})
	report, err := Audit(t.Context(), a.plugin, a.client, append(flags, "--retry-timeout=2s")...)
	if err != nil {
		t.Fatal(err)
	}
	if report.Complete || len(report.Skipped) != 1 || len(report.Items) > 0 {
		t.Errorf("skipped %+v, counted %+v", report.Skipped, report.Items)
	}
}

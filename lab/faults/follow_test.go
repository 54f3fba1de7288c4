package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// follow runs a short watch while objects are created and deleted.
func follow(t *testing.T, cp *controlplane.ControlPlane, s Settings, arguments ...string) {
	t.Helper()
	s.Follows, s.Log = 8*time.Second, t.Output()
	f, err := Follow(t.Context(), cp, s, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(f)
	if f.Exact+f.Lower < 8 {
		t.Errorf("%d prefixes were compared", f.Exact+f.Lower)
	}
}

// After all kills and restarts the names are right, and gaps are reported. The same holds if etcd was restored from a
// backup, so that the server is at an earlier state than the watch.
func TestFollow(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	s := Full()
	s.Plugin = plugin(t)
	t.Run("killed", func(t *testing.T) { follow(t, cp, s, "configmaps,secrets,serviceaccounts") })
	t.Run("restored", func(t *testing.T) { restored(t, cp, s.Plugin) })
}

// startWatch watches a prefix of ConfigMaps. expect waits until it has a number of names.
func startWatch(t *testing.T, plugin string, config *rest.Config, prefix string) (w *Watch, expect func(n int64)) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, config); err != nil {
		t.Fatal(err)
	}
	w, err := StartWatch(t.Context(), plugin, "configmaps/"+prefix, "-n=default", "--kubeconfig="+kubeconfig, "--cache-dir="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.kill)
	return w, func(n int64) {
		t.Helper()
		err := w.Until(t.Context(), func(r *v1alpha1.AuditReport) error {
			if len(r.Items) != 1 || r.Items[0].Names != n {
				return fmt.Errorf("not %d names: %+v", n, r.Items)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func restored(t *testing.T, cp *controlplane.ControlPlane, plugin string) {
	a := &audits{cp: cp, client: clientOf(t, cp, cp.Servers[0])}
	create := func(n int) {
		for range n {
			a.create(t, "kept-")
		}
	}
	create(20)
	w, expect := startWatch(t, plugin, cp.Admin(), "kept-")
	expect(20)
	data, backup := filepath.Join(cp.Dir, "etcd-0"), filepath.Join(t.TempDir(), "backup")
	stopped(t, cp, func() error { return os.CopyFS(backup, os.DirFS(data)) })
	create(30)
	expect(50)
	stopped(t, cp, func() error { return replace(data, backup) })
	create(3)
	expect(23)
	create(2)
	expect(25)
	last, err := w.End()
	if err != nil {
		t.Fatal(err)
	}
	// 35 objects were created. The gap can hide the 3 that were created after it began. None was deleted, because the
	// restored etcd never contained the 30.
	if m := last.Items[0].Measured; m == nil || m.Gaps == 0 || m.Creates < 32 || m.Creates > 35 || m.Deletes != 0 {
		t.Errorf("%+v, want gaps, 32 to 35 creates and no deletes", m)
	}
}

// replace puts a backup in the place of etcd's data.
func replace(data, backup string) error {
	if err := os.RemoveAll(data); err != nil {
		return err
	}
	return os.Rename(backup, data)
}

// stopped calls what while the control plane is stopped.
func stopped(t *testing.T, cp *controlplane.ControlPlane, what func() error) {
	t.Helper()
	for _, step := range []func() error{
		cp.Servers[0].Kill, cp.Members[0].Kill, what, cp.Members[0].Start,
		func() error { return cp.Servers[0].Start(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

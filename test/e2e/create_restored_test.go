package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// etcd is restored from a backup while the API server runs. The API server lists from a cache that
// still has lost objects, and a later version of an object that the backup has. A run with a key does not
// report lost objects as existing, and creates them after the API server was restarted.
func keyAfterEtcdWasRestored(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	u := harness.As(t, cp.Admin())
	data, backup := filepath.Join(cp.Dir, "etcd-0"), filepath.Join(t.TempDir(), "backup")
	restart := func(what func() error) {
		t.Helper()
		for _, step := range []func() error{cp.Members[0].Kill, what, cp.Members[0].Start} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		harness.Eventually(t, func() error { // until the API server reads from etcd again
			core := harness.Clientset(t, cp).CoreV1().ConfigMaps(ns)
			if _, err := core.Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("no ConfigMap has the name: %w", err)
			}
			_, err := core.List(t.Context(), metav1.ListOptions{LabelSelector: "genname.dev/run"}) // as a run with a key
			return err
		})
	}
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k", "--count=3"}
	older := append(slices.Clone(args), "--idempotency-key=older")
	u.Run(append(older, "--count=1")...).Prints(t, 0, oneCreated, "")
	restart(func() error { return os.CopyFS(backup, os.DirFS(data)) })
	changed := harness.ConfigMaps(t, cp, ns)[0]
	for _, run := range [][]string{args, older} {
		u.Run(run...).Has(t, 0)
	}
	changed.Data = map[string]string{"changed": "last"}
	if _, err := harness.Clientset(t, cp).CoreV1().ConfigMaps(ns).Update(t.Context(), &changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	restart(func() error {
		if err := os.RemoveAll(data); err != nil {
			return err
		}
		return os.Rename(backup, data)
	})
	const restored = `, and can't find it, or only an older version. Its cache is newer than etcd, for example after etcd was restored from a backup.
Tell the administrator of the cluster. Then run the same command again.
`
	for _, run := range [][]string{args, older} {
		u.Run(append(slices.Clone(run), "--retry-timeout=3s")...).Has(t, 1, restored)
	}
	for _, step := range []func() error{cp.Servers[0].Kill, func() error { return cp.Servers[0].Start(t.Context()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range [][]string{args, older} {
		u.Run(run...).Has(t, 0)
	}
	if n := len(harness.ConfigMaps(t, cp, ns)); n != 6 {
		t.Errorf("%d objects are there, want 6", n)
	}
}

// etcd's quota is used up. The server refuses the object at once.
func createWhileEtcdIsFull(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	alarm := func(action string) {
		t.Helper()
		body := strings.NewReader(`{"action": "` + action + `", "memberID": 0, "alarm": "NOSPACE"}`)
		resp, err := http.Post(cp.Members[0].URL+"/v3/maintenance/alarm", "application/json", body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
	}
	alarm("ACTIVATE")
	defer alarm("DEACTIVATE")
	var posts atomic.Int64
	u := harness.As(t, faultproxy.New(t, cp.Admin(), countPosts(&posts)).Config)
	u.Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap)).Prints(t, 1, ``,
		"Error from server: error when creating \"in.yaml\": etcdserver: mvcc: database space exceeded\n")
	if n := posts.Load(); n != 1 {
		t.Errorf("%d POSTs, want 1", n)
	}
}

// An object that is too large for etcd, or for kube-apiserver's client of etcd, is
// refused at once: one POST and one GET.
func TestCreateOfAnObjectTooLargeForEtcd(t *testing.T) {
	t.Parallel()
	for size, why := range map[int]string{1700: "etcdserver: request is too large", 2500: "trying to send message larger than max"} {
		ns := harness.Namespace(t, single)
		var posts atomic.Int64
		proxy := faultproxy.New(t, single.Admin(), countPosts(&posts))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		u := harness.As(t, proxy.Config)
		u.Context = ctx
		template := harness.File(t, "large.yaml", "{apiVersion: v1, kind: PodTemplate, metadata: {generateName: large-}, template: {metadata: {}, spec: {containers: [{name: a, image: a, args: ["+
			strings.Repeat("x", size<<10)+"]}]}}}")
		r := u.Run("create", "-n", ns, "-f", template)
		if n := posts.Load(); n != 1 || r.Code != 1 || !strings.Contains(r.Stderr, why) {
			t.Errorf("%d POSTs of %d KiB, want 1 and %q: exit code %d, %s", n, size, why, r.Code, r.Stderr)
		}
	}
}

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// etcd is restored from a backup while the API server runs. The API server lists from a cache that
// still has lost objects. A run with a key does not report them as existing, and creates them after
// the API server was restarted.
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
	}
	restart(func() error { return os.CopyFS(backup, os.DirFS(data)) })
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k", "--count=3"}
	u.Run(args...).Expect(t, 0, `(`+oneCreated+`){3}`, `.*`)
	restart(func() error {
		if err := os.RemoveAll(data); err != nil {
			return err
		}
		return os.Rename(backup, data)
	})
	u.Run(args...).Expect(t, 1, ``, harness.Printed("error: "+"nothing was created, because the server lists %s, and can't find it. Its cache is newer than etcd, for example after etcd was restored from a backup.\nRestart the API servers. Then run the same command again.", `configmaps/demo-[^\n]*`))
	for _, step := range []func() error{cp.Servers[0].Kill, func() error { return cp.Servers[0].Start(t.Context()) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	u.Run(args...).Expect(t, 0, `(`+oneCreated+`){3}`, `.*`)
	if n := len(harness.ConfigMaps(t, cp, ns)); n != 3 {
		t.Errorf("%d objects are there, want 3", n)
	}
}

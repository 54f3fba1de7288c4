package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The global flags of kubectl are all there, with the same shorthands,
// defaults and help, and none more.
func TestGlobalFlagsAreKubectls(t *testing.T) {
	kubectls, err := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, "options").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := user{t, "", t.Context()}.run("options")
	if !strings.Contains(string(kubectls), "--vmodule") || ours.code != 0 {
		t.Fatalf("kubectl options says %s, kubectl genname options %+v", kubectls, ours)
	}
	if diff := cmp.Diff(string(kubectls), ours.stdout); diff != "" {
		t.Errorf("the options differ (-kubectl's +ours):\n%s", diff)
	}
}

// Underscores in flags are hyphens, as everywhere in Kubernetes.
func TestFlagsWithUnderscores(t *testing.T) {
	as(t, retrying.Admin()).run("create", "-f", file(t, "cm.yaml", configMap), "--dry_run=client", "--idempotency_key=k").
		expect(t, 0, `configmap/demo-`+suffix+` created \(dry run\)\n`, ``)
}

// --profile writes a profile, also of a run that fails.
func TestProfile(t *testing.T) {
	u := as(t, retrying.Admin())
	for _, profile := range []string{"cpu", "heap", "goroutine", "threadcreate", "block", "mutex", "trace"} {
		path := filepath.Join(t.TempDir(), profile)
		u.run("create", "-f", "nonsuch", "--profile="+profile, "--profile-output="+path).
			expect(t, 1, ``, `error: the path "nonsuch" does not exist\n`)
		if written, err := os.Stat(path); err != nil || written.Size() == 0 {
			t.Errorf("%s: %v", profile, err)
		}
	}
	u.run("version", "--profile=bogus").expect(t, 1, ``, `error: unknown profile 'bogus'\n`)
	u.run("version", "--profile=cpu", "--profile-output=/nonexistent/x").expect(t, 1, ``, `error: open /nonexistent/x: no such file or directory\n`)
}

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// All global flags of kubectl exist, with the same shorthands, defaults and help. There are no others.
func TestGlobalFlagsAreKubectls(t *testing.T) {
	kubectls, err := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, "options").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := harness.User{T: t, Context: t.Context()}.Run("options")
	if !strings.Contains(string(kubectls), "--vmodule") || ours.Code != 0 {
		t.Fatalf("kubectl options says %s, kubectl genname options %+v", kubectls, ours)
	}
	if diff := cmp.Diff(string(kubectls), ours.Stdout); diff != "" {
		t.Errorf("the options differ (-kubectl's +ours):\n%s", diff)
	}
}

// --profile writes a profile, even if the run fails.
func TestProfile(t *testing.T) {
	u := harness.As(t, retrying.Admin())
	for _, profile := range []string{"cpu", "heap", "goroutine", "threadcreate", "block", "mutex", "trace"} {
		path := filepath.Join(t.TempDir(), profile)
		u.Run("create", "-f", "nonsuch", "--profile="+profile, "--profile-output="+path).
			Expect(t, 1, ``, `error: the path "nonsuch" does not exist\n`)
		if written, err := os.Stat(path); err != nil || written.Size() == 0 {
			t.Errorf("%s: %v", profile, err)
		}
	}
	u.Run("version", "--profile=bogus").Expect(t, 1, ``, `error: unknown profile 'bogus'\n`)
	u.Run("version", "--profile=cpu", "--profile-output=/nonexistent/x").Expect(t, 1, ``, `error: open /nonexistent/x: no such file or directory\n`)
}

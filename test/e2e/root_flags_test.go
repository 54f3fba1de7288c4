package e2e

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// All global flags of kubectl exist, with the same shorthands, defaults and help. The exceptions are the flags of
// profiles, --match-server-version, and the help of --request-timeout. There are no others.
func TestGlobalFlagsAreKubectls(t *testing.T) {
	kubectls, err := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, "options").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := harness.User{T: t, Context: t.Context()}.Run("options")
	if !strings.Contains(string(kubectls), "--vmodule") || ours.Code != 0 {
		t.Fatalf("kubectl options says %s, kubectl genname options %+v", kubectls, ours)
	}
	others := regexp.MustCompile(`(?m)^ +--(profile|profile-output|match-server-version|request-timeout)=.*\n(\t.*\n)*\n?`)
	want, got := others.ReplaceAllString(string(kubectls), ""), others.ReplaceAllString(ours.Stdout, "")
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(ours.Stdout, "0 is one minute") {
		t.Errorf("the options differ (-kubectl's +ours):\n%s", diff)
	}
}

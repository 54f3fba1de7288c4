package e2e

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// All global flags of kubectl exist, with the same shorthands, defaults and help, except for those of profiles. There
// are no others.
func TestGlobalFlagsAreKubectls(t *testing.T) {
	kubectls, err := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, "options").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := harness.User{T: t, Context: t.Context()}.Run("options")
	if !strings.Contains(string(kubectls), "--vmodule") || ours.Code != 0 {
		t.Fatalf("kubectl options says %s, kubectl genname options %+v", kubectls, ours)
	}
	want := regexp.MustCompile(`(?m)^ +--profile(-output)?=.*\n(\t.*\n)*\n?`).ReplaceAllString(string(kubectls), "")
	if diff := cmp.Diff(want, ours.Stdout); diff != "" {
		t.Errorf("the options differ (-kubectl's +ours):\n%s", diff)
	}
}

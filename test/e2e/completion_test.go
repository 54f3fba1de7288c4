package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// completions returns the words that Tab offers after kubectl genname and words, through kubectl, and
// the directive to the shell. Shells drop words that don't start with the last word.
func completions(s harness.Shell, words ...string) (offered []string, directive string) {
	s.T.Helper()
	r := s.Run("kubectl", append([]string{"__completeNoDesc", "genname"}, words...)...)
	lines := strings.Split(strings.TrimSuffix(r.Stdout, "\n"), "\n")
	if r.Code != 0 || len(lines) == 0 {
		s.T.Fatalf("%v: %+v", words, r)
	}
	for line := range strings.SplitSeq(r.Stderr, "\n") {
		if line != "" && !strings.HasPrefix(line, "[Debug]") && !strings.HasPrefix(line, "Completion ended with directive") {
			s.T.Errorf("%v: stderr has %q", words, line)
		}
	}
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		offered = append(offered, word)
	}
	return offered, lines[len(lines)-1]
}

// The expected directives of cobra.
const (
	anyFile = ":0"
	nothing = ":4" // no other completion
	slash   = ":6" // no other completion, and no space after it
)

func completion(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	u.Run("create", "-f", harness.File(t, "cm.yaml", configMap+"---\n"+strings.ReplaceAll(configMap, "demo-", "other-")), "--count=3").
		Outputs(t, strings.Repeat(oneCreated, 3)+strings.Repeat(strings.Replace(oneCreated, "demo", "other", 1), 3))
	s := harness.NewShell(t, u.Kubeconfig)
	for _, test := range []struct {
		words     []string
		want      []string
		directive string
	}{
		{[]string{""}, []string{"audit", "completion", "create", "duplicates", "exporter", "help", "lint", "options", "prune", "report", "version", "wrap"}, nothing},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, nothing},
		{[]string{"audit", "-n", "kube-n"}, []string{"kube-node-lease"}, nothing},
		{[]string{"audit", "--context", ""}, []string{"test"}, nothing},
		{[]string{"audit", "--cluster", "t"}, []string{"test"}, nothing},
		{[]string{"audit", "--user", "x"}, nil, nothing},
		{[]string{"audit", "config"}, []string{"configmaps"}, nothing},
		{[]string{"audit", "jobs,conf"}, []string{"jobs,configmaps"}, nothing},
		{[]string{"duplicates", "jobs,conf"}, []string{"jobs,configmaps"}, nothing},
		{[]string{"audit", "cm/o"}, []string{"cm/other-"}, nothing},
		{[]string{"audit", "--prefix", ""}, []string{"demo-", "other-"}, nothing},
		{[]string{"audit", "cm", "--prefix", "d"}, []string{"demo-"}, nothing},
		{[]string{"audit", "jobs", "--prefix", ""}, nil, nothing},
		{[]string{"audit", "-n", "kube-system", "-A", "--prefix", "d"}, []string{"demo-"}, nothing},
		{[]string{"audit", "-n", "kube-system", "-A", "cm/o"}, []string{"cm/other-"}, nothing},
		{[]string{"report", "configm"}, []string{"configmaps/"}, slash},
		{[]string{"report", "configmaps/"}, []string{"configmaps/demo-", "configmaps/other-"}, nothing},
		{[]string{"report", "cm/o"}, []string{"cm/other-"}, nothing},
		{[]string{"report", "-n", "kube-system", "cm/o"}, nil, nothing},
		{[]string{"report", "nope/"}, nil, nothing},
		{[]string{"wrap", "--retry"}, []string{"--retry-timeout"}, nothing},
		{[]string{"wrap", "--", "kubectl-gen"}, []string{"kubectl-genname"}, anyFile},
		{[]string{"wrap", "--", ""}, nil, anyFile},
		{[]string{"wrap", "--", "kubectl", "-"}, nil, anyFile},
	} {
		want := slices.Sorted(slices.Values(test.want))
		harness.Eventually(t, func() error { // a busy server may not respond in time, and a user presses Tab again
			got, directive := completions(s, test.words...)
			if slices.Sort(got); !slices.Equal(got, want) || directive != test.directive {
				return fmt.Errorf("%q: %q %s, want %q %s", test.words, got, directive, want, test.directive)
			}
			return nil
		})
	}
	// Later tests count all objects, so this test deletes its own.
	u.Run("prune", "configmaps/demo-", "configmaps/other-", "--older-than=0s", "--yes").Has(t, 0)
}

// kubectl prints no warning about the plugin. A request for help prints help, whatever the name of the
// program is.
func TestKubectlListsThePlugin(t *testing.T) {
	t.Parallel()
	s := harness.NewShell(t, harness.As(t, retrying.Admin()).Kubeconfig)
	s.Run("kubectl", "plugin", "list").Has(t, 0, "/kubectl-genname\n")
	s.Run("kubectl", "genname", "help", "create").Has(t, 0, "Create objects from files or stdin like kubectl create, ")
}

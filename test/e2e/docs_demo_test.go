package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// recorded is the recorded tour.
const recorded = harness.Root + "docs/demo.txt"

// The tour of "make demo", through kubectl, prints docs/demo.txt, except for random values and times.
func TestDemo(t *testing.T) {
	t.Parallel()
	cp := runningCluster(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		t.Fatal(err)
	}
	proxy := faultproxy.New(t, cp.Admin(), faultproxy.LoseEverySecond())
	lossy := filepath.Join(t.TempDir(), "lossy.kubeconfig")
	if err := controlplane.WriteKubeconfig(lossy, proxy.Config); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	tour := exec.CommandContext(t.Context(), "bash", harness.Root+"examples/demo.sh")
	tour.Env = append(harness.Environment(t, kubeconfig), "LOSSY_KUBECONFIG="+lossy, "NODE="+controlplane.Node)
	tour.Stdout, tour.Stderr = &stdout, &stderr
	if err := tour.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, stdout.String(), stderr.String())
	}
	if *update {
		if err := os.WriteFile(recorded, stdout.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutChance(string(want)), withoutChance(stdout.String())); diff != "" {
		t.Errorf("the tour differs from docs/demo.txt (-recorded +printed); go test ./test/e2e -run TestDemo -update records it:\n%s", diff)
	}
	if !regexp.MustCompile(`^(Warning: configmap/[^\n]*truncated-prefix[^\n]*\n|No create is close to failing: [^\n]*\nMost created [^\n]*\n  kubectl genname audit [^\n]* --watch\n|[^\n]* no generated name[^\n]*\n|` + retried(`[^\n]*`, messages.NextName) + `|` + harness.Printed(messages.Waited, "1 object", "1 succeeded, 0 failed, 0 running") + `|` + harness.Printed(messages.RunObjects, `  kubectl get jobs.batch -n default -l genname.dev/run=v1-[0-9a-f]{32}`) + `)+$`).MatchString(stderr.String()) {
		t.Errorf("stderr is\n%s", stderr.String())
	}
}

// runningCluster returns a cluster that runs Jobs on a node simulated by KWOK.
func runningCluster(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.New(t)
	if err := cp.StartControllers(t.Context(), os.Stderr, "job-controller"); err != nil {
		t.Fatal(err)
	}
	if err := cp.StartNodes(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	return cp
}

// withoutChance replaces values that differ between runs.
func withoutChance(text string) string {
	for _, r := range []struct{ pattern, by string }{
		{`(-|re)` + harness.Suffix + `\b`, `${1}xxxxx`},
		{`v1-[0-9a-f]{32}`, `v1-id`},
		{`(Client Version:) \S+`, `$1 version`},
		{`\(oldest \S+ ago, newest \S+ ago\)`, `(ages)`},
		{`room for [\d,]+ more`, `room for more`},
		{`(?m)^pods +\(\d+ Jobs\).*\n`, ``}, // the number of Jobs that the controller has created so far
		{`\+\d+/(s|min|h)\b`, ` rate `},     // measured rates
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	if strings.Contains(text, " rate ") { // the width of a table depends on the rates
		text = regexp.MustCompile(` {2,}`).ReplaceAllString(text, "  ")
	}
	return text
}

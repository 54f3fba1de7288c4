package e2e

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: demo-}
`

// A document is created as soon as its end is known, however long stdin stays open. The writer may
// wait for the result.
func TestCreateFromAPipeThatStaysOpen(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Plugin(t), "create", "-n", ns, "-f", "-")
	cmd.Env = harness.Environment(t, harness.As(t, retrying.Admin()).Kubeconfig)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	created := bufio.NewScanner(stdout)
	document := "# " + strings.Repeat("x", 4096) + configMap + "---\n" // kubectl reads that much to detect JSON
	for i := range 20 {
		if _, err := io.WriteString(stdin, document); err != nil || !created.Scan() {
			t.Fatalf("document %d is not created before the next one comes: %v", i+1, err)
		}
	}
	_ = stdin.Close()
	if created.Scan() {
		t.Errorf("%q comes at the end", created.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// expectConfigMaps fails the test unless n objects exist.
func expectConfigMaps(t *testing.T, ns string, n int) {
	t.Helper()
	if found := harness.ConfigMaps(t, single, ns); len(found) != n {
		t.Errorf("%d objects are there, want %d", len(found), n)
	}
}

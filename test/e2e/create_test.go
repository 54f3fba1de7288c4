package e2e

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// If truncation at 58 bytes splits a character of the prefix, the plugin makes the name valid before
// it sends it. So it recognizes the name in the response.
func TestCreateSplitCharacter(t *testing.T) {
	t.Parallel()
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {generateName: " + strings.Repeat("r", 57) + "é-}\n"
	harness.As(t, single.Admin()).Run("create", "-f", harness.File(t, "role.yaml", role)).
		Expect(t, 0, `clusterrole.rbac.authorization.k8s.io/r{57}`+harness.Suffix+` created\n`, ``)
}

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: demo-}
`

func TestCreate(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	r := harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "two.yaml", configMap+"---"+configMap))
	r.Expect(t, 0, `(configmap/demo-`+harness.Suffix+` created\n){2}`, ``)
	found := harness.ConfigMaps(t, retrying, ns)
	if len(found) != 2 {
		t.Fatalf("%d objects are there, want 2", len(found))
	}
	for _, cm := range found {
		if cm.GenerateName != "demo-" || !strings.HasPrefix(cm.Annotations[exactlyonce.Annotation], "r1-") {
			t.Errorf("generateName %q, annotations %v", cm.GenerateName, cm.Annotations)
		}
		if manager := cm.ManagedFields[0].Manager; manager != "kubectl-create" {
			t.Errorf("field manager %q, want kubectl's", manager)
		}
	}
}

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

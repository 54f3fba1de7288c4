package waiting

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// If a server is killed and restarted while the command waits, nothing is lost. The Job finishes after the restart.
// Other tests of the package run later.
func TestKilledServer(t *testing.T) {
	u, ns, client := harness.As(t, server.Admin()), harness.Namespace(t, server), harness.Clientset(t, server)
	file, result := harness.File(t, "input.yaml", job(runs)), make(chan harness.Result, 1)
	go func() { result <- u.Run("create", "-n", ns, "-f", file, "--wait", "--retry-timeout=5m") }()
	harness.Eventually(t, func() error {
		jobs, err := client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
		if err == nil && (len(jobs.Items) == 0 || jobs.Items[0].Status.Active == 0) {
			err = errors.New("no Job runs")
		}
		return err
	})
	if err := server.Servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := server.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "label", "pods", "--all", "-n", ns, "genname.test/pod-").Has(t, 0) // it ends
	(<-result).Has(t, 0, oneSucceeded)
}

package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Endpoints get the labels of their Service, including the run's label. The run does not treat them as
// unexpected objects.
func TestCreateWithAKeyBesideEndpoints(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	service := "apiVersion: v1\nkind: Service\nmetadata: {generateName: demo-}\nspec: {ports: [{port: 80}]}\n"
	endpoints := "apiVersion: v1\nkind: Endpoints\nmetadata: {name: other}\n"
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", service+"---\n"+endpoints), "--idempotency-key=k"}
	created := `service/demo-` + harness.Suffix + ` created\nendpoints/other created\n`
	u.Run(args...).Expect(t, 0, created, `.*`)
	services, err := harness.Clientset(t, retrying).CoreV1().Services(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Do the work of the Endpoints controller, which does not run here.
	copied := services.Items[0].DeepCopy()
	mirrored := harness.File(t, "mirrored.yaml", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: "+copied.Name+
		", labels: {genname.dev/run: "+copied.Labels[exactlyonce.RunLabel]+"}}\n")
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "create", "-n", ns, "-f", mirrored).Expect(t, 0, `endpoints/`+copied.Name+` created\n`, `.*`)
	u.Run(args...).Expect(t, 0, strings.ReplaceAll(created, "created", "exists"), `.*`)
}

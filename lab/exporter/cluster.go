package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// exporterNamespace is the namespace of deploy/exporter.
const exporterNamespace = "genname-exporter"

// cluster is a control plane with the manifests of the exporter.
type cluster struct {
	*controlplane.ControlPlane
	client     kubernetes.Interface
	kubeconfig string
	deployment *appsv1.Deployment
	account    string // directory with the token of the ServiceAccount
}

func startCluster(ctx context.Context, dir string) (*cluster, error) {
	cp, err := controlplane.Start(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	c := &cluster{ControlPlane: cp, kubeconfig: filepath.Join(dir, "kubeconfig"), account: filepath.Join(dir, "account")}
	c.client, err = kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return nil, err
	}
	return c, controlplane.WriteKubeconfig(c.kubeconfig, cp.Admin())
}

// deploy applies deploy/exporter and its component for ConfigMaps with kubectl. deploy checks that the server admits
// the Pod of the Deployment, and writes the files that a Pod finds.
func (c *cluster) deploy(ctx context.Context) (err error) {
	if err := c.kubectl(ctx, "apply", "-k", "lab/exporter"); err != nil {
		return err
	}
	c.deployment, err = c.client.AppsV1().Deployments(exporterNamespace).Get(ctx, "genname-exporter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	template := c.deployment.Spec.Template
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.GenerateName = c.deployment.Name + "-"
	pods := c.client.CoreV1().Pods(exporterNamespace)
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return fmt.Errorf("the Pod of the Deployment: %w", err)
	}
	return c.writeAccount(ctx, template.Spec.ServiceAccountName)
}

// writeAccount writes the files of a ServiceAccount as a kubelet does.
func (c *cluster) writeAccount(ctx context.Context, name string) error {
	seconds := int64(6 * 3600)
	token, err := c.client.CoreV1().ServiceAccounts(exporterNamespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.account, 0o755); err != nil {
		return err
	}
	for file, content := range map[string]string{
		"token": token.Status.Token, "ca.crt": string(c.Admin().CAData), "namespace": exporterNamespace,
	} {
		if err := os.WriteFile(filepath.Join(c.account, file), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) kubectl(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, c.Binaries.Kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

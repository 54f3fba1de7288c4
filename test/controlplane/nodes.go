package controlplane

import (
	"context"
	_ "embed"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Node is the node that Pod templates name: no scheduler runs.
const Node = "kwok"

// stages are what KWOK does with Nodes and Pods.
//
//go:embed stages.yaml
var stages []byte

// kwok is not among what Build builds: few tests want it.
var kwok = program{name: "kwok", module: "kwok", pkg: ".", takes: "2 minutes"}

// StartNodes runs KWOK, which plays a node and its Pods, beside the servers, and ends it
// with Stop. It builds KWOK first if it is missing, and reports that on log.
func (cp *ControlPlane) StartNodes(ctx context.Context, log io.Writer) error {
	path, err := kwok.build(ctx, log)
	if err != nil {
		return err
	}
	kubeconfig := cp.path("kwok.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, cp.User("kwok", "system:masters")); err != nil {
		return err
	}
	if err := os.WriteFile(cp.path("stages.yaml"), stages, 0o600); err != nil {
		return err
	}
	if err := cp.createNode(ctx); err != nil {
		return err
	}
	cp.nodes, err = start(cp.path("kwok.log"), path, nil,
		"--kubeconfig="+kubeconfig,
		"--config="+cp.path("stages.yaml"),
		"--manage-all-nodes=true",
	)
	return err
}

func (cp *ControlPlane) createNode(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return err
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: Node}}
	_, err = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	return err
}

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

// Node is the node that Pod templates must name, because no scheduler runs.
const Node = "kwok"

// stages configure how KWOK simulates Nodes and Pods.
//
//go:embed stages.yaml
var stages []byte

// kwok is not built by Build, because few tests need it.
var kwok = program{name: "kwok", module: "kwok", pkg: ".", takes: "2 minutes"}

// StartNodes runs KWOK beside the servers, which simulates a node and its Pods. Stop ends it. It first builds KWOK if
// it is missing, and prints that on log.
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

package controlplane

import (
	"context"
	_ "embed"
	"io"
	"net"
	"os"
	"slices"
	"strconv"

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
var kwok = program{name: "kwok", dir: "kwok", pkg: ".", takes: "2 minutes"}

// StartNodes runs KWOK, which simulates a node and its Pods, beside the servers. Stop ends it. It first builds KWOK if
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
	cp.nodes, err = StartProcess(cp.path("kwok.log"), path, nil,
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

// controllerManager is not built by Build, because few tests need it and the build takes minutes.
var controllerManager = program{
	name: "kube-controller-manager", dir: "servers", pkg: "./kube-controller-manager",
	version: ServerVersion, takes: "2 minutes",
}

// controllerVersions are the versions of kube-controller-manager. A server of another version runs beside
// ServerVersion.
var controllerVersions = []string{ServerVersion, NewestServerVersion}

// StartControllers runs the named controllers beside the servers. Stop ends them. It first builds
// kube-controller-manager if it is missing, and prints that on log.
func (cp *ControlPlane) StartControllers(ctx context.Context, log io.Writer, names string) error {
	manager := controllerManager
	if slices.Contains(controllerVersions, cp.version) {
		manager = manager.at(cp.version)
	}
	path, err := manager.build(ctx, log)
	if err != nil {
		return err
	}
	kubeconfig := cp.path("controllers.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, cp.User("system:kube-controller-manager", "system:masters")); err != nil {
		return err
	}
	cp.controllers, err = StartProcess(cp.path("kube-controller-manager.log"), path, nil,
		"--kubeconfig="+kubeconfig,
		"--controllers="+names,
		"--leader-elect=false",
		"--secure-port=0",
	)
	return err
}

// LogNode is the node of StartKubelet.
const LogNode = "logs"

// kubelet is not built by Build, because few tests need it.
var kubelet = program{name: "kubelet", dir: "servers", pkg: "./kubelet", takes: "10 seconds"}

// StartKubelet runs a program that serves the log files of dir, and registers it as the kubelet of LogNode. Servers
// reach it through the address that proxy returns. That address forwards to the program's address. Stop ends the
// program.
func (cp *ControlPlane) StartKubelet(
	ctx context.Context, log io.Writer, dir string, proxy func(address string) (proxied string),
) error {
	path, err := kubelet.build(ctx, log)
	if err != nil {
		return err
	}
	ports, err := cp.newPorts(1)
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", ports[0])
	if cp.kubelet, err = StartProcess(cp.path("kubelet.log"), path, nil, address, dir); err != nil {
		return err
	}
	host, text, err := net.SplitHostPort(proxy(address))
	if err != nil {
		return err
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return err
	}
	node, err := client.CoreV1().Nodes().Create(ctx,
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: LogNode}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

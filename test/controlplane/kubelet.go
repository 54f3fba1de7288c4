package controlplane

import (
	"context"
	"io"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LogNode is the node of StartKubelet.
const LogNode = "logs"

// kubelet is not built by Build, because few tests need it.
var kubelet = program{name: "kubelet", module: "kubelet", pkg: ".", takes: "10 seconds"}

// StartKubelet runs a program that serves the log files of dir, and registers it as the kubelet of LogNode. It is
// reached through proxied, an address that forwards to the program's address. Stop ends it.
func (cp *ControlPlane) StartKubelet(ctx context.Context, log io.Writer, dir, address, proxied string) error {
	path, err := kubelet.build(ctx, log)
	if err != nil {
		return err
	}
	if cp.kubelet, err = start(cp.path("kubelet.log"), path, nil, address, dir); err != nil {
		return err
	}
	host, text, err := net.SplitHostPort(proxied)
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

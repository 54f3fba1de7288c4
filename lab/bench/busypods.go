package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	// podRate is the number of Pods that are created per second. The status of each Pod changes podChanges times.
	podRate    = 30
	podChanges = 5
)

// busyPods measures the processor time of a server while a client watches Pods whose status changes.
func busyPods(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	config := cp.Admin()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	sent, through, err := metered(ctx, strings.TrimPrefix(config.Host, "https://"))
	if err != nil {
		return "", err
	}
	far := rest.CopyConfig(config)
	far.Host = "https://" + through
	if err := controlplane.WriteKubeconfig(b.kubeconfig(), far); err != nil {
		return "", err
	}
	life := &podLife{client: client, pods: client.CoreV1().Pods("default")}
	for range newNames { // so that Pods are watched
		if _, err := life.pods.Create(ctx, busyPod(), metav1.CreateOptions{}); err != nil {
			return "", err
		}
	}
	var alone, beside, events, idle, bytes series // a second
	for range min(b.runs, 3) {
		cost, err := life.run(ctx)
		if err != nil {
			return "", err
		}
		alone = append(alone, cost)
		w, err := startWatch(ctx, b, time.Second, "pods")
		if err != nil {
			return "", err
		}
		before := sent.Load()
		if cost, err = life.run(ctx); err != nil {
			return "", errors.Join(err, w.cmd.Process.Kill())
		}
		beside = append(beside, cost)
		bytes = append(bytes, float64(sent.Load()-before)/1000/churnTime.Seconds())
		if err := w.end(time.Second); err != nil {
			return "", err
		}
		n, percent, err := w.events()
		if err != nil {
			return "", err
		}
		events, idle = append(events, float64(n)/churnTime.Seconds()), append(idle, float64(percent))
	}
	return fmt.Sprintf("### Busy Pods\n\n%d Pods a second are created, change their status %d times and are deleted, of %.1f kB each in JSON.\n\n"+
		"| %d repetitions of %v | |\n|---|---|\n| events a second | %s |\n| of them for nothing | %s |\n| bytes of an event on the wire, TLS included | %.0f |\n"+
		"| all of them | %s |\n| the server's processor time a second, without a watch | %s |\n| with it | %s |\n",
		podRate, podChanges, float64(life.size.Load())/1000, len(alone), churnTime, events.in("%.0f", ""), idle.in("%.0f", "%"),
		bytes.median()*1000/events.median(), bytes.in("%.0f", "kB a second"), alone.in("%.3f", "s"), beside.in("%.3f", "s")), nil
}

// metered forwards connections to an address until ctx is done. It returns its own address, and a counter of the
// bytes that were sent back to the clients.
func metered(ctx context.Context, to string) (sent *atomic.Int64, address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	sent = &atomic.Int64{}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go forward(meteredConn{from, sent}, to)
		}
	}()
	return sent, listener.Addr().String(), nil
}

// meteredConn counts the bytes that are written to it.
type meteredConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (m meteredConn) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.bytes.Add(int64(n))
	return n, err
}

// ReadFrom hides the method of the embedded connection, which would bypass the counter.
func (m meteredConn) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{m}, r)
}

// podLife creates, updates and deletes Pods.
type podLife struct {
	client kubernetes.Interface
	pods   typedcorev1.PodInterface
	size   atomic.Int64 // of the last Pod at its end, in JSON
}

// run creates Pods for churnTime and returns the processor time that the server used per second.
func (l *podLife) run(ctx context.Context) (float64, error) {
	before, err := serverSeconds(ctx, l.client)
	if err != nil {
		return 0, err
	}
	group, inGroup := errgroup.WithContext(ctx)
	for range every(inGroup, time.Second/podRate) {
		group.Go(func() error { return l.one(inGroup) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	after, err := serverSeconds(ctx, l.client)
	return (after - before) / churnTime.Seconds(), err
}

func (l *podLife) one(ctx context.Context) error {
	pod, err := l.pods.Create(ctx, busyPod(), metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	for change := 0; err == nil && change < podChanges; change++ {
		changeStatus(pod, change)
		pod, err = l.pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"})
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(pod)
	if err != nil {
		return err
	}
	l.size.Store(int64(len(text)))
	return l.pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
}

// busyPod returns a Pod like those that the Job controller creates.
func busyPod() *corev1.Pod {
	labels := map[string]string{
		"app.kubernetes.io/name": "report", "batch.kubernetes.io/job-name": "nightly-report-29384712",
		"batch.kubernetes.io/controller-uid": "0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11",
	}
	owner := metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: "Job", Name: "nightly-report-29384712", UID: "0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11", Controller: new(true),
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "nightly-report-29384712-", Labels: labels, OwnerReferences: []metav1.OwnerReference{owner},
		Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
	}}
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	for _, name := range []string{"report", "proxy"} {
		container := corev1.Container{Name: name, Image: "registry.example.com/reports/" + name + ":v1.2.3"}
		for _, variable := range []string{"DATABASE", "BUCKET", "REGION", "LOG_LEVEL"} {
			container.Env = append(container.Env, corev1.EnvVar{Name: variable, Value: "some-value-of-" + variable})
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

// changeStatus sets the status that a kubelet reports at each step: the Pod is seen, initialized, started, ready and
// completed.
func changeStatus(pod *corev1.Pod, change int) {
	pod.Status.Phase = []corev1.PodPhase{corev1.PodPending, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded}[change]
	pod.Status.Conditions = nil
	for i, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodScheduled, corev1.ContainersReady, corev1.PodReady} {
		status := corev1.ConditionFalse
		if i <= change {
			status = corev1.ConditionTrue
		}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()})
	}
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: change == 3, ImageID: c.Image + "@sha256:5f2b1c0e9d7a4b6c8e3f1a2d5c7b9e0f4a6d8c1b3e5f7a9c2d4e6f8a0b1c3d5e",
		})
	}
}

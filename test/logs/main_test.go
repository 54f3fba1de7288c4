// Package logs follows the logs of containers through a real kube-apiserver. A program plays the kubelet over log files
// that the tests write, with the kubelet's own reader of them. The tests also write the statuses of Pods.
package logs

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// node is a control plane, and a kubelet behind a connection that breaks.
type node struct {
	*controlplane.ControlPlane
	dir    string // of the log files
	client kubernetes.Interface
	link   *link
}

var shared node

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Server{ControlPlane: &shared.ControlPlane}))
}

// started makes the first call of onNode start the shared kubelet.
var started sync.Once

func onNode(t *testing.T) *node {
	t.Helper()
	started.Do(func() {
		shared.client = harness.Clientset(t, shared.ControlPlane)
		shared.dir = filepath.Join(shared.Dir, "pods")
		err := shared.StartKubelet(context.Background(), os.Stderr, shared.dir, func(address string) string {
			shared.link = newLink(t, address)
			return shared.link.Addr().String()
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return &shared
}

// link forwards connections to an address, and can cut them.
type link struct {
	net.Listener
	to string

	mu    sync.Mutex
	conns []net.Conn
	down  bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{Listener: listener, to: to}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go l.forward(in)
		}
	}()
	return l
}

func (l *link) forward(in net.Conn) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	l.mu.Lock()
	down := l.down
	l.conns = append(l.conns, in, out)
	l.mu.Unlock()
	if down {
		return
	}
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
}

// cut breaks all connections. While the link is down, new ones break, too.
func (l *link) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns, l.down = nil, down
}

// pod is a Pod of the node, whose containers the test plays.
type pod struct {
	t         *testing.T
	node      *node
	namespace string
	name      string

	mu    sync.Mutex
	wrote map[string][]string // lines by container
}

// newPod creates a Pod. Containers whose names begin with "init" are init containers, and "init-sidecar" is a sidecar.
func newPod(t *testing.T, namespace string, containers ...string) *pod {
	t.Helper()
	return newPodOf(t, namespace, "j", nil, containers...)
}

func newPodOf(t *testing.T, namespace, job string, owners []metav1.OwnerReference, containers ...string) *pod {
	t.Helper()
	n := onNode(t)
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: job + "-", Labels: map[string]string{"job-name": job}, OwnerReferences: owners},
		Spec:       corev1.PodSpec{NodeName: controlplane.LogNode, RestartPolicy: corev1.RestartPolicyNever},
	}
	if slices.Contains(containers, "restarts") {
		object.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	for _, name := range containers {
		c := corev1.Container{Name: name, Image: "example.com/" + name}
		if name == "init-sidecar" {
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
		if strings.HasPrefix(name, "init") {
			object.Spec.InitContainers = append(object.Spec.InitContainers, c)
		} else {
			object.Spec.Containers = append(object.Spec.Containers, c)
		}
	}
	created, err := n.client.CoreV1().Pods(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &pod{t: t, node: n, namespace: namespace, name: created.Name, wrote: map[string][]string{}}
}

func (p *pod) path(container string, run int, suffix string) string {
	return filepath.Join(p.node.dir, fmt.Sprintf("%s_%s_%s", p.namespace, p.name, container), fmt.Sprintf("%d.%s", run, suffix))
}

// write writes lines to the log of a container, as a container runtime does.
func (p *pod) write(container string, run int, lines ...string) {
	p.t.Helper()
	path := p.path(container, run, "log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var text strings.Builder
	for i, line := range lines {
		now, stream := time.Now().UTC().Format(time.RFC3339Nano), []string{"stdout", "stderr"}[i/10%2]
		for len(line) > 16<<10 { // a part of a line
			fmt.Fprintf(&text, "%s %s P %s\n", now, stream, line[:16<<10])
			line = line[16<<10:]
		}
		fmt.Fprintf(&text, "%s %s F %s\n", now, stream, line)
	}
	if _, err := file.WriteString(text.String()); err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote[container] = append(p.wrote[container], lines...)
}

// status writes the status of the Pod.
func (p *pod) status(change func(*corev1.PodStatus)) {
	p.t.Helper()
	pods := p.node.client.CoreV1().Pods(p.namespace)
	harness.Eventually(p.t, func() error {
		object, err := pods.Get(context.Background(), p.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&object.Status)
		_, err = pods.UpdateStatus(context.Background(), object, metav1.UpdateOptions{})
		return err
	})
}

// running reports a run of a container that has begun.
func (p *pod) running(container string, run int) {
	p.t.Helper()
	p.status(func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		c := containerStatus(s, container)
		if c.State.Terminated != nil {
			c.LastTerminationState = c.State
		}
		c.RestartCount = int32(run)
		c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		c.ContainerID = fmt.Sprintf("containerd://%s-%d", container, run)
	})
}

// ended lets the kubelet know that a run of a container has ended, and reports it.
func (p *pod) ended(container string, run, code int) {
	p.t.Helper()
	if err := os.WriteFile(p.path(container, run, "done"), nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.status(func(s *corev1.PodStatus) {
		c := containerStatus(s, container)
		reason := "Completed"
		if code != 0 {
			reason = "Error"
		}
		c.RestartCount = int32(run)
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(code), Reason: reason, FinishedAt: metav1.Now(), ContainerID: fmt.Sprintf("containerd://%s-%d", container, run),
		}}
	})
}

// starts begins the first run of a container, and writes lines to its log.
func (p *pod) starts(container string, lines ...string) {
	p.t.Helper()
	p.write(container, 0, lines...)
	p.running(container, 0)
}

// ends ends a run of the last container, and the Pod.
func (p *pod) ends(container string, run, code int) {
	p.t.Helper()
	p.ended(container, run, code)
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	p.status(func(s *corev1.PodStatus) { s.Phase = phase })
}

// runsAlone plays the only container of a Pod, and the end of the Pod.
func (p *pod) runsAlone(code int, lines ...string) {
	p.t.Helper()
	p.starts("main", lines...)
	p.ends("main", 0, code)
}

// run plays the first run of a container from its beginning to its end, with exit code 0.
func (p *pod) run(container string, lines ...string) {
	p.t.Helper()
	p.starts(container, lines...)
	p.ended(container, 0, 0)
}

// containerStatus returns the status of a container, which it adds if it is missing.
func containerStatus(s *corev1.PodStatus, name string) *corev1.ContainerStatus {
	all := &s.ContainerStatuses
	if strings.HasPrefix(name, "init") {
		all = &s.InitContainerStatuses
	}
	at := slices.IndexFunc(*all, func(c corev1.ContainerStatus) bool { return c.Name == name })
	if at < 0 {
		*all = append(*all, corev1.ContainerStatus{Name: name, Image: "i", ImageID: "i"})
		at = len(*all) - 1
	}
	return &(*all)[at]
}

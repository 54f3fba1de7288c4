package wrap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// node is a control plane with a kubelet, which runs the commands of containers on this machine.
type node struct {
	*controlplane.ControlPlane
	logs string // the directory of the log files
}

var (
	ofNode  = harness.Lazy()
	kubelet sync.Once
)

func onNode(t *testing.T) *node {
	t.Helper()
	n := &node{ControlPlane: ofNode(t)}
	n.logs = filepath.Join(n.Dir, "pods")
	kubelet.Do(func() {
		direct := func(address string) string { return address }
		if err := n.StartKubelet(context.Background(), os.Stderr, n.logs, direct); err != nil {
			t.Fatal(err)
		}
	})
	return n
}

// run runs a Pod whose container is called main, and has logged a line.
func (n *node) run(t *testing.T, namespace string) (pod string) {
	t.Helper()
	dir := filepath.Join(n.logs, namespace+"_work_main")
	line := time.Now().UTC().Format(time.RFC3339Nano) + " stdout F logged\n"
	err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "0.log"), []byte(line), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	pods := harness.Clientset(t, n.ControlPlane).CoreV1().Pods(namespace)
	object, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "work"},
		Spec: corev1.PodSpec{
			NodeName: controlplane.LogNode, Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.Status.Phase = corev1.PodRunning
	object.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", ContainerID: "containerd://main",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	if _, err := pods.UpdateStatus(t.Context(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return object.Name
}

// tunnel is an HTTP proxy that knows only CONNECT. It counts the tunnels.
func tunnel(t *testing.T) (url string, tunnels *atomic.Int32) {
	t.Helper()
	tunnels = &atomic.Int32{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		upstream, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = upstream.Close() }()
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = client.Close() }()
		tunnels.Add(1)
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(upstream, buffered)
			_ = upstream.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(client, upstream)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL, tunnels
}

// echo returns the port of a server that sends back each line.
func echo(t *testing.T) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port
}

// streams uses the streams of a Pod. Arguments: the Pod, a directory with the file sent, the port of an echo, and the
// name of a debug container.
const streams = `pod=$1 port=$3
cd "$2" && rm -f held got && : > forwarded
echo in | kubectl exec -i "$pod" -c main -- sh -c 'cat; echo error >&2; exit 7'
echo "exec: $?"
kubectl cp -c main sent "$pod:$PWD/held" && kubectl cp -c main "$pod:$PWD/held" got >&2
[ "$(sha256sum < sent)" = "$(sha256sum < got)" ] && echo copied
kubectl debug "$pod" --image=example.com/tools -c "$4" --attach=false -q && echo debugged
kubectl logs "$pod" -c main
kubectl port-forward "pod/$pod" ":$port" > forwarded &
until local=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' forwarded) && [ -n "$local" ]; do sleep 0.1; done
exec 3<> "/dev/tcp/127.0.0.1/$local"
echo "over $port" >&3
head -n 1 <&3
kill %1
kubectl create configmap made --from-literal=a=b -o name --dry-run=client -o yaml |
	sed 's/name: made/generateName: made-/' | kubectl create -o name -f - | sed 's/-.*//'
`

// kubectl exec, cp, debug, logs and port-forward work as without wrap, over WebSocket and SPDY, and through an HTTP proxy.
func TestStreams(t *testing.T) {
	t.Parallel()
	n := onNode(t)
	for _, test := range []struct {
		name, webSockets string
		tunneled         bool
	}{{"WebSocket", "true", false}, {"SPDY", "false", false}, {"WebSocket by proxy-url", "true", true}, {"SPDY by proxy-url", "false", true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns, dir, port := harness.Namespace(t, n.ControlPlane), t.TempDir(), echo(t)
			sent := make([]byte, 5<<20)
			_, _ = rand.Read(sent)
			if err := os.WriteFile(filepath.Join(dir, "sent"), sent, 0o600); err != nil {
				t.Fatal(err)
			}
			pod := n.run(t, ns)
			s := shell(t, n.Admin(), ns)
			s.Env = append(s.Env, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS="+test.webSockets, "KUBECTL_PORT_FORWARD_WEBSOCKETS="+test.webSockets)
			want := s.Run("bash", "-c", streams, "-", pod, dir, port, "without")
			var tunnels *atomic.Int32
			if test.tunneled {
				var url string
				url, tunnels = tunnel(t)
				if r := s.Run("kubectl", "config", "set-cluster", "test", "--proxy-url="+url); r.Code != 0 {
					t.Fatalf("%+v, want code 0", r)
				}
			}
			got := s.Run("kubectl", "genname", "wrap", "--", "bash", "-c", streams, "-", pod, dir, port, "with")
			const all = "in\nexec: 7\ncopied\ndebugged\nlogged\nover %s\nconfigmap/made\n"
			if want.Stdout != fmt.Sprintf(all, port) || got != want {
				t.Errorf("with wrap:\n%+v\nwithout:\n%+v\nwant:\n"+all, got, want, port)
			}
			if test.tunneled && tunnels.Load() == 0 {
				t.Error("no request came through the proxy")
			}
		})
	}
}

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

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var (
	ofNode  = harness.Lazy()
	kubelet sync.Once
)

// onNode returns a control plane with a kubelet, which runs the commands of containers on this machine, and the
// directory of the log files.
func onNode(t *testing.T) (cp *controlplane.ControlPlane, logs string) {
	t.Helper()
	cp = ofNode(t)
	logs = filepath.Join(cp.Dir, "pods")
	kubelet.Do(func() {
		direct := func(address string) string { return address }
		if err := cp.StartKubelet(context.Background(), os.Stderr, logs, direct); err != nil {
			t.Fatal(err)
		}
	})
	return cp, logs
}

const (
	podManifest = `{apiVersion: v1, kind: Pod, metadata: {name: work}, spec: {
  nodeName: ` + controlplane.LogNode + `, containers: [{name: main, image: example.com/main}]}}`
	podStatus = `{"status": {"phase": "Running", "containerStatuses": [
  {"name": "main", "containerID": "containerd://main", "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}}}]}}`
)

// runPod runs the Pod work, whose container main has logged a line.
func runPod(t *testing.T, s harness.Shell, namespace, logs string) {
	t.Helper()
	dir := filepath.Join(logs, namespace+"_work_main")
	err := errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "0.log"), []byte("2026-01-02T03:04:05Z stdout F logged\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	s.Run("kubectl", "create", "-f", harness.File(t, "pod.yaml", podManifest)).Has(t, 0)
	s.Run("kubectl", "patch", "pod", "work", "--subresource=status", "--type=merge", "-p", podStatus).Has(t, 0)
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
	cp, logs := onNode(t)
	for _, test := range []struct {
		name, webSockets string
		tunneled         bool
	}{{"WebSocket", "true", false}, {"SPDY", "false", false}, {"WebSocket by proxy-url", "true", true}, {"SPDY by proxy-url", "false", true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns, dir, port := harness.Namespace(t, cp), t.TempDir(), echo(t)
			sent := make([]byte, 5<<20)
			_, _ = rand.Read(sent)
			if err := os.WriteFile(filepath.Join(dir, "sent"), sent, 0o600); err != nil {
				t.Fatal(err)
			}
			s := shell(t, cp.Admin(), ns)
			runPod(t, s, ns, logs)
			s.Env = append(s.Env, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS="+test.webSockets, "KUBECTL_PORT_FORWARD_WEBSOCKETS="+test.webSockets)
			want := s.Run("bash", "-c", streams, "-", "work", dir, port, "without")
			var tunnels *atomic.Int32
			if test.tunneled {
				var url string
				url, tunnels = tunnel(t)
				s.Run("kubectl", "config", "set-cluster", "test", "--proxy-url="+url).Has(t, 0)
			}
			got := s.Run("kubectl", "genname", "wrap", "--", "bash", "-c", streams, "-", "work", dir, port, "with")
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

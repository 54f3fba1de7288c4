package wrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// createTyped creates an object in protobuf, as typed clients do, and prints its name.
func createTyped() {
	config, namespace := connection()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	made, err := client.CoreV1().ConfigMaps(namespace).Create(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"}, Data: map[string]string{"a": "b"},
	}, metav1.CreateOptions{})
	if err != nil {
		fail(err)
	}
	fmt.Println(made.Name)
}

// A typed client that speaks protobuf gets its object, although a response is lost.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	var wire atomic.Int32
	inject := harness.First(1, faultproxy.DropResponse)()
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && bytes.HasPrefix(faultproxy.Body(r), []byte("k8s\x00")) {
			wire.Add(1)
		}
		return inject(r)
	})
	s := shell(t, proxy.Config, ns)
	s.Env = append(s.Env, asProgram+"=typed")
	r := s.Run("kubectl", "genname", "wrap", "--", os.Args[0])
	found := harness.ConfigMaps(t, server, ns)
	if len(found) != 1 || r.Code != 0 || r.Stdout != found[0].Name+"\n" || wire.Load() == 0 || found[0].Data["a"] != "b" {
		t.Errorf("%+v, %d objects, %d POSTs in protobuf", r, len(found), wire.Load())
	}
}

// Commands of kubectl that create nothing with a generateName work as without wrap.
func TestKubectl(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	s := shell(t, server.Admin(), ns)
	script := strings.Join([]string{
		"set -e",
		"kubectl create configmap a --from-literal=x=y",
		"kubectl apply -f " + harness.File(t, "b.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: "1"}}`),
		"kubectl patch configmap b -p '{\"data\":{\"x\":\"2\"}}'",
		"kubectl apply --server-side --force-conflicts -f " + harness.File(t, "b2.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {x: "3"}}`),
		"KUBE_EDITOR='sed -i s/y/z/' kubectl edit configmap a",
		"kubectl get configmap a b -o jsonpath='{..data.x}'; echo",
		"kubectl wait --for=jsonpath='{.data.x}'=3 configmap/b",
		"kubectl auth can-i create pods",
		"kubectl create configmap c --dry-run=server -o name",
		"kubectl delete configmap a",
		"kubectl explain pod.spec.nodeName | head -1",
	}, "\n")
	want := s.Run("bash", "-c", strings.ReplaceAll(script, "kubectl ", harness.Kubectl(t)+" "))
	s.Run("kubectl", "delete", "configmap", "b").Has(t, 0)
	if got := s.Run("kubectl", "genname", "wrap", "--", "bash", "-c", script); got.Code != 0 || got.Stdout != want.Stdout {
		t.Errorf("with wrap:\n%+v\nwithout:\n%+v", got, want)
	}
}

// start starts a command, and returns its stdout.
func start(t *testing.T, cmd *exec.Cmd) io.Reader {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readLine(from io.Reader) (line string, err error) {
	for b := make([]byte, 1); !strings.HasSuffix(line, "\n"); {
		if _, err = from.Read(b); err != nil {
			return line, err
		}
		line += string(b)
	}
	return line, nil
}

// The program gets signals. wrap exits with the program's exit code, even with 1 after an interrupt.
func TestSignals(t *testing.T) {
	t.Parallel()
	s := shell(t, server.Admin(), "default")
	for sent, code := range map[syscall.Signal]int{
		syscall.SIGTERM: 7, syscall.SIGINT: 1, syscall.SIGHUP: 5, syscall.SIGQUIT: 6, syscall.SIGUSR1: 8, syscall.SIGUSR2: 9,
	} {
		t.Run(sent.String(), func(t *testing.T) {
			t.Parallel()
			signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // under nohup, wrap would inherit that it is ignored
			cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", "bash", "-c",
				fmt.Sprintf(`trap 'exit %d' %d; echo ready; while :; do sleep 0.1; done`, code, int(sent)))
			cmd.Env = s.Env
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal
			if _, err := readLine(start(t, cmd)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != code {
				t.Errorf("%v, want %d", err, code)
			}
		})
	}
}

package logs

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// If the API server is killed while it streams, no line is lost, and no line comes twice.
func TestKilledServer(t *testing.T) {
	n, r, f, p := scene(t, "main")
	p.starts("main")
	p.write("main", 0, texts("before", 100)...)
	r.expect(t, "before 60 ")
	if err := n.Servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	p.write("main", 0, texts("meanwhile", 100)...)
	if err := n.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.write("main", 0, texts("after", 100)...)
	p.ends("main", 0, 0)
	f.Drain()
	r.compare(t, nil, p)
}

// A million lines need no more memory than a few. Their reader is slow at the beginning.
func TestMillionLines(t *testing.T) {
	const lines = 1_000_000
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	p := newPod(t, ns, "main")
	p.write("main", 0)
	writeMany(t, p.path("main", 0, "log"), lines)
	p.running("main", 0)
	p.ends("main", 0, 0)

	read, highest, wrong := 0, uint64(0), ""
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	before := memory.HeapAlloc
	start(t, ns, 10, func(_ logs.Container, text []byte) {
		if wrong == "" && string(text) != manyLine(read) {
			wrong = fmt.Sprintf("line %d is %q", read, text)
		}
		if read++; read%50_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&memory)
			highest = max(highest, memory.HeapAlloc)
		}
		if read < 1000 {
			time.Sleep(time.Millisecond)
		}
	}, func(e logs.Event) { wrong = fmt.Sprintf("%+v", e) }).Drain()
	if read != lines || wrong != "" {
		t.Errorf("%d lines; %s", read, wrong)
	}
	if used := int64(highest) - int64(before); used > 16<<20 {
		t.Errorf("%d MiB", used>>20)
	}
}

func manyLine(i int) string { return fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%100)) }

// writeMany writes the log of a container with many lines.
func writeMany(t *testing.T, path string, lines int) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	begin := time.Now().UTC()
	for i := range lines {
		fmt.Fprintf(out, "%s stdout F %s\n", begin.Add(time.Duration(i)*time.Microsecond).Format(time.RFC3339Nano), manyLine(i))
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// pipe is a stderr whose reader waits until it is opened.
type pipe struct {
	opened chan struct{}

	harness.Transcript
}

func (p *pipe) Write(data []byte) (int, error) {
	<-p.opened
	return p.Transcript.Write(data)
}

func (p *pipe) String() string { return harness.Printed(p.Transcript.String()) }

// execute runs create --wait --logs in this process. Nothing reads its stderr until it is opened.
func execute(ctx context.Context, t *testing.T, config *rest.Config, namespace string) (out, errOut *pipe, code <-chan int) {
	t.Helper()
	out, errOut = &pipe{opened: make(chan struct{})}, &pipe{opened: make(chan struct{})}
	close(out.opened)
	u, input, result := harness.As(t, config), harness.File(t, "in.yaml", job), make(chan int, 1)
	go func() {
		result <- cmd.Execute(ctx, []string{
			"create", "-n", namespace, "-f", input, "--wait", "--logs=raw", "-o", "json",
			"--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + filepath.Dir(u.Kubeconfig),
		}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut})
	}()
	return out, errOut, result
}

// A reader of stderr that stops reading delays neither the wait nor stdout. The reader gets all lines when it reads
// again.
func TestBlockedStderr(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	out, errOut, code := execute(t.Context(), t, onNode(t).Admin(), ns)
	owner := theJob(t, ns)
	p := podOf(t, owner)
	p.runsAlone(0, texts("line", 2000)...)
	for _, suspend := range []bool{true, false} { // which is a message
		owner.Spec.Suspend = &suspend
		var err error
		if owner, err = onNode(t).client.BatchV1().Jobs(ns).Update(t.Context(), owner, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, owner)
	out.Until(t, `"type": "Complete"`)
	close(errOut.opened)
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	want := strings.Join(texts("line", 2000), "\n") + "\nWaited for 1 object: 1 succeeded, 0 failed, 0 unfinished.\n"
	message := regexp.MustCompile(`(?m)^job\.batch/.* is suspended\..*\n`)
	if got := errOut.String(); !message.MatchString(got) || message.ReplaceAllString(got, "") != want {
		t.Errorf("%d bytes, want %d: %.400s ... %s", len(got), len(want), got, got[max(0, len(got)-300):])
	}
}

// If an interrupt ends the last list of the Pods, lines may be missing, so the command fails.
func TestInterruptInTheLastList(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	var hangs atomic.Bool
	proxy := faultproxy.New(t, onNode(t).Admin(), func(r *http.Request) faultproxy.Fault {
		if !hangs.Load() || !strings.HasSuffix(r.URL.Path, "/pods") || r.URL.Query().Has("watch") {
			return nil
		}
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		}
	})
	ctx, interrupt := context.WithCancel(t.Context())
	out, errOut, code := execute(ctx, t, proxy.Config, ns)
	close(errOut.opened)
	owner := theJob(t, ns)
	p := podOf(t, owner)
	p.runsAlone(0, "first", "last")
	errOut.Until(t, "last\n")
	hangs.Store(true)
	finish(t, owner)
	out.Until(t, `"type": "Complete"`)
	interrupt()
	if got := <-code; got != 130 {
		t.Errorf("exit code %d", got)
	}
	want := "first\nlast\nWarning: interrupted before all logs were read, so lines may be missing:\n" +
		"  kubectl logs job/" + owner.Name + " -n " + ns + "\n" +
		"Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished.\n"
	if got := errOut.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

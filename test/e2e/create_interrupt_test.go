package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// process is the plugin as a separate process, which can get signals.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr string // a file
	ended  chan struct{}
}

// startCreate starts the command create with a kubeconfig, and with a stdout if one is
// given.
func startCreate(t *testing.T, kubeconfig string, stdout *os.File, args ...string) *process {
	t.Helper()
	p := &process{t: t, stderr: filepath.Join(t.TempDir(), "stderr"), ended: make(chan struct{})}
	stderr, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	p.cmd = exec.CommandContext(t.Context(), harness.Plugin(t),
		append([]string{"create", "--kubeconfig=" + kubeconfig, "--cache-dir=" + t.TempDir()}, args...)...)
	p.cmd.Stderr = stderr
	if stdout != nil {
		p.cmd.Stdout = stdout
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) printed() string {
	return harness.Printed(harness.Read(p.t, p.stderr))
}

// prints waits for a text on stderr.
func (p *process) prints(text string) {
	p.t.Helper()
	harness.Eventually(p.t, func() error {
		if !strings.Contains(p.printed(), text) {
			return fmt.Errorf("stderr does not have %s:\n%s", text, p.printed())
		}
		return nil
	})
}

// result is the result of a process that has ended, and whose stdout doesn't matter.
func (p *process) result() harness.Result {
	return withoutWaiting(harness.Result{Stderr: p.printed(), Code: p.cmd.ProcessState.ExitCode()})
}

// ends waits for the end of the process. The process ends at most ten seconds after an interrupt. The test waits
// longer, because the machine can be busy.
func (p *process) ends(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		p.t.Fatalf("it does not end; stderr\n%s", p.printed())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d; stderr\n%s", got, code, p.printed())
	}
}

// waiting is the beginning of the message that an interrupt prints at once.
const waiting = "Interrupted. Waiting up to "

// withoutWaiting returns the result without the objects that were in progress at the
// interrupt, if they did not end at the same moment.
func withoutWaiting(r harness.Result) harness.Result {
	before, message, found := strings.Cut(r.Stderr, waiting)
	if found {
		_, message, _ = strings.Cut(message, "\n")
		for strings.HasPrefix(message, "  configmap/demo-") {
			_, message, _ = strings.Cut(message, "\n")
		}
		r.Stderr = before + message
	}
	return r
}

// A credential plugin hangs after the POST was carried out and its response was lost. The interrupt
// prints the object at once, and the command still ends.
func TestInterruptWhileACredentialPluginHangs(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	hang := filepath.Join(t.TempDir(), "hang")
	proxy := faultproxy.New(t, single.Admin(), harness.First(1, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := os.WriteFile(hang, nil, 0o600); err != nil {
				t.Error(err)
			}
			faultproxy.DropResponse(next).ServeHTTP(w, r)
		})
	})())
	kubeconfig := harness.As(t, proxy.Config).Kubeconfig
	withPlugin(t, kubeconfig, hangsAfter(hang))
	p := startCreate(t, kubeconfig, nil, "-n", ns, "-f", harness.File(t, "cm.yaml", configMap))
	p.prints("(checking whether it exists)\n")
	p.signal(syscall.SIGTERM)
	p.prints(waiting)
	p.ends(4)
	withoutReasons(p.result()).Prints(t, 4, "", readsBack+unknown+
		"error: interrupted, but something does not respond, such as the server, a credential plugin or the reader of the output: "+
		"0 created, 0 exist, 0 failed, 1 unknown, 0 not attempted\n"+checkAlone)
	harness.ExpectConfigMaps(t, single, ns, 1)
}

// hangsAfter is a script for withPlugin that hangs if the file exists. Its credentials have expired, so it runs for each
// request.
func hangsAfter(file string) string {
	return `[ ! -e ` + file + ` ] || exec sleep 120
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}}'`
}

// withPlugin makes the users of a kubeconfig get their credentials from a script.
func withPlugin(t *testing.T, kubeconfig, script string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: "sh", Args: []string{"-c", script},
			InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		}}
	}
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
}

// No process reads stdout, and the pipe is full. An interrupt ends the command, and each object that
// exists is on stdout or on stderr.
func TestInterruptWithoutAReader(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const size, line = 4096, len("configmap/demo-bcdfg created\n")
	if _, err := unix.FcntlInt(writer.Fd(), unix.F_SETPIPE_SZ, size); err != nil {
		t.Fatal(err)
	}
	p := startCreate(t, harness.As(t, single.Admin()).Kubeconfig, writer, "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=5000")
	_ = writer.Close()
	harness.Eventually(t, func() error { // until a line doesn't fit, and an object isn't printed
		written, err := unix.IoctlGetInt(int(reader.Fd()), unix.TIOCINQ)
		if n := len(harness.ConfigMaps(t, single, ns)); err == nil && (written <= size-line || n <= written/line) {
			return fmt.Errorf("%d bytes, %d objects", written, n)
		}
		return err
	})
	p.signal(syscall.SIGINT)
	p.prints(waiting)
	p.ends(130)
	stdout, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for line := range strings.Lines(string(stdout) + p.printed()) {
		if _, name, is := strings.Cut(line, "configmap/"); is && strings.Contains(line, " created") {
			name, _, _ = strings.Cut(name, " ")
			printed[name] = true
		}
	}
	there := map[string]bool{}
	for _, cm := range harness.ConfigMaps(t, single, ns) {
		there[cm.Name] = true
	}
	if !maps.Equal(there, printed) {
		t.Errorf("%d exist, %d are printed; stderr\n%s", len(there), len(printed), p.printed())
	}
}

// sameAgain is the advice after a run with a key.
const sameAgain = "Run the same command again. It leaves existing objects as they are.\n"

// A second interrupt ends the command at once, and names the object in progress.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	sent, isSent := context.WithCancel(t.Context())
	over := make(chan struct{})
	defer close(over)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if !harness.Creates(r) && sent.Err() == nil { // also the check of the POST hangs, so that the run can't end by itself
			return nil
		}
		return instead(func(http.ResponseWriter, *http.Request) {
			isSent()
			<-over
		})
	})
	p := startCreate(t, harness.As(t, proxy.Config).Kubeconfig, nil, "-n", ns, "-f", harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 3)), "--idempotency-key=k")
	<-sent.Done()
	p.signal(syscall.SIGINT)
	p.prints(waiting)
	time.Sleep(1100 * time.Millisecond) // a signal within a second belongs to the first
	p.signal(syscall.SIGINT)
	p.ends(4)
	p.result().Prints(t, 4, "", `error: outcome unknown: configmap/demo-xxxxx -n e2e-xxxxx: interrupted
error: interrupted again: 0 created, 0 exist, 0 failed, 1 unknown, 2 not attempted
`+sameAgain)
}

// A second interrupt ends the deletion at once, and the last line has the command for the rest.
func TestSecondInterruptWhileDeleting(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	waits, isWaiting := context.WithCancel(t.Context())
	deletes, isDeleting := context.WithCancel(t.Context())
	over := make(chan struct{})
	defer close(over)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.URL.Query().Has("watch") {
			isWaiting()
		}
		if r.Method != http.MethodDelete {
			return nil
		}
		isDeleting()
		return instead(func(http.ResponseWriter, *http.Request) { <-over })
	})
	// No controller finishes the Job.
	p := startCreate(t, harness.As(t, proxy.Config).Kubeconfig, nil, "-n", ns, "-f", harness.File(t, "in.yaml", job), "--wait", "--delete-on-interrupt")
	<-waits.Done()
	p.signal(syscall.SIGINT)
	<-deletes.Done()
	time.Sleep(1100 * time.Millisecond) // a signal within a second belongs to the first
	p.signal(syscall.SIGINT)
	p.ends(130)
	p.result().Has(t, 130, "error: interrupted again: ", "To stop the object, delete it:\n  kubectl delete job.batch/report-xxxxx -n e2e-xxxxx\n")
}

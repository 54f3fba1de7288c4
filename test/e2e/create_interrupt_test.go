package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
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
	return startPlugin(t, stdout, append([]string{"create", "--kubeconfig=" + kubeconfig}, args...)...)
}

// startPlugin starts a command, with a stdout if one is given.
func startPlugin(t *testing.T, stdout *os.File, args ...string) *process {
	t.Helper()
	p := &process{t: t, stderr: filepath.Join(t.TempDir(), "stderr"), ended: make(chan struct{})}
	stderr, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	p.cmd = exec.CommandContext(t.Context(), harness.Plugin(t), append(args, "--cache-dir="+t.TempDir())...)
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
	text, err := os.ReadFile(p.stderr)
	if err != nil {
		p.t.Fatal(err)
	}
	return harness.Printed(string(text))
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

// ends waits for the end of the process. After an interrupt that takes ten seconds at most. A busy
// machine needs longer, so the test waits for as long as for anything else.
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

// kubeconfigOf writes a kubeconfig of the configuration.
func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return path
}

// A credential plugin hangs after the POST was carried out and its response was lost. The interrupt
// prints the object at once, and the command still ends.
func TestInterruptWhileACredentialPluginHangs(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	hang := filepath.Join(t.TempDir(), "hang")
	proxy := faultproxy.New(t, single.Admin(), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := os.WriteFile(hang, nil, 0o600); err != nil {
				t.Error(err)
			}
			faultproxy.DropResponse(next).ServeHTTP(w, r)
		})
	}))
	kubeconfig := kubeconfigOf(t, proxy.Config)
	withPlugin(t, kubeconfig, hangsAfter(hang))
	p := startCreate(t, kubeconfig, nil, "-n", ns, "-f", harness.File(t, "cm.yaml", configMap))
	p.prints("(checking whether it exists)\n")
	p.signal(syscall.SIGTERM)
	p.prints(waiting)
	p.ends(4)
	withoutReasons(p.result()).Prints(t, 4, "", readsBack+unknown+
		"error: interrupted, but something does not respond, such as the server, a credential plugin or the reader of the output: "+
		"0 created, 0 exist, 0 failed, 1 unknown, 0 not attempted\n"+checkAlone)
	expectConfigMaps(t, ns, 1)
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
	p := startCreate(t, kubeconfigOf(t, single.Admin()), writer, "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=5000")
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

// A second interrupt ends the command at once, and names the object in progress. Each object has a line of JSON.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	sent, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	var once sync.Once
	var hangs atomic.Bool // from the first POST on, also the check of it, so that the run can't end by itself
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if !harness.Creates(r) && !hangs.Load() {
			return nil
		}
		hangs.Store(true)
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				once.Do(func() { close(sent) })
				<-over
			})
		}
	})
	stdout, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdout.Close() }()
	p := startCreate(t, kubeconfigOf(t, proxy.Config), stdout, "-n", ns, "-f", harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 3)), "--idempotency-key=k", "-o", "jsonl")
	<-sent
	p.signal(syscall.SIGINT)
	p.prints(waiting)
	for again := time.NewTicker(200 * time.Millisecond); ; { // a signal within a second belongs to the first
		select {
		case <-again.C:
			_ = p.cmd.Process.Signal(syscall.SIGINT) // fails if the process has ended
			continue
		case <-p.ended:
			again.Stop()
		}
		break
	}
	p.ends(4)
	p.result().Prints(t, 4, "", `error: outcome unknown: configmap/demo-xxxxx -n e2e-xxxxx: interrupted
error: interrupted again: 0 created, 0 exist, 0 failed, 1 unknown, 2 not attempted
`+sameAgain)
	printed, err := os.ReadFile(stdout.Name())
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []v1alpha1.CreateOutcome
	for line := range strings.Lines(string(printed)) {
		var of v1alpha1.CreateLine
		if err := json.Unmarshal([]byte(line), &of); err != nil || of.Namespace != ns {
			t.Errorf("%s: namespace %q, want %q: %v", line, of.Namespace, ns, err)
		}
		outcomes = append(outcomes, of.Outcome)
	}
	if want := []v1alpha1.CreateOutcome{v1alpha1.CreateUnknown, v1alpha1.CreateNotAttempted, v1alpha1.CreateNotAttempted}; !slices.Equal(outcomes, want) {
		t.Errorf("%q, want %q", outcomes, want)
	}
}

// A parent process such as nohup ignores SIGHUP, and so does the command.
func TestCreateUnderNohup(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	var posts atomic.Int64
	hangUp := make(chan *os.Process, 1)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 3 {
			if err := (<-hangUp).Signal(syscall.SIGHUP); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	file := harness.File(t, "in.yaml", strings.Repeat("---\n"+configMap, 8))
	command := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; exec "$@"`, "sh", harness.Plugin(t),
		"create", "-n", ns, "-f", file, "--kubeconfig="+u.Kubeconfig, "--cache-dir="+t.TempDir())
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	hangUp <- command.Process
	err := command.Wait()
	if n := len(harness.ConfigMaps(t, single, ns)); err != nil || n != 8 {
		t.Errorf("%v, %d objects, want 8; stderr is\n%s", err, n, stderr.String())
	}
}

package wrap

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// printSignals prints each SIGINT, and ends after a SIGUSR1.
func printSignals() {
	signals := make(chan os.Signal, 9)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGUSR1)
	fmt.Println("ready")
	for s := range signals {
		if fmt.Println(s); s == syscall.SIGUSR1 {
			return
		}
	}
}

// A terminal sends one SIGINT to the program, and wrap adds none.
func TestInterruptOnATerminal(t *testing.T) {
	t.Parallel()
	s := shell(t, server.Admin(), "default")
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", os.Args[0])
	cmd.Env, cmd.Stderr = slices.Concat(s.Env, []string{asProgram + "=signals"}), io.Discard
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	expect := func(want string) {
		t.Helper()
		line, err := readLine(terminal)
		if line = strings.TrimPrefix(strings.TrimSpace(line), "^C"); line != want || err != nil {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	expect("ready")
	if _, err := io.WriteString(terminal, "\x03"); err != nil {
		t.Fatal(err)
	}
	expect("interrupt")
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil { // wrap forwards this signal even after a SIGINT
		t.Fatal(err)
	}
	expect("user defined signal 1")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The program ends as without wrap, and wrap names each object whose response the program didn't get.
func TestProcess(t *testing.T) {
	t.Parallel()
	const nothing = "wrap: the command sent nothing through the proxy, so nothing was protected\n"
	const create = "kubectl create -f $FILE -o name"
	const printed = `configmap/demo-\w+\n`
	for _, test := range []struct {
		name, script string
		signal       syscall.Signal // sent when the program has printed "ready"
		fault        func(dir string) faultproxy.Fault
		code         int
		stdout       string
		objects      int
		stderr       string
	}{
		{name: "its exit code", script: create + "; exit 3", code: 3, stdout: printed, objects: 1},
		{name: "killed", script: create + "; kill -9 $$", code: 137, stdout: printed, objects: 1},
		{name: "ended by a signal", script: create + "; kill -TERM $$", code: 143, stdout: printed, objects: 1},
		{
			name: "ignores SIGTERM", script: "trap '' TERM; trap 'done=1' USR1; echo ready; until [ $done ]; do sleep 0.1; done; " + create,
			signal: syscall.SIGTERM, stdout: "ready\n" + printed, objects: 1,
		},
		{
			name: "in the background of a script", script: "trap 'done=1' USR1; echo ready; until [ $done ]; do sleep 0.1; done; " + create,
			signal: syscall.SIGINT, stdout: "ready\n" + printed, objects: 1,
		},
		{name: "closes stdin", script: "exec 0<&-; " + create, stdout: printed, objects: 1},
		{name: "closes all streams", script: "exec 0<&- >&- 2>&-; " + create, objects: 1},
		{
			name:   "killed during a create",
			script: create + " & until [ -e $ARRIVED ]; do sleep 0.1; done; kill -9 $!; wait $! 2>/dev/null; touch $RELEASE; exit 9",
			fault:  held, code: 9, objects: 1,
			stderr: `Warning: wrap: (configmap/demo-\w+ -n [\w-]+) was created after its program had given up. Delete it if nothing uses it:\n  kubectl delete configmap/demo-\w+ -n [\w-]+\n`,
		},
		{
			name:   "its child outlives it during a create",
			script: "(" + create + " >$CHILD.part; mv $CHILD.part $CHILD) >/dev/null & until [ -e $ARRIVED ]; do sleep 0.1; done; (sleep 1; touch $RELEASE) & exit 0",
			fault:  held, objects: 1, stdout: printed,
		},
		{
			name:   "its child creates after it",
			script: "(until [ -e $END ]; do sleep 0.1; done; (" + create + "; echo $?) >$CHILD.part 2>&1; mv $CHILD.part $CHILD) >/dev/null 2>&1 & exit 0",
			stdout: `.*refused.*\n1\n`, stderr: nothing,
		},
		{
			name: "an unknown outcome", script: create + " 2>/dev/null || true", fault: unknown, code: 4, objects: 1,
			stderr: `Warning: wrap: configmap/demo-\w+ -n [\w-]+ might exist. Check it:\n  kubectl get configmap/demo-\w+ -n [\w-]+\n`,
		},
		{name: "an unknown outcome and an exit code", script: create + " 2>/dev/null; exit 5", fault: unknown, code: 5, objects: 1, stderr: `Warning: wrap: .*`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := newProcess(t, test.fault)
			run.args = []string{"--retry-timeout=1s", "--", "bash", "-c", test.script}
			run.signal = test.signal
			r := run.do(t)
			r.Expect(t, test.code, test.stdout, test.stderr)
			harness.ExpectConfigMaps(t, server, run.namespace, test.objects)
		})
	}
}

// A reader that closes stderr doesn't end wrap. A closed pipe still ends the program's own commands (141).
func TestClosedStderr(t *testing.T) {
	t.Parallel()
	p := newProcess(t, nil)
	reader, stderr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	defer func() { _ = stderr.Close() }()
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "-v", "--", "bash", "-c",
		"kubectl create -f $FILE -o name; kubectl create -f $FILE -o name; yes | true; echo ${PIPESTATUS[0]}")
	cmd.Env, cmd.Stderr = p.shell.Env, stderr
	out, err := cmd.Output()
	if err != nil {
		t.Error(err)
	}
	harness.Result{Stdout: string(out)}.Expect(t, 0, `(configmap/demo-\w+\n){2}141\n`, "")
	harness.ExpectConfigMaps(t, server, p.namespace, 2)
}

// process is a run of wrap.
type process struct {
	shell     harness.Shell
	namespace string
	dir       string // with the files that the program and the test wait for
	args      []string
	signal    syscall.Signal
}

func newProcess(t *testing.T, fault func(dir string) faultproxy.Fault) *process {
	t.Helper()
	p := &process{namespace: harness.Namespace(t, server), dir: t.TempDir()}
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		if fault == nil || !strings.Contains(r.URL.Path, "/configmaps") {
			return nil
		}
		return fault(p.dir)
	})
	p.shell = shell(t, proxy.Config, p.namespace)
	p.shell.Env = append(p.shell.Env, "FILE="+harness.File(t, "cm.yaml", configMap))
	for _, name := range []string{"ARRIVED", "RELEASE", "CHILD", "END"} {
		p.shell.Env = append(p.shell.Env, name+"="+filepath.Join(p.dir, name))
	}
	return p
}

// do returns the result. Its stdout ends with the output of a child that outlives the program.
func (p *process) do(t *testing.T) harness.Result {
	t.Helper()
	ignore := ""
	if p.signal == syscall.SIGINT { // a script ignores SIGINT for a command in the background
		ignore = `trap "" INT; `
	}
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", ignore + `exec "$0" wrap "$@"`, harness.Plugin(t)}, p.args...)...)
	cmd.Env, cmd.SysProcAttr = p.shell.Env, &syscall.SysProcAttr{Setsid: true}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, printed := start(t, cmd), ""
	if p.signal != 0 {
		var err error
		if printed, err = readLine(out); err != nil {
			t.Fatal(err)
		}
		for _, s := range []syscall.Signal{p.signal, syscall.SIGUSR1} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code is compared
	r := harness.Result{Stdout: printed + string(rest), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if err := os.WriteFile(filepath.Join(p.dir, "END"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.args[len(p.args)-1], "$CHILD") {
		harness.Eventually(t, func() error { // the child renames its whole output to CHILD
			text, err := os.ReadFile(filepath.Join(p.dir, "CHILD"))
			r.Stdout += string(text)
			return err
		})
	}
	return r
}

// held makes the file ARRIVED when a create arrives, and holds it until there is a file RELEASE.
func held(dir string) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = os.WriteFile(filepath.Join(dir, "ARRIVED"), nil, 0o600)
			for r.Method == http.MethodPost && !harness.Exists(filepath.Join(dir, "RELEASE")) {
				time.Sleep(10 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// unknown loses the responses to all requests.
func unknown(string) faultproxy.Fault { return faultproxy.DropResponse }

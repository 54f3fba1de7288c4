package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// beforeTheResponse calls interrupt after the server has handled the request, and before the response. The command
// waits only a few seconds for the response, and a busy server could need longer to handle the request.
func beforeTheResponse(interrupt func()) faultproxy.Fault {
	return faultproxy.Observe(nil, func(int) { interrupt() })
}

// If the server does not respond, the run stops instead of trying one object after the other. The run also stops if a
// load balancer without a backend responds.
func TestDeadServerStopsTheRun(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	var began atomic.Bool
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if began.Load() || harness.Creates(r) {
			began.Store(true)
			return faultproxy.Respond(http.StatusServiceUnavailable, http.Header{"Content-Type": {"text/plain"}}, "no healthy upstream")
		}
		return nil
	})
	input := harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 20))
	r := withoutReasons(harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=1s"))
	_, r.Stderr, _ = strings.Cut(r.Stderr, unknown) // the number of retries depends on timing
	r.Prints(t, 4, "", `error: stopped, because the server is unreachable: 0 created, 0 exist, 0 failed, 1 unknown, 19 not attempted
Create the rest with the same command and only this input:
  19 of configmap/demo- -n e2e-xxxxx in cm.yaml
Don't run the command unchanged. It would create up to 1 object a second time.
Check whether the object exists. It may still be created within a minute:
  kubectl get
Create the missing objects with the same command and only the documents of missing objects in this input:
  1 of configmap/demo- -n e2e-xxxxx in cm.yaml
`+useKey)
}

// An interrupt ends discovery that hangs before anything is created.
func TestInterruptWhileNothingIsCreated(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(*http.Request) faultproxy.Fault {
		return instead(func(_ http.ResponseWriter, r *http.Request) {
			interrupt()
			<-r.Context().Done()
		})
	}).Config)
	u.Context = ctx
	u.Run("create", "-f", harness.File(t, "cm.yaml", configMap)).Prints(t, 130, "",
		`error: interrupted: 0 created, 0 exist, 0 failed, 0 unknown, 0 not attempted. The rest of the input was not read.
Run the same command again. Nothing was created.
`)
}

// If the reader of stdout has ended, the run creates nothing more, and counts all created objects.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	plugin := harness.Plugin(t)
	kubeconfig := harness.As(t, single.Admin()).Kubeconfig
	run := func(args ...string) (ended *os.ProcessState, stderr string) {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		var errOut strings.Builder
		cmd := exec.CommandContext(t.Context(), plugin, append(args, "--kubeconfig="+kubeconfig, "-n", ns)...)
		cmd.Stdout, cmd.Stderr = writer, &errOut
		_ = cmd.Run()
		_ = writer.Close()
		return cmd.ProcessState, errOut.String()
	}
	formats := []string{"--output=", "--output=name", "--output=json", "--output=yaml"}
	for _, format := range formats {
		ended, stderr := run("create", "-f", harness.File(t, "cm.yaml", configMap), "--count=50", "--concurrency=1", format)
		want := "error: stopped, because the results can't be written: 1 created"
		if ended.ExitCode() != 1 || !strings.Contains(stderr, "error: configmap/demo-") || !strings.Contains(stderr, want) {
			t.Errorf("%s: want exit code 1 and %q, got %v, stderr\n%s", format, want, ended, stderr)
		}
	}
	// Commands that only read end without an error, like kubectl get before head. An audit prints its
	// verdict before its table.
	for _, args := range [][]string{{"audit", "configmaps", "--min-count=1"}, {"report", "--existing=5"}, {"version"}} {
		ended, stderr := run(args...)
		if args[0] == "audit" {
			stderr = strings.TrimPrefix(stderr, strings.SplitAfter(stderr, "\n")[0])
		}
		if ended.ExitCode() != -1 || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || stderr != "" {
			t.Errorf("%v: %v, stderr\n%s", args, ended, stderr)
		}
	}
	harness.ExpectConfigMaps(t, single, ns, len(formats))
	// Deletions continue, because a user who reads only the first names still wants all objects deleted.
	ended, stderr := run("prune", "configmaps/demo-", "--keep=0", "--yes", "--output=name")
	if want := "Deleted 4 of 4 objects. Failed: 0.\nerror: can't write the results: "; ended.ExitCode() != 1 || !strings.HasPrefix(stderr, want) {
		t.Errorf("want exit code 1 and %q, got %v, stderr\n%s", want, ended, stderr)
	}
}

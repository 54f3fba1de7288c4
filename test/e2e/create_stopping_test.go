package e2e

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// interruptedAtFirstPost is a user who interrupts while the first POST is on
// its way, which is carried out and answered.
func interruptedAtFirstPost(t *testing.T) harness.User {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	proxy := faultproxy.New(t, retrying.Admin(), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			interrupt()
			next.ServeHTTP(w, r)
		})
	}))
	u := harness.As(t, proxy.Config)
	u.Context = ctx
	return u
}

// What was not attempted when the user interrupts is counted, and the rest
// said.
func TestCreateInterrupted(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	u := interruptedAtFirstPost(t)
	u.Run("create", "-n", ns, "-f", harness.File(t, "three.yaml", strings.Repeat(configMap+"---", 3))).Expect(t, 130,
		`configmap/demo-`+harness.Suffix+` created\n`, `interrupted: 1 created, 0 exist, 0 failed, 0 unknown, 2 not attempted\n`+
			theRest(`only 2 of configmap/demo- -n `+ns+` in [^\n]*three.yaml as its input \(the rest is there, or may be\)`))
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 1 {
		t.Errorf("%d objects are there, want 1", n)
	}
}

// countPosts counts POSTs, and injures them with fault.
func countPosts(posts *atomic.Int64, fault faultproxy.Fault) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if !harness.Creates(r) {
			return nil
		}
		posts.Add(1)
		return fault
	}
}

// What is refused once is refused for every copy: it is not tried on.
func TestRefusalStopsTheCopies(t *testing.T) {
	ns := harness.Namespace(t, single)
	var posts atomic.Int64
	proxy := faultproxy.New(t, single.User("nobody"), countPosts(&posts, nil))
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=100", "--concurrency=1").Expect(t, 1, ``,
		`Error from server \(Forbidden\): [^\n]*\nstopped after a failure: 0 created, 0 exist, 1 failed, 0 unknown, 99 not attempted\n`+
			`nothing was created: once the cause is mended, the same command can be run again\n`)
	if posts.Load() != 1 {
		t.Errorf("%d POSTs, want 1", posts.Load())
	}
}

// What a run says at its end, of how to go on.
const (
	withKey   = `with an --idempotency-key from its start, a run can just be repeated`
	look      = `look what is there: kubectl get [^\n]*; what is not there after a minute was not created\n`
	lookAlone = look + `if it is not there, run the same command again \(` + withKey + `\)\n`
	startAnew = `nothing was left to create: to have (it|them) created anew, use another key, or delete (it|them) first: kubectl delete [^\n]*\n`
	sameAgain = `to go on, run the same command again: what exists is left as it is\n`
	// unreadable is said to who may create and not read.
	unreadable = `Warning: objects of configmaps in "[^\n]*" cannot be read back \(needs get on configmaps\): if an answer is lost, nobody can say whether the object was created\n`
	mended     = `to go on, once the cause is mended, run the same command again: what exists is left as it is\n`
)

// theRest is how to create what is left of a run without a key.
func theRest(command string) string {
	return `to create what is left, (once the cause is mended, )?run the same command with ` + command + notAsItWas
}

const notAsItWas = `; as it was, it would create up to \d+ a second time \(` + withKey + `\)\n`

// A server that does not answer is not asked for one object after the other.
func TestDeadServerStopsTheRun(t *testing.T) {
	ns := harness.Namespace(t, single)
	var posts atomic.Int64
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(r.URL.Path, "configmaps") {
			posts.Add(1)
			return faultproxy.DropRequest
		}
		if r.URL.Path == "/version" {
			return faultproxy.DropRequest
		}
		return nil
	})
	input := harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 20))
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=1s").Expect(t, 4, ``,
		`(configmap/demo-[^\n]*\n)*configmap/demo-`+harness.Suffix+` -n `+ns+`: outcome unknown: [^\n]*\n`+
			`stopped because the server does not answer: 0 created, 0 exist, 0 failed, 1 unknown, 19 not attempted\n`+look+
			theRest(`only 19 of configmap/demo- -n `+ns+` in [^\n]* as its input \(the rest is there, or may be\)`)+
			`to create those that are not there, run the same command with only them as its input, of 1 of configmap/demo- -n `+ns+` in [^\n]*`+notAsItWas)
	if posts.Load() > 20 {
		t.Errorf("%d requests for one object", posts.Load())
	}
}

// One object that does not get through does not stop the others.
func TestOneObjectThatDoesNotGetThrough(t *testing.T) {
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(string(faultproxy.Body(r)), "bad-") {
			return faultproxy.ResetRequest
		}
		return nil
	})
	input := harness.File(t, "cm.yaml", configMap+"---"+strings.ReplaceAll(configMap, "demo-", "bad-")+"---"+configMap)
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=1s").Expect(t, 4, `(configmap/demo-`+harness.Suffix+` created\n){2}`,
		`(configmap/bad-[^\n]*\n)*configmap/bad-`+harness.Suffix+` -n `+ns+`: outcome unknown: [^\n]*\n`+
			`Warning: configmaps in "`+ns+`": one object has used up the time for retries; [^\n]*\n`+
			`not all were created: 2 created, 0 exist, 0 failed, 1 unknown, 0 not attempted\n`+look+
			`to create those that are not there, run the same command with only them as its input, of 1 of configmap/bad- -n `+ns+` in [^\n]*`+notAsItWas)
}

// An interrupt is accounted for, whatever kind of object comes next.
func TestInterruptBeforeAnotherKind(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	u := interruptedAtFirstPost(t)
	secret := strings.ReplaceAll(configMap, "ConfigMap", "Secret")
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {generateName: role-}\n"
	u.Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap+"---\n"+role+"---"+secret+"---\n"+role)).Expect(t, 130,
		`configmap/demo-`+harness.Suffix+` created\n`, `interrupted: 1 created, 0 exist, 0 failed, 0 unknown, \d not attempted(; the rest of the input was not read)?\n`+theRest(`only [^\n]* as its input [^\n]*`))
}

// An interrupt ends what hangs before anything is created: discovery, and the
// reading of the input.
func TestInterruptWhileNothingIsCreated(t *testing.T) {
	ns := harness.Namespace(t, single)
	var interrupt context.CancelFunc // when it hangs
	hang := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			interrupt()
			<-r.Context().Done()
		})
	}
	done := make(chan struct{})
	defer close(done)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, configMap+"---\n")
		w.(http.Flusher).Flush()
		interrupt()
		<-done
	}))
	for _, test := range []struct {
		name   string
		fault  func(*http.Request) faultproxy.Fault
		input  string
		stderr string
	}{
		{"discovery", func(*http.Request) faultproxy.Fault { return hang }, harness.File(t, "cm.yaml", configMap), `interrupted: 0 created, 0 exist, 0 failed, 0 unknown, 0 not attempted; the rest of the input was not read\nnothing was created: the same command can be run again\n`},
		{"input", nil, slow.URL + "/cm.yaml", `interrupted: 0 created, 0 exist, 0 failed, 0 unknown, 0 not attempted; the rest of the input was not read\nnothing was created: the same command can be run again\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := single.Admin()
			if test.fault != nil {
				config = faultproxy.New(t, config, test.fault).Config
			}
			u := harness.As(t, config)
			u.Context, interrupt = context.WithCancel(t.Context())
			start := time.Now()
			u.Run("create", "-n", ns, "-f", test.input).Expect(t, 130, ``, test.stderr)
			if took := time.Since(start); took > 40*time.Second { // a request has a minute
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A POST whose answer is lost when the user interrupts is read back: it was carried
// out. That it may hang, pkg/once tests.
func TestInterruptedPostIsReadBack(t *testing.T) {
	ns := harness.Namespace(t, single)
	ctx, interrupt := context.WithCancel(t.Context())
	proxy := faultproxy.New(t, single.Admin(), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			interrupt()
			faultproxy.DropAnswer(next).ServeHTTP(w, r)
		})
	}))
	u := harness.As(t, proxy.Config)
	u.Context = ctx
	u.Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).Expect(t, 0,
		`configmap/demo-`+harness.Suffix+` created\n`, `configmap/demo-`+harness.Suffix+`: [^\n]*; reading it back\n`)
}

// When nobody reads the results any more, nothing more is created, and what
// was is still accounted for.
func TestClosedPipe(t *testing.T) {
	ns := harness.Namespace(t, single)
	plugin := harness.Plugin(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, single.Admin()); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (ended *os.ProcessState, stderr string) {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		var said strings.Builder
		cmd := exec.CommandContext(t.Context(), plugin, append(args, "--kubeconfig="+kubeconfig, "-n", ns)...)
		cmd.Stdout, cmd.Stderr = writer, &said
		_ = cmd.Run()
		_ = writer.Close()
		return cmd.ProcessState, said.String()
	}
	ended, stderr := run("create", "-f", harness.File(t, "cm.yaml", configMap), "--count=50", "--concurrency=1")
	want := "error: configmap/demo-"
	if ended.ExitCode() != 1 || !strings.HasPrefix(stderr, want) || !strings.Contains(stderr, "stopped because the results cannot be written: 1 created") {
		t.Errorf("%v, stderr\n%s", ended, stderr)
	}
	// What only reads ends without a word, as kubectl get does before head.
	for _, args := range [][]string{{"audit", "configmaps", "--min-count=1"}, {"report", "--existing=5"}, {"version"}} {
		if ended, stderr := run(args...); ended.ExitCode() != -1 || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || stderr != "" {
			t.Errorf("%v: %v, stderr\n%s", args, ended, stderr)
		}
	}
	if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
		t.Errorf("%d objects are there, want 1", n)
	}
}

// A named object without a key is created as kubectl does, but a lost answer
// is said to be one.
func TestNamedObjectWithALostAnswer(t *testing.T) {
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), firstPost(faultproxy.DropAnswer))
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", strings.ReplaceAll(configMap, "generateName: demo-", "name: own"))).
		Expect(t, 4, ``, `configmap/own -n `+ns+`: outcome unknown: [^\n]*\n`+
			`to go on, run the same command again: it says AlreadyExists of what is there, and creates the rest\n`)
}

// aboutHolder is what to do about an object without a mark that has the name of
// one of a run with a key.
func aboutHolder(name, ns string) string {
	object := `configmap/` + name + ` -n ` + ns
	return object + ` is there without the mark of this run: if it is what the run should create, mark it \(kubectl annotate ` + object +
		` genname.dev/creation-id=[^\n]* && kubectl label ` + object + ` genname.dev/run=[^\n]*\); else delete it \(kubectl delete ` + object + `\), or leave it out of the input\n`
}

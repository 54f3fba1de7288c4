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
)

// countPosts counts POSTs, and injures them with fault.
func countPosts(posts *atomic.Int64, fault faultproxy.Fault) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if r.Method != http.MethodPost {
			return nil
		}
		posts.Add(1)
		return fault
	}
}

// What is refused once is refused for every copy: it is not tried on.
func TestRefusalStopsTheCopies(t *testing.T) {
	ns := namespace(t, single)
	var posts atomic.Int64
	proxy := faultproxy.New(t, single.User("nobody"), countPosts(&posts, nil))
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap), "--count=100", "--concurrency=1").expect(t, 1, ``,
		`Error from server \(Forbidden\): [^\n]*\nstopped after a failure: 0 created, 0 unchanged, 1 failed, 0 unknown, 99 not attempted\n`)
	if posts.Load() != 1 {
		t.Errorf("%d POSTs, want 1", posts.Load())
	}
}

// again is the advice after a run that has left objects open.
const again = `do not just run it again: that would create up to \d+ a second time. A run that has an --idempotency-key from its start can be repeated\n`

// A server that does not answer is not asked for one object after the other.
func TestDeadServerStopsTheRun(t *testing.T) {
	ns := namespace(t, single)
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
	input := file(t, "cm.yaml", strings.Repeat(configMap+"---", 20))
	as(t, proxy.Config).run("create", "-n", ns, "-f", input, "--retry-timeout=1s").expect(t, 4, ``,
		`(configmap/demo-[^\n]*\n)*configmap/demo-`+suffix+` -n `+ns+`: outcome unknown: [^\n]*\n`+
			`stopped because the server does not answer: 0 created, 0 unchanged, 0 failed, 1 unknown, 19 not attempted\n`+again)
	if posts.Load() > 20 {
		t.Errorf("%d requests for one object", posts.Load())
	}
}

// One object that does not get through does not stop the others.
func TestOneObjectThatDoesNotGetThrough(t *testing.T) {
	ns := namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(string(faultproxy.Body(r)), "bad-") {
			return faultproxy.ResetRequest
		}
		return nil
	})
	input := file(t, "cm.yaml", configMap+"---"+strings.ReplaceAll(configMap, "demo-", "bad-")+"---"+configMap)
	as(t, proxy.Config).run("create", "-n", ns, "-f", input, "--retry-timeout=1s").expect(t, 4, `(configmap/demo-`+suffix+` created\n){2}`,
		`(configmap/bad-[^\n]*\n)*configmap/bad-`+suffix+` -n `+ns+`: outcome unknown: [^\n]*\n`+again)
}

// An interrupt is accounted for, whatever kind of object comes next.
func TestInterruptBeforeAnotherKind(t *testing.T) {
	ns := namespace(t, retrying)
	u := interruptedAtFirstPost(t)
	secret := strings.ReplaceAll(configMap, "ConfigMap", "Secret")
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {generateName: role-}\n"
	u.run("create", "-n", ns, "-f", file(t, "in.yaml", configMap+"---\n"+role+"---"+secret+"---\n"+role)).expect(t, 130,
		`configmap/demo-`+suffix+` created\n`, `interrupted: 1 created, 0 unchanged, 0 failed, 0 unknown, \d not attempted(; the rest of the input was not read)?\n`+again)
}

// An interrupt ends what hangs before anything is created: discovery, and the
// reading of the input.
func TestInterruptWhileNothingIsCreated(t *testing.T) {
	ns := namespace(t, single)
	hang := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	}
	done := make(chan struct{})
	defer close(done)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, configMap+"---\n")
		w.(http.Flusher).Flush()
		<-done
	}))
	for _, test := range []struct {
		name   string
		fault  func(*http.Request) faultproxy.Fault
		input  string
		stderr string
	}{
		{"discovery", func(*http.Request) faultproxy.Fault { return hang }, file(t, "cm.yaml", configMap), `interrupted: 0 created, 0 unchanged, 0 failed, 0 unknown, 0 not attempted; the rest of the input was not read\n`},
		{"input", nil, slow.URL + "/cm.yaml", `interrupted: 0 created, 0 unchanged, 0 failed, 0 unknown, 0 not attempted; the rest of the input was not read\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := single.Admin()
			if test.fault != nil {
				config = faultproxy.New(t, config, test.fault).Config
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer time.AfterFunc(500*time.Millisecond, interrupt).Stop()
			u := as(t, config)
			u.ctx = ctx
			start := time.Now()
			u.run("create", "-n", ns, "-f", test.input).expect(t, 130, ``, test.stderr)
			if took := time.Since(start); took > 20*time.Second { // a request has a minute
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A POST that hangs when the user interrupts is read back: it was carried out.
func TestInterruptedPostIsReadBack(t *testing.T) {
	ns := namespace(t, single)
	ctx, interrupt := context.WithCancel(t.Context())
	proxy := faultproxy.New(t, single.Admin(), firstPost(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			interrupt()
			<-r.Context().Done()
		})
	}))
	u := as(t, proxy.Config)
	u.ctx = ctx
	u.run("create", "-n", ns, "-f", file(t, "cm.yaml", configMap)).expect(t, 0,
		`configmap/demo-`+suffix+` created\n`, `configmap/demo-`+suffix+`: [^\n]*; reading it back\n`)
}

// When nobody reads the results any more, nothing more is created, and what
// was is still accounted for.
func TestClosedPipe(t *testing.T) {
	ns := namespace(t, single)
	plugin := pluginPath(t)
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
	ended, stderr := run("create", "-f", file(t, "cm.yaml", configMap), "--count=50", "--concurrency=1")
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
	if n := len(configMaps(t, single, ns)); n != 1 {
		t.Errorf("%d objects are there, want 1", n)
	}
}

// --naming=server is kubectl's way, with a retry on a conflict; a lost answer
// is not sent again.
func TestServerNaming(t *testing.T) {
	conflicting := faultproxy.Answer(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"demo-bbbbb","kind":"configmaps","retryAfterSeconds":1},"message":"configmaps \"demo-bbbbb\" already exists, the server was not able to generate a unique name for the object"}`)
	elsewhere := faultproxy.Answer(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"fixed","kind":"configmaps"},"message":"configmaps \"fixed\" already exists"}`)
	for _, test := range []struct {
		name           string
		fault          faultproxy.Fault
		args           []string
		code, objects  int
		stdout, stderr string
	}{
		{"no fault", nil, nil, 0, 1, `configmap/demo-` + suffix + ` created\n`, ``},
		{"conflict", conflicting, nil, 0, 1, `configmap/demo-` + suffix + ` created\n`, `configmap/demo-: configmaps "demo-bbbbb" already exists[^\n]*; asking for another name\n`},
		{"conflict in one attempt", conflicting, []string{"--attempts=1"}, 1, 0, ``, `Error from server \(AlreadyExists\): error when creating "[^"]*": configmaps "demo-bbbbb" already exists, the server was not able to generate a unique name for the object\n`},
		{"another's name", elsewhere, nil, 1, 0, ``, `Error from server \(AlreadyExists\): [^\n]*"fixed" already exists \(the server answered for this name although generateName "demo-" was sent: a webhook or policy picks names\)\n`},
		{"answer lost", faultproxy.DropAnswer, nil, 4, 1, ``, `configmap/demo- -n [^\n]*: outcome unknown: [^\n]*\n` + again},
		{"answer lost in one attempt", faultproxy.DropAnswer, []string{"--attempts=1"}, 4, 1, ``, `error: error when creating "[^"]*": Post [^\n]*\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := namespace(t, single)
			proxy := faultproxy.New(t, single.Admin(), firstPost(test.fault))
			args := append([]string{"create", "-n", ns, "--naming=server", "-f", file(t, "cm.yaml", configMap)}, test.args...)
			as(t, proxy.Config).run(args...).expect(t, test.code, test.stdout, test.stderr)
			found := configMaps(t, single, ns)
			if len(found) != test.objects {
				t.Errorf("%d objects are there, want %d", len(found), test.objects)
			}
			for _, cm := range found {
				if len(cm.Annotations)+len(cm.Labels) != 0 {
					t.Errorf("%s has annotations %v, labels %v", cm.Name, cm.Annotations, cm.Labels)
				}
			}
		})
	}
}

// A named object without a key is created as kubectl does, but a lost answer
// is said to be one.
func TestNamedObjectWithALostAnswer(t *testing.T) {
	ns := namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), firstPost(faultproxy.DropAnswer))
	as(t, proxy.Config).run("create", "-n", ns, "-f", file(t, "cm.yaml", strings.ReplaceAll(configMap, "generateName: demo-", "name: own"))).
		expect(t, 4, ``, `configmap/own -n `+ns+`: outcome unknown: [^\n]*\n`+again)
}

package wrap

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Each of several proxies protects its own program, also if one is the server of another.
func TestSeveralProxies(t *testing.T) {
	t.Parallel()
	const wrap, create = "kubectl genname wrap -- ", "kubectl create -f $FILE -o name"
	for name, test := range map[string]struct {
		script  string
		objects int
	}{
		"one in another":    {wrap + wrap + create, 1},
		"beside each other": {wrap + create + " & " + wrap + "bash -c '" + create + "; " + create + "' && wait $!", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := newProcess(t, func(string) faultproxy.Fault {
				return func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.Method == http.MethodPost {
							next = faultproxy.DropResponse(next)
						}
						next.ServeHTTP(w, r)
					})
				}
			})
			r := run.shell.Run("bash", "-c", test.script)
			r.Expect(t, 0, fmt.Sprintf(`(configmap/demo-\w+\n){%d}`, test.objects), "")
			if found := harness.ConfigMaps(t, server, run.namespace); len(found) != test.objects {
				t.Errorf("%d objects, want %d", len(found), test.objects)
			}
		})
	}
}

// Two clusters whose proxies have the same port have different caches, so kubectl finds the types of each.
func TestTwoClustersOnOnePort(t *testing.T) {
	t.Parallel()
	small := httptest.NewServer(oncetest.NewServer())
	t.Cleanup(small.Close)
	configs := []*rest.Config{{Host: small.URL}, server.Admin()}
	file := filepath.Join(t.TempDir(), "config")
	merged := clientcmdapi.NewConfig()
	port := func(host, user string) uint32 { // as pkg/cmd/wrap computes it
		sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{host, user, ""}))
		return binary.BigEndian.Uint32(sum[:]) % 10_000
	}
	users := []string{"a", "b"}
	for i := 0; port(configs[0].Host, users[0]) != port(configs[1].Host, users[1]); i++ {
		users[1] = fmt.Sprint("b", i)
	}
	for i, config := range configs {
		merged.Clusters[users[i]] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
		merged.AuthInfos[users[i]] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
		merged.Contexts[users[i]] = &clientcmdapi.Context{Cluster: users[i], AuthInfo: users[i]}
	}
	if err := clientcmd.WriteToFile(*merged, file); err != nil {
		t.Fatal(err)
	}
	s := harness.NewShell(t, file)
	ports := map[string]bool{}
	for i, finds := range []bool{false, true} {
		r := s.Run("kubectl", "genname", "wrap", "--context="+users[i], "--", "bash", "-c",
			`kubectl config view --minify -o 'jsonpath={..server}{"\n"}'; kubectl get roles -n default`)
		first, _, _ := strings.Cut(r.Stdout, "\n")
		ports[first] = true
		if (r.Code == 0) != finds {
			t.Errorf("%+v, finds roles: want %t", r, finds)
		}
	}
	if len(ports) != 1 {
		t.Errorf("%v, want one address", ports)
	}
}

// session is a run of the program oneByOne under wrap.
type session struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     *os.File
	lines  *bufio.Scanner
	stderr *strings.Builder
}

func startOneByOne(t *testing.T, s harness.Shell) *session {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", os.Args[0])
	cmd.Env = append(slices.Clone(s.Env), asProgram+"=one by one")
	started := &session{t: t, cmd: cmd, stderr: &strings.Builder{}}
	cmd.Stderr = started.stderr
	reader, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, started.in = reader, in
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
	started.lines = bufio.NewScanner(out)
	return started
}

// ask sends a line, and returns the line that the program prints.
func (s *session) ask(line string) string {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.in, line); err != nil {
		s.t.Fatal(err)
	}
	if !s.lines.Scan() {
		s.t.Fatalf("the program has ended: %v\n%s", s.lines.Err(), s.stderr)
	}
	return s.lines.Text()
}

// end expects that the program ends without a line of wrap.
func (s *session) end() {
	s.t.Helper()
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil || s.stderr.String() != "" {
		s.t.Errorf("%v\n%s", err, s.stderr)
	}
}

// An API server that is killed and started again costs no create.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	ns := harness.Namespace(t, cp)
	run := startOneByOne(t, shell(t, cp.Admin(), ns))
	for i := range 9 {
		var started chan error
		if i%3 == 1 {
			if err := cp.Servers[0].Kill(); err != nil {
				t.Fatal(err)
			}
			started = make(chan error, 1)
			go func() { started <- cp.Servers[0].Start(t.Context()) }()
		}
		if line := run.ask("create"); !strings.HasPrefix(line, "201 demo-") {
			t.Errorf("create %d: %s", i, line)
		}
		if started != nil {
			if err := <-started; err != nil {
				t.Fatal(err)
			}
		}
	}
	run.end()
	if found := harness.ConfigMaps(t, cp, ns); len(found) != 9 {
		t.Errorf("%d objects, want 9", len(found))
	}
}

// pluginConfig returns the kubeconfig of a user whose credential plugin gives the token that a command prints.
func pluginConfig(t *testing.T, server *rest.Config, ns string, mode clientcmdapi.ExecInteractiveMode, command string) string {
	t.Helper()
	plugin := harness.File(t, "plugin", "#!/bin/sh\nprintf '"+
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}`+
		"' \"$("+command+")\"\n")
	if err := os.Chmod(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config")
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{Server: server.Host, CertificateAuthorityData: server.CAData}
	config.AuthInfos["a"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: plugin, InteractiveMode: mode,
	}}
	config.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a", Namespace: ns}
	config.CurrentContext = "a"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// A credential plugin can ask the user on the terminal, as without wrap.
func TestInteractivePlugin(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Header.Get("Authorization") != "Bearer typed" {
			return faultproxy.Respond(http.StatusUnauthorized, nil, "")
		}
		r.Header.Del("Authorization")
		return nil
	})
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ptmx.Close() }()
	cmd := exec.CommandContext(t.Context(), harness.Plugin(t), "wrap", "--", "kubectl", "create", "-f",
		harness.File(t, "cm.yaml", configMap), "-o", "name")
	cmd.Env = harness.NewShell(t, pluginConfig(t, proxy.Config, ns, clientcmdapi.AlwaysExecInteractiveMode, "head -n 1")).Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	if _, err := io.WriteString(ptmx, "typed\n"); err != nil {
		t.Fatal(err)
	}
	printed, _ := io.ReadAll(ptmx) // the end of a terminal is an error
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, printed)
	}
	if found := harness.ConfigMaps(t, server, ns); len(found) != 1 {
		t.Errorf("%d objects, want one", len(found))
	}
}

// A credential plugin gives new credentials after the server has refused the old ones.
func TestRotatedCredentials(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	var refused atomic.Int32
	token := filepath.Join(t.TempDir(), "token")
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		valid, err := os.ReadFile(token)
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if r.Header.Del("Authorization"); err == nil && given == string(valid) {
			return nil
		}
		refused.Add(1)
		return faultproxy.Respond(http.StatusUnauthorized, http.Header{"Content-Type": {"application/json"}},
			`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
	})
	file := pluginConfig(t, proxy.Config, ns, clientcmdapi.NeverExecInteractiveMode, "cat "+token)
	rotate := func(to string) {
		if err := os.WriteFile(token, []byte(to), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rotate("first")
	run := startOneByOne(t, harness.NewShell(t, file))
	for i, line := range []string{"create", "create", "GET /version"} {
		rotate(fmt.Sprint("token ", i))
		if got := run.ask(line); !strings.HasPrefix(got, "20") {
			t.Errorf("%s after a rotation: %s", line, got)
		}
	}
	run.end()
	if found := harness.ConfigMaps(t, server, ns); len(found) != 2 || refused.Load() == 0 {
		t.Errorf("%d objects, want 2; %d requests had an old token, want some", len(found), refused.Load())
	}
}

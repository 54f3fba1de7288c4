package wrap

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/intercept"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// A proxy whose port is taken gets the next free one.
func TestListen(t *testing.T) {
	id := sha256.Sum256([]byte("a cluster"))
	var found []int
	for range 3 {
		listener, err := listen(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		address := listener.Addr().(*net.TCPAddr)
		if !address.IP.IsLoopback() {
			t.Errorf("%s is no loopback address", address)
		}
		found = append(found, address.Port)
	}
	if slices.Sort(found); len(slices.Compact(found)) != 3 {
		t.Errorf("ports %v, want 3 different ones", found)
	}
}

// The kubeconfig leads to the proxy from each directory, with the path of the server.
func TestKubeconfig(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	s := &session{}
	foreign := &connection.Foreign{Passing: &rest.Config{Host: "https://host/k8s/"}, Name: "c"}
	if err := s.writeKubeconfig(foreign, intercept.Config{Host: "127.0.0.1:20000"}, nil); err != nil {
		t.Fatal(err)
	}
	if s.address != "https://127.0.0.1:20000/k8s" || !filepath.IsAbs(s.path) || s.changed() {
		t.Errorf("%s in %s, want the path /k8s and an absolute path", s.address, s.path)
	}
}

// The program's environment leads to the proxy only.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"KUBECONFIG": "/mine", "K8S_AUTH_KUBECONFIG": "/mine", "KUBE_CONFIG_PATH": "",
		"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443",
	} {
		t.Setenv(name, value)
	}
	all := (&session{path: "/ours", cache: "/cache"}).environment()
	for _, want := range []string{
		"KUBECONFIG=/ours", "K8S_AUTH_KUBECONFIG=/ours", "KUBE_CONFIG_PATH=", "KUBECACHEDIR=/cache",
	} {
		name, _, _ := strings.Cut(want, "=")
		got := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return !strings.HasPrefix(v, name+"=") })
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if i := slices.IndexFunc(all, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_") }); i >= 0 {
		t.Errorf("%s is still there", all[i])
	}
}

// Each program reads one of the two variables, and finds in it all hosts that it had before.
func TestNoProxy(t *testing.T) {
	for _, test := range []struct{ upper, lower, wantUpper, wantLower string }{
		{"", "", "127.0.0.1", "127.0.0.1"},
		{"a,b", "", "a,b,127.0.0.1", "a,b,127.0.0.1"},
		{"", "c", "c,127.0.0.1", "c,127.0.0.1"},
		{"a,b", "c", "a,b,127.0.0.1", "c,127.0.0.1"},
		{"*", "", "*", "*"},
	} {
		t.Setenv("NO_PROXY", test.upper)
		t.Setenv("no_proxy", test.lower)
		all := (&session{}).environment()
		for _, want := range []string{"NO_PROXY=" + test.wantUpper, "no_proxy=" + test.wantLower} {
			if !slices.Contains(all, want) {
				t.Errorf("NO_PROXY=%s and no_proxy=%s: %q lacks %s", test.upper, test.lower, all, want)
			}
		}
	}
}

// A create that has not ended with wrap might have made an object. A credential plugin can hang.
func TestCreateWithoutAnEnd(t *testing.T) {
	server := oncetest.NewServer()
	ctx, giveUp := context.WithCancel(t.Context())
	release := make(chan struct{})
	server.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		giveUp()
		<-release
		return r.Send()
	})
	proxy, err := intercept.New(t.Context(), intercept.Config{
		Passthrough: server.Config(), Creates: server.Config(), Host: "127.0.0.1:20000", RetryTimeout: time.Minute,
		Done: func(intercept.Outcome) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	body := strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-"}}`)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/namespaces/ns/configmaps", body)
	r.Host, r.Header = "127.0.0.1:20000", http.Header{"Authorization": {"Bearer "}}
	func() {
		defer func() { _ = recover() }() // as net/http does
		proxy.ServeHTTP(httptest.NewRecorder(), r)
	}()
	if lines, unknown := unfetched(proxy); len(lines) != 1 || !unknown {
		t.Errorf("%q, unknown: %t, want a line about an unknown outcome", lines, unknown)
	}
	close(release)
	proxy.Wait()
	if lines, unknown := unfetched(proxy); len(lines) != 2 || unknown {
		t.Errorf("%q, unknown: %t, want that the object was created", lines, unknown)
	}
}

// A token that is rotated while the program runs doesn't fail the list of the key's objects.
func TestRotatedTokenOfAKey(t *testing.T) {
	file := t.TempDir() + "/token"
	rotate := func(token string) {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if valid, _ := os.ReadFile(file); r.Header.Get("Authorization") != "Bearer "+string(valid) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","metadata":{},"items":[]}`)
	}))
	t.Cleanup(server.Close)
	rotate("first")
	o := &options{keys: keyflags.Flags{Key: "k"}}
	run, err := o.newRun(&connection.Foreign{Limited: &rest.Config{
		Host: server.URL, BearerTokenFile: file, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"first", "second"} {
		rotate(token)
		if err := run.At(t.Context(), keyed.Place{Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}); err != nil {
			t.Errorf("%s: %v", token, err)
		}
	}
}

// A variable that leads past the proxy, or has a token that the proxy would refuse, is an error.
func TestBypasses(t *testing.T) {
	for _, name := range []string{
		"ARGO_SERVER", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "K8S_AUTH_API_KEY", "K8S_AUTH_HOST", "KUBERNETES_AUTH_TOKEN",
		"KUBERNETES_MASTER", "KUBE_HOST", "KUBE_TOKEN",
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkEnvironment(); err != nil {
				t.Fatal(err)
			}
			t.Setenv(name, "https://server")
			if err := checkEnvironment(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want an error that names %s", err, name)
			}
		})
	}
}

// The help names the limits of Windows, there only.
func TestLimits(t *testing.T) {
	if got := limitsOf("windows"); !strings.HasPrefix(got, "\n\nOn Windows, wrap can't send a signal") || limitsOf("linux") != "" {
		t.Errorf("%q, want a limit of Windows, and none of Linux", got)
	}
}

// A program that can't be started ends with the exit code of a shell, and before a connection to a cluster.
func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/file"
	if err := os.WriteFile(file, []byte("#!/nonesuch\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]int{"nonesuch": 127, dir + "/nonesuch": 127, file: 126, dir: 126} {
		var exit *exitcode.Error
		if err := (&options{arguments: []string{program}}).Run(t.Context()); !errors.As(err, &exit) || exit.Code != want {
			t.Errorf("%s: %v, want the exit code %d", program, err, want)
		}
	}
}

// A signal that comes before the program starts isn't forgotten.
func TestInterruptedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := &options{arguments: []string{"touch", t.TempDir() + "/ran"}}
	_, err := o.runProgram(ctx, "/usr/bin/touch", os.Environ())
	var exit *exitcode.Error
	if _, ran := os.Stat(o.arguments[1]); ran == nil || !errors.As(notStarted(err), &exit) || exit.Code != exitcode.Interrupted {
		t.Errorf("%v, and the program ran: %t", err, ran == nil)
	}
}

// What writes to stdin sees that the program has closed it.
func TestClosedStdin(t *testing.T) {
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := &options{arguments: []string{"true"}}
	o.streams.In = in
	if code, err := o.runProgram(t.Context(), "/bin/true", os.Environ()); code != 0 || err != nil {
		t.Fatal(code, err)
	}
	if _, err := writer.WriteString("input"); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v, want %v", err, syscall.EPIPE)
	}
}

// Python 3.13 verifies certificates strictly, and accepts these.
func TestStrictCertificates(t *testing.T) {
	authority, leaf, err := newCertificates()
	if err != nil {
		t.Fatal(err)
	}
	address, err := listenTLS(t, leaf)
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/ca.pem"
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	script := `import socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
for name in "127.0.0.1", "localhost":
    with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as s, context.wrap_socket(s, server_hostname=name) as c:
        assert c.recv(2) == b"ok"
`
	_, port, _ := strings.Cut(address, ":")
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", script, file, port).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func listenTLS(t *testing.T, leaf tls.Certificate) (address string, err error) {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("ok"))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String(), nil
}

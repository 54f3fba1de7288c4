package wrap

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/internal/intercept"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// If the port of a proxy is taken, the proxy gets the next free port.
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

// The kubeconfig leads to the proxy from each directory, with the path of the server and no credentials but the token.
func TestKubeconfig(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	s := &session{}
	foreign := &connection.Foreign{Passing: &rest.Config{Host: "https://host/k8s/"}, Name: "c"}
	foreign.Passing.KeyData = []byte("secret")
	if err := s.writeKubeconfig(foreign, intercept.Config{Host: "127.0.0.1:20000", Token: "token"}, []byte("ca")); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if user := config.AuthInfos[""]; user.Token != "token" || user.ClientKeyData != nil || config.Clusters[""].CertificateAuthorityData == nil {
		t.Errorf("%+v of %+v, want only the token, and a certificate", user, config.Clusters[""])
	}
	if s.address != "https://127.0.0.1:20000/k8s" || !filepath.IsAbs(s.path) || s.changed() {
		t.Errorf("%s in %s, want the path /k8s and an absolute path", s.address, s.path)
	}
}

// The program's environment names no server except the proxy.
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
	if cacheDirectory("a") == cacheDirectory("b") { // two clusters whose proxies can have the same port
		t.Errorf("the caches of two clusters are %s", cacheDirectory("a"))
	}
	if i := slices.IndexFunc(all, func(v string) bool { return strings.HasPrefix(v, "KUBERNETES_SERVICE_") }); i >= 0 {
		t.Errorf("%s is still there", all[i])
	}
}

// A program reads NO_PROXY or no_proxy, and finds in it all hosts of its former value.
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

// If a create has not ended when wrap ends, an object might exist. This happens if a credential plugin hangs.
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
	server := &fakeapi.Server{Fault: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		valid, _ := os.ReadFile(file)
		rotated := r.Header.Get("Authorization") != "Bearer "+string(valid)
		if rotated {
			fakeapi.Fail(w, http.StatusUnauthorized, "the token is rotated")
		}
		return rotated
	}}
	config := server.Start(t)
	config.BearerTokenFile = file
	rotate("first")
	o := &options{keys: keyflags.Flags{Key: "k"}}
	run, err := o.newRun(&connection.Foreign{Limited: config})
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

// Only on Windows, the help names the limits of Windows.
func TestLimits(t *testing.T) {
	if got := limitsOf("windows"); !strings.HasPrefix(got, "\n\nOn Windows, wrap can't send a signal") || limitsOf("linux") != "" {
		t.Errorf("%q, want a limit of Windows, and none of Linux", got)
	}
}

// If the program can't be started, wrap ends with the exit code that a shell uses, before it connects to a cluster.
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

// The writer to stdin notices that the program has closed it.
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

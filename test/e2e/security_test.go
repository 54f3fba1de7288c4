package e2e

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// An audit, a report and their completion request nothing of an object but its metadata.
func TestOnlyMetadataIsRequested(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	object := regexp.MustCompile(`^/(api/v1|apis/[^/]+/[^/]+)/(namespaces/[^/]+/)?[^/]+`)
	var requests int
	var mu sync.Mutex
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if object.MatchString(r.URL.Path) && !regexp.MustCompile(`/apiservices$|/selfsubjectreviews$|^/api/v1/namespaces/[^/]+$`).MatchString(r.URL.Path) {
			mu.Lock()
			defer mu.Unlock()
			requests++
			if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
				t.Errorf("%s %s accepts %s", r.Method, r.URL, r.Header.Get("Accept"))
			}
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--count=2")
	shell := harness.NewShell(t, u.Kubeconfig)
	for _, args := range []string{"audit -A", "audit configmaps -o json", "report configmaps/demo-", "__complete report configmaps/"} {
		before := requests
		if r := shell.Run(harness.Plugin(t), strings.Fields(strings.Replace(args, " configmaps", " -n "+ns+" configmaps", 1))...); r.Code != 0 || requests == before {
			t.Errorf("%s: exit code %d after %d requests, %s", args, r.Code, requests-before, r.Stderr)
		}
	}
}

// The most verbose output has no key and no token. It has the object that the user creates.
func TestVerboseOutput(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	secret := harness.File(t, "in.yaml", "{apiVersion: v1, kind: Secret, metadata: {generateName: a-}, stringData: {a: content}}")
	shell := harness.NewShell(t, harness.As(t, retrying.Admin()).Kubeconfig)
	r := shell.Run("kubectl", "genname", "create", "-n", ns, "-f", secret, "--idempotency-key=s3cret", "-v=9", "-o", "json")
	if r.Code != 0 || strings.Contains(r.Stdout+r.Stderr, "s3cret") {
		t.Errorf("exit code %d, and with the key: %t\n%s", r.Code, strings.Contains(r.Stdout+r.Stderr, "s3cret"), r.Stderr)
	}
	if !strings.Contains(r.Stderr, "content") || !strings.Contains(r.Stdout, "Y29udGVudA==") {
		t.Errorf("SECURITY.md has a warning that is no longer true: stdout\n%s\nstderr\n%s", r.Stdout, r.Stderr)
	}
	r = shell.Run("kubectl", "genname", "audit", "-n", ns, "--token=t0ken", "-v=9")
	if !strings.Contains(r.Stderr, "GET") || strings.Contains(r.Stdout+r.Stderr, "t0ken") {
		t.Errorf("the token is printed: %t\n%s", strings.Contains(r.Stdout+r.Stderr, "t0ken"), r.Stderr)
	}
}

// A command connects to no other host than the API server, which a client reaches without a proxy because it is local.
// All other connections go to the proxy.
func TestConnections(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	var mu sync.Mutex
	var hosts []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hosts = append(hosts, r.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	shell := harness.NewShell(t, harness.As(t, retrying.Admin()).Kubeconfig)
	shell.Env = append(shell.Env, "HTTP_PROXY="+proxy.URL, "HTTPS_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "https_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
	input := harness.File(t, "in.yaml", configMap)
	for _, command := range []string{
		"create -f " + input, "create --idempotency-key=k -f " + input, "audit", "report configmaps/demo-", "lint -f " + input,
		"prune configmaps/demo- --keep 1", "duplicates configmaps", "version", "completion bash",
	} {
		args := append([]string{"genname"}, strings.Fields(command)...)
		if !strings.HasPrefix(command, "lint") && !strings.HasPrefix(command, "completion") {
			args = append(args, "-n", ns)
		}
		if r := shell.Run("kubectl", args...); r.Code != 0 || len(hosts) != 0 {
			t.Errorf("%s: exit code %d, and connected to %q\n%s", command, r.Code, hosts, r.Stderr)
		}
	}
	if shell.Run("kubectl", "genname", "lint", "-f", "https://manifests.example.com/a.yaml"); len(hosts) == 0 {
		t.Error("a URL that the user names is not read through the proxy, so this test sees nothing")
	}
}

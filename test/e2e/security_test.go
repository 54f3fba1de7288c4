package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The paths of objects, except APIServices, reviews and namespaces.
var (
	ofObjects  = regexp.MustCompile(`^/(api/v1|apis/[^/]+/[^/]+)/(namespaces/[^/]+/)?[^/]+`)
	otherPaths = regexp.MustCompile(`/apiservices$|/selfsubjectreviews$|^/api/v1/namespaces/[^/]+$`)
)

// An audit, a report and their completion request only the metadata of objects.
func TestOnlyMetadataIsRequested(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	var requests int
	var mu sync.Mutex
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if ofObjects.MatchString(r.URL.Path) && !otherPaths.MatchString(r.URL.Path) {
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

// A command connects only to the API server. Clients reach it without a proxy, because it is local. All other
// connections would go to the proxy, which records them.
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

// If a user's kuberc forbids credential plugins, no command runs one, and Tab doesn't either.
func TestCredentialPluginPolicyIsHonored(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	kubeconfig := harness.File(t, "kubeconfig", `
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}}]
users:
- name: test
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["`+ran+`"], interactiveMode: Never}
`)
	kuberc := harness.File(t, "kuberc", `
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
credentialPluginPolicy: DenyAll
`)
	u, shell := harness.User{T: t, Kubeconfig: kubeconfig, Context: t.Context()}, harness.NewShell(t, kubeconfig)
	for _, args := range [][]string{{"version"}, {"audit"}, {"report", "jobs/x-"}, {"create", "-f", harness.File(t, "cm.yaml", configMap)}} {
		r := u.Run(append(args, "--kuberc="+kuberc)...)
		if r.Code != 1 || harness.Exists(ran) {
			t.Errorf("%v: the plugin ran (%t): %+v", args, harness.Exists(ran), r)
		}
	}
	if u.Run("version"); !harness.Exists(ran) {
		t.Error("without the policy the plugin does not run, so this test shows nothing")
	}
	_ = os.Remove(ran)
	if completions(shell, "audit", "--kuberc="+kuberc, "-n", ""); harness.Exists(ran) {
		t.Error("the plugin ran for a completion")
	}
	harness.Eventually(t, func() error { // a busy machine may not get that far in time
		if completions(shell, "audit", "-n", ""); !harness.Exists(ran) {
			return errors.New("without the policy no completion runs the plugin, so this test shows nothing")
		}
		return nil
	})
}

// All global flags of kubectl exist, with the same shorthands, defaults and help. The exceptions are the flags of
// profiles, --match-server-version, and the help of --request-timeout. There are no other global flags.
func TestGlobalFlagsAreKubectls(t *testing.T) {
	kubectls, err := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, "options").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := harness.User{T: t, Context: t.Context()}.Run("options")
	if !strings.Contains(string(kubectls), "--vmodule") || ours.Code != 0 {
		t.Fatalf("kubectl options says %s, kubectl genname options %+v", kubectls, ours)
	}
	others := regexp.MustCompile(`(?m)^ +--(profile|profile-output|match-server-version|request-timeout)=.*\n(\t.*\n)*\n?`)
	want, got := others.ReplaceAllString(string(kubectls), ""), others.ReplaceAllString(ours.Stdout, "")
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(ours.Stdout, "0 is one minute") {
		t.Errorf("the options differ (-kubectl's +ours):\n%s", diff)
	}
}

// The ClusterRole for audit in examples/rbac is enough to count every type in all namespaces, except Secrets and custom
// resources. It is also enough to read the attempts of the server.
func roleForAudit(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "job.yaml", job), "--count=12").
		Prints(t, 0, strings.Repeat("job.batch/report-xxxxx created\n", 12), "")
	u := bound(t, cp, "auditor", "audit.yaml", "genname-audit")
	u.Run("audit", "-A", "-o", "jsonpath={.server.attemptsSource} {.complete}{range .items[*]} {.prefix}={.names}{end}{range .skipped[?(@.reason==\"forbidden\")]} {.resource}{end}").
		Outputs(t, "version true report-=12 secrets")
	u.Run("audit", "jobs", "-n", "typo", "--fail-above-count=5").
		Has(t, 1, "error: the gate needs a namespace that exists: ")
	u.Run("create", "-f", harness.File(t, "job.yaml", job)).Has(t, 1, "Error from server (Forbidden): ")
}

// auditPolicy has the level that the recipe of the guide needs.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Request, verbs: [create], resources: [{resources: [configmaps]}]}]
`

// The recipe of the guide finds the creators of a prefix in the audit log.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	cp := controlplane.New(t, controlplane.APIServerArgs(
		"--audit-policy-file="+harness.File(t, "policy.yaml", auditPolicy), "--audit-log-path="+path))
	input := harness.File(t, "cm.yaml", configMap)
	harness.As(t, cp.User("planner", "system:masters")).Run("create", "-f", input).Has(t, 0)
	harness.NewShell(t, harness.As(t, cp.User("kubectl-user", "system:masters")).Kubeconfig).Run("kubectl", "create", "-f", input).Has(t, 0)
	recipe := regexp.MustCompile(`(?m)^ *jq .*$`).FindString(harness.Read(t, harness.Root+"docs/guides/runbook.md"))
	recipe = strings.NewReplacer(`"jobs"`, `"configmaps"`, `"nightly-report-"`, `"demo-"`).Replace(recipe)
	jq := `jq() { go -C ` + absolute(t, harness.Root) + ` tool -modfile=tools/small/go.mod gojq "${@:1:2}" ` + path + "; }\n"
	harness.Eventually(t, func() error { // the server is writing the log
		find := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", jq+recipe)
		var stderr strings.Builder // go tool prints its downloads on stderr
		find.Stderr = &stderr
		out, err := find.Output()
		if want := []string{"1", "kubectl-user", "1", "planner"}; err != nil || !slices.Equal(strings.Fields(string(out)), want) {
			return fmt.Errorf("%s: %w\n%s%s", recipe, err, out, stderr.String())
		}
		return nil
	})
}

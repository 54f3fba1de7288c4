package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

func TestWarningsAsErrors(t *testing.T) {
	ns := namespace(t, retrying)
	u := as(t, retrying.Admin())
	misspelt := file(t, "f.yaml", configMap+"nope: 1\n")
	warning := `Warning: unknown field "nope"\n`
	u.run("create", "-n", ns, "-f", misspelt, "--validate=warn").expect(t, 0, `configmap/demo-`+suffix+` created\n`, warning)
	u.run("create", "-n", ns, "-f", misspelt, "--validate=warn", "--warnings-as-errors").expect(t, 1,
		`configmap/demo-`+suffix+` created\n`, warning+`error: 1 warning received\n`)
}

// forbiddenPlugin writes a kubeconfig with a credential plugin, which makes the
// file ran, and a kuberc that forbids it.
func forbiddenPlugin(t *testing.T) (kubeconfig, forbidding, ran string) {
	t.Helper()
	dir := t.TempDir()
	ran = filepath.Join(dir, "ran")
	kubeconfig = filepath.Join(dir, "kubeconfig")
	forbidding = filepath.Join(dir, "kuberc")
	for path, content := range map[string]string{
		kubeconfig: `
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}}]
users:
- name: test
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["` + ran + `"], interactiveMode: Never}
`,
		forbidding: `
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
credentialPluginPolicy: DenyAll
`,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return kubeconfig, forbidding, ran
}

// A user whose kuberc forbids credential plugins has none run, whichever
// command asks for a client.
func TestCredentialPluginPolicyIsHonoured(t *testing.T) {
	kubeconfig, forbidding, ran := forbiddenPlugin(t)
	u := user{t, kubeconfig, t.Context()}
	for _, args := range [][]string{{"version"}, {"audit"}, {"report", "jobs/x-"}, {"create", "-f", file(t, "cm.yaml", configMap)}} {
		r := u.run(append(args, "--kuberc="+forbidding)...)
		if _, err := os.Stat(ran); r.code != 1 || err == nil {
			t.Errorf("%v: the plugin ran (%v): %+v", args, err == nil, r)
		}
	}
	u.run("version")
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("without the policy the plugin does not run, so this test shows nothing: %v", err)
	}
}

// What an aggregated API does on a conflict is not known, whatever
// kube-apiserver does; and who may not list APIServices does not know which
// those are, but for Kubernetes' own groups.
func TestRetriesOfAggregatedAPIs(t *testing.T) {
	cp := controlplane.New(t)
	as(t, cp.Admin()).run("create", "-f", file(t, "api.yaml", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.aggregated.e2e}
spec: {group: aggregated.e2e, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: other, namespace: default}}
`)).expect(t, 0, `apiservice.apiregistration.k8s.io/v1.aggregated.e2e created\n`, ``)
	for _, test := range []struct {
		user *rest.Config
		api  schema.GroupVersion
		want v1alpha1.AttemptsSource
		why  string
	}{
		{cp.Admin(), schema.GroupVersion{Group: "batch", Version: "v1"}, v1alpha1.SourceMetric, ""},
		{cp.Admin(), schema.GroupVersion{Group: "custom.e2e", Version: "v1"}, v1alpha1.SourceMetric, ""},
		{cp.Admin(), schema.GroupVersion{Group: "aggregated.e2e", Version: "v1"}, v1alpha1.SourceUnknown, "aggregated API: server retries unknown"},
		{cp.User("someone"), schema.GroupVersion{Group: "batch", Version: "v1"}, v1alpha1.SourceDefault, ""},
		{cp.User("someone"), schema.GroupVersion{Group: "custom.e2e", Version: "v1"}, v1alpha1.SourceUnknown, "server retries unknown: an aggregated API or not (needs list on apiservices)"},
	} {
		server, err := serverinfo.Get(t.Context(), test.user)
		if err != nil {
			t.Fatal(err)
		}
		if retries, why := server.RetriesOf(test.api); retries.AttemptsSource != test.want || why != test.why {
			t.Errorf("%s: %s, %q, want %s, %q", test.api, retries.AttemptsSource, why, test.want, test.why)
		}
	}
}

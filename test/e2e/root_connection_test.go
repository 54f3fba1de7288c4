package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// forbiddenPlugin writes a kubeconfig with a credential plugin, and a kuberc that forbids the plugin.
// The plugin creates the file ran.
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

// If a user's kuberc forbids credential plugins, no command runs one.
func TestCredentialPluginPolicyIsHonored(t *testing.T) {
	t.Parallel()
	kubeconfig, forbidding, ran := forbiddenPlugin(t)
	u := harness.User{T: t, Kubeconfig: kubeconfig, Context: t.Context()}
	for _, args := range [][]string{{"version"}, {"audit"}, {"report", "jobs/x-"}, {"create", "-f", harness.File(t, "cm.yaml", configMap)}} {
		r := u.Run(append(args, "--kuberc="+forbidding)...)
		if _, err := os.Stat(ran); r.Code != 1 || err == nil {
			t.Errorf("%v: the plugin ran (%v): %+v", args, err == nil, r)
		}
	}
	u.Run("version")
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("without the policy the plugin does not run, so this test shows nothing: %v", err)
	}
}

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// auditPolicy has a resource type at each level that matters.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Request
  verbs: [create]
  resources: [{resources: [configmaps]}]
- level: Metadata
  verbs: [create]
  resources: [{resources: [serviceaccounts]}]
- level: None
`

// logged returns the names in the audit log of the creates of a user, by resource type.
func logged(t *testing.T, path, user string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	names := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Stage     string
			User      struct{ Username string }
			ObjectRef struct{ Resource, Name string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			continue // the server is writing this line
		}
		if event.Stage == "ResponseComplete" && event.User.Username == user {
			names[event.ObjectRef.Resource] = event.ObjectRef.Name
		}
	}
	return names
}

// The audit log has the names of objects that the plugin creates, and none for kubectl create. The recipe of the guide
// finds both users by the prefix.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	cp := controlplane.New(t, controlplane.APIServerArgs(
		"--audit-policy-file="+harness.File(t, "policy.yaml", auditPolicy), "--audit-log-path="+path))
	manifest := harness.File(t, "both.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: leak-}\n---\n"+
		"apiVersion: v1\nkind: ServiceAccount\nmetadata: {generateName: leak-}\n")
	plugin := harness.As(t, cp.User("planner", "system:masters")).Run("create", "-f", manifest, "-o", "name")
	shell := harness.NewShell(t, harness.As(t, cp.User("kubectl-user", "system:masters")).Kubeconfig)
	kubectl := shell.Run("kubectl", "create", "-f", manifest)
	if plugin.Code != 0 || kubectl.Code != 0 {
		t.Fatal(plugin.Stderr, kubectl.Stderr)
	}
	harness.Eventually(t, func() error {
		if n := len(logged(t, path, "planner")) + len(logged(t, path, "kubectl-user")); n < 4 {
			return fmt.Errorf("%d events", n)
		}
		return nil
	})
	for resource, name := range logged(t, path, "planner") {
		if !strings.Contains(plugin.Stdout, "/"+name+"\n") || name == "" {
			t.Errorf("%s: the log has the name %q, and the plugin created\n%s", resource, name, plugin.Stdout)
		}
	}
	for resource, name := range logged(t, path, "kubectl-user") {
		if name != "" {
			t.Errorf("%s: the log has the name %q of an object that kubectl created", resource, name)
		}
	}

	page, err := os.ReadFile(harness.Root + "docs/guides/find-the-creator.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?m)^ *jq .*$`).FindString(string(page))
	recipe = strings.NewReplacer(`"jobs"`, `"configmaps"`, `"nightly-report-"`, `"leak-"`).Replace(recipe)
	root, err := filepath.Abs(harness.Root)
	if err != nil {
		t.Fatal(err)
	}
	jq := `jq() { go -C ` + root + ` tool -modfile=tools/jq/go.mod gojq "${@:1:2}" ` + path + "; }\n"
	find := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", jq+recipe)
	out, err := find.CombinedOutput()
	if want := []string{"1", "kubectl-user", "1", "planner"}; err != nil || !slices.Equal(strings.Fields(string(out)), want) {
		t.Errorf("%s: %v\n%s", recipe, err, out)
	}
}

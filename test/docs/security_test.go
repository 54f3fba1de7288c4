package docs

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// promises are the sentences of SECURITY.md about the program, and the tests of each.
var promises = []struct {
	sentence string
	tests    string
}{
	{"The plugin acts as you, with your kubeconfig.", "roles"},
	{"[Permissions](docs/reference/permissions.md) lists the verbs that each command needs.", "roles"},
	{"`audit`, `report` and their completion request only metadata.", "TestOnlyMetadataIsRequested"},
	{"RBAC can't grant access to metadata alone, and permission to list Secrets is permission to read them.", "TestOnlyMetadataIsRequested"},
	{"So the example roles leave Secrets out.", "TestRolesLeaveSecretsOut"},
	{"The plugin prints no token.", "TestVerboseOutput"},
	{"It prints and sends no idempotency key and no secret of a key.", "TestTheKeyStaysHere TestVerboseOutput"},
	{"Objects carry hashes of them.", "TestTheKeyStaysHere TestSessions"},
	{"With `-o json`, `-o yaml` and `-v=8` or higher it prints the objects that you create, Secrets with their content, as kubectl does.", "TestVerboseOutput"},
	{"So don't use these flags for Secrets if others can read the log.", "TestVerboseOutput"},
	{"In tables and messages it escapes control characters, and commands for a CI system.", "TestText TestRunnerCommands"},
	{"It doesn't run credential plugins that your kuberc forbids, also not for completion.", "TestCredentialPluginPolicyIsHonored TestCompletionHonorsCredentialPluginPolicy"},
	{"It connects to your API server, and to the addresses that you name, as kubectl does.", "TestConnections"},
	{"These are the URL of `-f`, a remote base of a kustomization, and the OIDC issuer or credential plugin of your kubeconfig.", "TestConnections"},
	{"It doesn't check for updates, and sends no usage data.", "TestConnections"},
}

// Each sentence about the program has a test. A new sentence needs one.
func TestPromisesOfSecurity(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "SECURITY.md"), "\n## Access of the plugin\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var sentences []string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "- "))
		for _, sentence := range regexp.MustCompile(`\. `).Split(line, -1) {
			if sentence != "" {
				sentences = append(sentences, strings.TrimSuffix(sentence, ".")+".")
			}
		}
	}
	for i, p := range promises {
		if i >= len(sentences) || sentences[i] != p.sentence {
			t.Fatalf("sentence %d of SECURITY.md is not %q, but one of %q", i, p.sentence, sentences)
		}
		for _, name := range strings.Fields(p.tests) {
			if exec.Command("git", "-C", root, "grep", "-q", "--untracked", "^func "+name+"(t ", "--", "*_test.go").Run() != nil {
				t.Errorf("there is no %s, the test of %q", name, p.sentence)
			}
		}
	}
	if len(sentences) != len(promises) {
		t.Errorf("no test is named for %q", sentences[len(promises):])
	}
}

// A role that can list Secrets can read them.
func TestRolesLeaveSecretsOut(t *testing.T) {
	for _, path := range slices.Concat(glob(t, "examples/rbac/*.yaml"), glob(t, "deploy/exporter/base/rbac.yaml")) {
		var role struct {
			Rules []struct{ APIGroups, Resources []string }
		}
		for document := range strings.SplitSeq(read(t, path), "\n---\n") {
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, rule := range role.Rules {
				core := slices.Contains(rule.APIGroups, "") || slices.Contains(rule.APIGroups, "*")
				if core && (slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*")) {
					t.Errorf("%s has access to Secrets", path)
				}
			}
		}
	}
}

package docs

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// promise is a sentence about the program, and the tests of it.
type promise struct{ sentence, tests string }

// promises are those of a section of a page, which begins with a heading.
var promises = []struct {
	page, heading string
	promises      []promise
}{
	{"SECURITY.md", "## Access of the plugin", []promise{
		{"The plugin acts as you, with your kubeconfig.", "roles"},
		{"[Permissions](docs/reference/permissions.md) lists the verbs that each command needs.", "roles"},
		{"`audit`, `report` and their shell completion request only metadata.", "TestOnlyMetadataIsRequested"},
		{"RBAC can't grant access to metadata alone, and permission to list Secrets is permission to read them.", "TestOnlyMetadataIsRequested"},
		{"So the example roles leave Secrets out.", "TestRolesLeaveSecretsOut"},
		{"The plugin prints no token.", "TestVerboseOutput"},
		{"It prints and sends no idempotency key and no secret of a key.", "TestTheKeyStaysHere TestVerboseOutput"},
		{"The created objects carry only hashes of the key and the secret.", "TestTheKeyStaysHere TestSessions"},
		{"With `-o json`, `-o yaml` and `-v=8` or higher, the plugin prints the objects that you create, Secrets with their content, as kubectl does.", "TestVerboseOutput"},
		{"So don't use these flags for Secrets if others can read the log.", "TestVerboseOutput"},
		{"If text from the cluster contains control characters or commands for a CI system, the plugin escapes them in tables and messages.", "TestText TestRunnerCommands"},
		{"The plugin doesn't run credential plugins that your kuberc forbids, not even for completion.", "TestCredentialPluginPolicyIsHonored TestCompletionHonorsCredentialPluginPolicy"},
		{"The plugin connects to your API server, and to the addresses that you name, as kubectl does.", "TestConnections"},
		{"These are the URL of `-f`, a remote base of a kustomization, and the OIDC issuer or credential plugin of your kubeconfig.", "TestConnections"},
		{"The plugin doesn't check for updates, and sends no usage data.", "TestConnections"},
	}},
	{"SECURITY.md", "## Idempotency keys", []promise{
		{"With `--idempotency-key` alone, the name and the ID of an object are derived from the key, the type, the namespace and the generateName.", "TestVectors"},
		{"Another user with permission to create objects in the namespace can guess the key, and create the object first, with other content.", "TestSessions TestAdversary"},
		{"The run then takes that object for its own, prints `exists` or `created`, and exits with 0.", "TestSessions TestAdversary"},
		{"A user without permission in the namespace can't do this.", "TestVectors"},
		{"If other users can create objects in the namespace, use `--idempotency-secret-file`.", "TestAdversary"},
		{"Then other users can't compute the name or the ID.", "TestAdversary TestMutants"},
		{"[The threat model](docs/concepts/threat-model.md) lists the remaining risks.", "TestAdversary"},
		{"Objects carry a hash of the key in the label `genname.dev/run`, also with a secret.", "TestVectors TestSessions"},
		{"The hash doesn't show the key, but other users can test a guess of the key against it.", "TestTheKeyStaysHere TestVectors"},
	}},
	{"docs/concepts/threat-model.md", "# Threat model", []promise{
		{"This page assumes that another user can create, get and list objects in your namespace.", "TestAdversary TestSessions"},
	}},
	{"docs/concepts/threat-model.md", "## create with a key", []promise{ // and a table, which TestAdversary writes
		{"Other users can copy annotations and labels.", "TestAdversary"},
		{"So an object belongs to a run only if its ID follows from the key, and its name from the ID.", "TestListedObjects TestAdversary TestMutants"},
		{"With `--idempotency-secret-file`, the ID and the name also follow from the secret.", "TestVectors TestSessions"},
		{"The table lists all possible results of your run.", "TestAdversary"},
		{"An error has exit code 1, and with exit code 4 the outcome is unknown.", "TestAdversary"},
		{"If your object is deleted, another user can create an object with its ID.", "TestAdversary"},
		{"After `exists`, and after `created` with a lost response, the object can be the other user's:", "TestAdversary"},
		{"Don't delete a Job while you might repeat its pipeline.", "TestAdversary"},
		{"Messages about failed and unknown objects print names, and `-v=8` prints IDs.", "TestSessions TestVerboseOutput"},
		{"Another user with a former secret can do the same as with the current one.", "TestAdversary TestSessions"},
		{"If a secret leaks, remove it, and use a new key.", "TestAdversary"},
	}},
	{"docs/concepts/threat-model.md", "## Other commands", []promise{
		{"do the same as with a key.", "TestAdversary"},
		{"The UID of an owner is no secret.", "TestAdversary"},
		{"[Use a secret](../guides/controllers.md)", "TestAdversary"},
		{"create newer objects, so that `--keep` deletes yours.", "TestSessions"},
		{"If several creators exist, the plan prints the creators that clients claim.", "TestSessions"},
		{"Without `--owned`, objects with an invented controller stay", "TestSessions"},
		{"create an equal object first.", "TestFind"},
		{"The command proposes to delete yours only if its owner names the other object", "TestFind"},
		{"use your permissions while the program runs, if the program reveals the proxy's token.", "TestRefused"},
		{"Only you can read its kubeconfig (mode 0600).", "TestKubeconfig"},
		{"Without the token, a request gets status 401.", "TestRefused TestAdversities"},
		{"The proxy uses TLS on 127.0.0.1.", "TestKubeconfig"},
		{"`wrap` is no sandbox for the program", "TestKubeconfig"},
		{"create many prefixes.", "TestShareOfANamespace"},
		{"A namespace has at most half of the series", "TestShareOfANamespace"},
	}},
	{"docs/concepts/threat-model.md", "## Permissions", []promise{
		{"Only permissions protect you from users with permission to delete or update your objects, or to read the secret.", "TestAdversary"},
		{"Some custom resources have no status subresource.", "TestSessions"},
		{"Then users with permission to create such an object can set its status.", "TestSessions"},
	}},
}

// Each sentence about the program has a test. A new sentence needs one.
func TestPromisesOfSecurity(t *testing.T) {
	for _, section := range promises {
		_, text, _ := strings.Cut(read(t, section.page), section.heading+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sentences := sentencesOf(regexp.MustCompile(`(?s)<!-- .*-->`).ReplaceAllString(text, ""))
		for i, p := range section.promises {
			if i >= len(sentences) || sentences[i] != p.sentence {
				t.Fatalf("sentence %d of %s is not %q, but one of %q", i, section.page, p.sentence, sentences)
			}
			for _, name := range strings.Fields(p.tests) {
				if exec.Command("git", "-C", root, "grep", "-q", "--untracked", "^func "+name+"(t ", "--", "*_test.go").Run() != nil {
					t.Errorf("there is no %s, the test of %q", name, p.sentence)
				}
			}
		}
		if more := sentences[len(section.promises):]; len(more) > 0 {
			t.Errorf("%s: no test is named for %q", section.page, more)
		}
	}
}

// sentencesOf returns the sentences of paragraphs, lists, and the last cells of tables.
func sentencesOf(text string) (sentences []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "- "))
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "|") {
			if line = strings.TrimSuffix(cells[len(cells)-1], " |"); len(cells) < 2 || line == "the other user can" {
				continue
			}
		}
		for _, sentence := range strings.SplitAfter(line, ". ") {
			if sentence != "" {
				sentences = append(sentences, strings.TrimSpace(sentence))
			}
		}
	}
	return sentences
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

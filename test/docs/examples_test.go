package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/prose"
)

// No two examples define the same object. Otherwise, applying the second one would undo the permissions of the first
// one.
func TestExamplesDoNotOverwriteEachOther(t *testing.T) {
	definedIn := map[string]string{}
	err := filepath.WalkDir(root+"examples", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		for _, o := range objects(t, path) {
			if o.Name == "" { // a generateName, so each object gets another name
				continue
			}
			id := strings.Join([]string{o.APIVersion, o.Kind, o.Namespace, o.Name}, " ")
			if other, defined := definedIn[id]; defined {
				t.Errorf("%s and %s both define %s", other, path, id)
			}
			definedIn[id] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(definedIn) < 5 {
		t.Errorf("the examples define only %v", definedIn)
	}
}

// objects returns the documents of a file.
func objects(t *testing.T, path string) (objects []metav1.PartialObjectMetadata) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, object)
	}
	return objects
}

// public are the images of the examples. Every cluster with access to the internet can pull them.
var public = []string{"busybox:1.37"}

// A reader can run the examples as they are.
func TestImagesOfExamplesArePublic(t *testing.T) {
	image := regexp.MustCompile(`image: *"?([^\s",}]+)`)
	found := 0
	for _, path := range glob(t, "examples/*.yaml", "examples/*/*.yaml", "examples/*/*/*.yaml") {
		for _, match := range image.FindAllStringSubmatch(read(t, path), -1) {
			if found++; !slices.Contains(public, match[1]) {
				t.Errorf("%s: a cluster can't pull %s. The public images are %q", path, match[1], public)
			}
		}
	}
	if found < 4 {
		t.Errorf("the examples have %d images", found)
	}
}

// notExplained are the groups and messages that the page leaves out, with the reasons.
var notExplained = map[string]string{
	"Warning: … is not counted: …": "it names the reason",
	"Warning: … not counted, because the exporter needs permission to list and watch: …": "it names the permission",
	"Warning: … has more than … prefixes, so new ones have no row or series":             "it names the result",

	"Warning:":   "it begins other warnings",
	"Warning: …": "it has the words of the reason only",

	"Warning: … was counted again, because the watch lost events from … to … (…)":               "nothing to do: it names the correct counts",
	"Warning: the resource types can't be discovered, so new types aren't counted yet: …":       "nothing to do: the watch retries",
	"Warning: … is an audit of another cluster":                                                 "it names the file",
	"Warning: … is only … old, so the growth per day might come from a short burst":             "it names the cause",
	"Warning: the gate can't check … that you can't list (needs list): …":                       "it names the permission",
	"Warning: no object is proposed, because it might own objects that you can't list: …":       "it names the types",
	"Warning: the gate checked nothing, because namespace … is empty or doesn't exist":          "it names the permission",
	"Warning: the report leaves out up to …, because the audit hid them":                        "it names the next command",
	"Warning: the report leaves out … of …/…, because numbers, times and hashes are not random": "it names the cause",
	"Warning: no object of … has the prefix …":                                                  "it names the cause",
	"Warning: no object of … in namespace … has the prefix …":                                   "it names the cause",
	"Warning: …: skipped …, because …":                                                          "it names the cause",
	"Warning: you can't … …":                                                                    "it names the permission",
	"Warning: lines of … may be missing … (…)":                                                  "it names the times and the cause",
	"Warning: logs of Pods in … may be missing, because the Pods can't be listed: …":            "it names the cause",
	"Warning: …: genname:disable … has no effect: …":                                            "it names the comment and the cause",
	"Warning: the history limits of … delete its finished Jobs, also those of --from":           "it names the result",
	"Warning: the run ignores … with its label, like …":                                         "as for create",
	"… with … are deleted after they finish":                                                    "it names the result",

	"Warning: deleting a namespace deletes all objects in it":        "prune deletes nothing without --yes",
	"Warning: … create …":                                            "prune deletes nothing without --yes",
	"Warning: restored … start again, also those that have finished": "it names the result",
	"Warning: 1 of these objects has not finished":                   "prune deletes nothing without --yes",
	"Warning: … of these objects have not finished":                  "prune deletes nothing without --yes",
	"Warning: this machine's clock differs from the server's by …":   "nothing to do: the command uses the server's clock",
}

// shownBeginning matches the beginning of a message on a page.
var shownBeginning = regexp.MustCompile("`([^`]+)`")

// The troubleshooting page has at least the beginning of each error, warning and closing line, or notExplained has a
// reason for the omission. Every reason is used.
func TestTroubleshooting(t *testing.T) {
	beginnings := map[string]bool{} // true for the beginning of a message
	for _, path := range glob(t, "docs/troubleshooting.md", "docs/troubleshooting/*.md") {
		for line := range strings.Lines(read(t, path)) {
			message, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			for _, match := range shownBeginning.FindAllStringSubmatch(message, -1) {
				if isRow {
					beginnings[match[1]] = false
				}
			}
		}
	}
	printed, err := prose.Printed(root)
	if err != nil {
		t.Fatal(err)
	}
	excused := map[string]bool{}
	for _, m := range printed {
		explained := false
		for beginning := range beginnings {
			if strings.HasPrefix(m.Shown(), strings.TrimRight(beginning, "… ")) {
				beginnings[beginning], explained = true, true
			}
		}
		if !m.Warns || explained {
			continue
		}
		warning, _, _ := strings.Cut(m.Shown(), ". ")
		if excused[warning] = true; notExplained[warning] == "" {
			t.Errorf("%s: no page has `%s`", m.Package, m.Shown())
		}
	}
	for warning := range notExplained {
		if !excused[warning] {
			t.Errorf("%s has a reason in notExplained, and is no message, or is on a page", warning)
		}
	}
	for beginning, used := range beginnings {
		if !used {
			t.Errorf("a page has `%s`, and no message begins with it", beginning)
		}
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

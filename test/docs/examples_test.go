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

// shownBeginning matches the beginning of a message on a page.
var shownBeginning = regexp.MustCompile("`([^`]+)`")

// Each message on the troubleshooting pages is the beginning of a text that a command prints.
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
	for _, m := range printed {
		for beginning := range beginnings {
			if strings.HasPrefix(m.Shown(), strings.TrimRight(beginning, "… ")) {
				beginnings[beginning] = true
			}
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

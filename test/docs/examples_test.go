package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/prose"
)

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

package docs

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

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

package rules

import (
	"fmt"
	"strings"
	"testing"
)

// For each kind with a Pod selector, the rule reports a finding at the selector.
func TestSharedLabels(t *testing.T) {
	for api, kinds := range map[string][]string{
		"v1":                   {"ReplicationController"},
		"apps/v1":              {"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"},
		"argoproj.io/v1alpha1": {"Rollout"},
		"batch/v1":             {"Job"},
	} {
		for _, kind := range kinds {
			text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {generateName: x-}\nspec:\n  manualSelector: true\n"+
				"  selector: {matchLabels: {app: x}}\n", api, kind)
			found := check(t, sharedLabels, text, Tree{})
			if len(found) != 1 || found[0].Position().Line != 6 {
				t.Errorf("%s: findings %+v, want one in line 6 of\n%s", kind, found, text)
			}
		}
	}
}

// The finding has the number of random characters that remain in the name.
func TestRandomCharactersLeft(t *testing.T) {
	// The generateName POD-CLAIM- has at most 57 bytes. The controller truncates both parts in proportion.
	for length, want := range map[int]string{
		50: "only 2 of the 5 random characters of the Pod are left", 57: "all copies of this Pod share one name pool",
	} {
		text := "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: " + strings.Repeat("x", length-1) + "-\n" +
			"spec:\n  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]\n  containers: [{name: a, image: a}]\n"
		found := check(t, childNames, text, Tree{})
		if len(found) != 1 || !strings.Contains(found[0].Message, want) {
			t.Errorf("findings %+v, want %q", found, want)
		}
	}
}

package lint

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Prefixes checks each prefix once, and compares it with earlier prefixes.
func TestPrefixes(t *testing.T) {
	long := strings.Repeat("a", 60)
	secret := func(end, annotation string) string {
		return "{apiVersion: v1, kind: Secret, metadata: {generateName: " + long + end + "-, namespace: a, annotations: {" + annotation + "}}}"
	}
	class := func(end, namespace string) string {
		return "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {generateName: " + long + end + "-, namespace: " + namespace + "}}"
	}
	var p Prefixes
	for _, step := range []struct{ object, want string }{
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: fine-}}", ""},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: Upper-}}", "invalid-name"},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: Upper-}}", ""},
		{"{apiVersion: v1, kind: Secret, metadata: {generateName: Upper-}}", "invalid-name"},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: Upper-, name: own}}", ""},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: " + long + "-one-, namespace: a}}", ""},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: " + long + "-two-, namespace: b}}", ""},
		{"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: " + long + "-two-, namespace: a}}", "truncated-prefix"},
		{class("one", "a"), ""},
		{class("two", "b"), "truncated-prefix"}, // these kinds are cluster-scoped, so both objects are in one name pool
		{class("two", "c"), ""},
		{secret("hook", "argocd.argoproj.io/hook: PreSync"), ""}, // Argo CD deletes the hook before each create
		{secret("one", ""), ""},
		{secret("two", ""), "truncated-prefix"},
		{secret("three", ""), "truncated-prefix"},
		{"{apiVersion: batch/v1, kind: CronJob, metadata: {generateName: " + long[:50] + "-}, spec: {schedule: '0 3 * * *'}}", "child-names"},
	} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(step.object), &object.Object); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range p.Errors(object) {
			got = append(got, f.Rule.Name)
			if f.Message == "" || f.Help == "" {
				t.Errorf("%s: message %q, help %q, want both", f.Rule.Name, f.Message, f.Help)
			}
		}
		if want := strings.Fields(step.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", step.object, got, want)
		}
	}
}

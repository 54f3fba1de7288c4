package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// kustomization returns the directory of a case of test/kustomize.
func kustomization(name string) string { return harness.Root + "test/kustomize/cases/" + name }

// kustomizationOf writes files into a directory and returns it.
func kustomizationOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// generateName works in kustomizations: kustomize#641, #586 and #4224.
func TestCreateFromAKustomization(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	created := func(names ...string) string {
		var lines strings.Builder
		for _, name := range names {
			lines.WriteString(`job\.batch/` + strings.ReplaceAll(name, "-SUFFIX", "-"+harness.Suffix) + ` created\n`)
		}
		return lines.String()
	}
	u.Run("create", "-n", ns, "-k", kustomization("plain")).
		Expect(t, 0, created("migrate-SUFFIX"), "")
	u.Run("create", "-n", ns, "-k", kustomization("hooks")).
		Expect(t, 0, created("after-SUFFIX", "before-SUFFIX"), "")
	u.Run("create", "-n", ns, "-k", kustomization("named-beside")).
		Expect(t, 0, created("app-notification-SUFFIX", "app-notification-fail"), "")
	u.Run("create", "-n", ns, "-k", kustomization("prefix-suffix"), "-o", "name").
		Expect(t, 0, `job.batch/prod-team-dashes--eu-v2-`+harness.Suffix+`\njob.batch/prod-team-migrate-eu-v2-`+harness.Suffix+
			`\njob.batch/prod-team-named-eu-v2\njob.batch/prod-team-run-eu-v2`+harness.Suffix+`\n`, "")
	u.Run("create", "-n", ns, "-k", kustomization("reference")).
		Expect(t, 1, "", `error: Deployment "x-web": spec.template.spec.volumes.0.configMap.name refers to .*\n`)

	jobs, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]string{}
	for _, job := range jobs.Items {
		images[job.GenerateName] = imageOf(job)
		if strings.ContainsFunc(job.String(), func(letter rune) bool { return letter > '~' }) {
			t.Errorf("more than ASCII in %s", job.Name)
		}
	}
	if images["app-notification-"] != "curl:2" || images["migrate-"] != "migrate:1" {
		t.Errorf("images %v", images)
	}
}

func imageOf(job batchv1.Job) string { return job.Spec.Template.Spec.Containers[0].Image }

// An object whose type is in the same kustomization waits for the type, as from a file.
func TestCreateFromAKustomizationWithItsType(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	dir := kustomizationOf(t, map[string]string{
		"kustomization.yaml": "namespace: " + ns + "\nresources: [workflow.yaml, type.yaml]\n",
		"workflow.yaml":      "apiVersion: kustomize.example.com/v1\nkind: Workflow\nmetadata: {generateName: hello-world-}\n",
		"type.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
			"metadata: {name: workflows.kustomize.example.com}\nspec:\n  group: kustomize.example.com\n  scope: Namespaced\n" +
			"  names: {kind: Workflow, plural: workflows}\n" +
			"  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n",
	})
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-k", dir).
		Expect(t, 0, `customresourcedefinition\.apiextensions\.k8s\.io/workflows\.kustomize\.example\.com created\n`+
			`workflow\.kustomize\.example\.com/hello-world-`+harness.Suffix+` created\n`, "")
}

// The creation IDs of a run with a key don't depend on the names that objects have inside kustomize.
// Another run finds the objects of the first run.
func TestCreateFromAKustomizationWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	dir := kustomizationOf(t, map[string]string{
		"kustomization.yaml": "resources: [objects.yaml]\n",
		"objects.yaml":       read(t, kustomization("lists")+"/want.yaml"),
	})
	run := []string{"create", "-n", ns, "-k", dir, "--idempotency-key=k1"}
	first := u.Run(run...)
	if first.Code != 0 || strings.Count(first.Stdout, "created\n") != 6 {
		t.Fatalf("%+v", first)
	}
	second := u.Run(run...)
	again := strings.NewReplacer(" unchanged", " created", " exists (Running)", " created", " exists", " created").Replace(second.Stdout)
	if second.Code != 0 || strings.Contains(second.Stdout, "created") || again != first.Stdout {
		t.Errorf("the first run printed\n%s the second, with code %d,\n%s%s", first.Stdout, second.Code, second.Stdout, second.Stderr)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// report counts the names with the prefixes of a kustomization.
func TestReportOfAKustomization(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	u.Run("create", "-n", ns, "-k", kustomization("plain"), "--count=3", "-o", "name").
		Expect(t, 0, `(job.batch/migrate-`+harness.Suffix+`\n){3}`, "")
	report := u.Run("report", "-n", ns, "-k", kustomization("plain"), "-o", "json")
	if report.Code != 0 || !strings.Contains(report.Stdout, `"existing": 3`) || !strings.Contains(report.Stdout, `"prefix": "migrate-"`) {
		t.Errorf("%+v", report)
	}
}

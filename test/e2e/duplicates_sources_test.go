package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// untilControllers waits until controllers have created at least n objects of a type with a label. An empty label
// allows all objects.
func untilControllers(t *testing.T, shell harness.Shell, resource, label string, n int) {
	t.Helper()
	harness.Eventually(t, func() error {
		r := shell.Run("kubectl", "get", resource, "-l", label, "-o", "name")
		if objects := strings.Count(r.Stdout, "\n"); objects < n {
			return fmt.Errorf("controllers have created %d %s: %s", objects, resource, r.Stderr)
		}
		return nil
	})
}

// If nothing was created twice, duplicates reports no likely group, whatever controllers create.
func duplicatesOfCleanPopulations(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	untilControllers(t, shell, "serviceaccounts", "", 1)
	shell.Run("kubectl", "create", "-f", "testdata/controlled.yaml").Has(t, 0)
	for _, run := range []string{"cron-1", "cron-2"} {
		shell.Run("kubectl", "create", "job", run, "--from=cronjob/cron").Has(t, 0)
	}
	u.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=40").Has(t, 0)
	untilControllers(t, shell, "pods", "", 56)
	report := duplicatesOf(t, u, "-A")
	if got := briefs(report, v1alpha1.DuplicateLikely, v1alpha1.DuplicateConfirmed); len(got) > 0 {
		t.Errorf("found %q", got)
	}
	for _, item := range report.Items {
		if item.Reason != "replicas" && item.Reason != "moreThanTwo" {
			t.Errorf("%s: %s, want replicas or moreThanTwo", brief(item), item.Reason)
		}
	}
}

// duplicatesOf returns the report of a search.
func duplicatesOf(t *testing.T, u harness.User, args ...string) v1alpha1.DuplicateReport {
	t.Helper()
	result := u.Run(append([]string{"duplicates", "-o", "json"}, args...)...)
	var report v1alpha1.DuplicateReport
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil || result.Code != 0 {
		t.Fatalf("%v, exit code %d, stderr is %s", err, result.Code, result.Stderr)
	}
	return report
}

// brief returns a group as GRADE RESOURCE PREFIX xOBJECTS.
func brief(item v1alpha1.DuplicateItem) string {
	resource := strings.TrimSuffix(item.Resource+"."+item.Group, ".")
	return fmt.Sprintf("%s %s %s x%d", item.Grade, resource, item.Prefix, len(item.Objects))
}

// briefs returns the groups with one of the grades.
func briefs(report v1alpha1.DuplicateReport, grades ...v1alpha1.DuplicateGrade) []string {
	found := []string{}
	for _, item := range report.Items {
		if slices.Contains(grades, item.Grade) {
			found = append(found, brief(item))
		}
	}
	slices.Sort(found)
	return found
}

// A pair that kubectl created is found for each type, whatever Kubernetes controllers write into the
// objects. Secrets are searched only if the user names them. Objects that controllers create for a
// pair are no duplicates.
func duplicatesOfEachType(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	shell.Run("kubectl", "apply", "-f", "testdata/backups.yaml").Has(t, 0)
	shell.Run("kubectl", "wait", "--for=condition=Established", "crd/backups.example.com").Has(t, 0)
	untilControllers(t, shell, "serviceaccounts", "", 1)
	text := harness.Read(t, "testdata/twice.yaml")
	var want []string
	for _, document := range regexp.MustCompile(`(?m)^# (\S+)\n.*generateName: (\S+),`).FindAllStringSubmatch(text, -1) {
		want = append(want, fmt.Sprintf("likely %s %s x2", document[1], document[2]))
	}
	slices.Sort(want)
	for range 2 {
		shell.Run("kubectl", "create", "-f", "testdata/twice.yaml").Has(t, 0)
	}
	untilControllers(t, shell, "pods", "app=twice", 6)
	report := duplicatesOf(t, u, "-A")
	withoutSecrets := slices.DeleteFunc(slices.Clone(want), func(text string) bool { return strings.Contains(text, " secrets ") })
	if got := briefs(report, v1alpha1.DuplicateLikely, v1alpha1.DuplicateConfirmed); !slices.Equal(got, withoutSecrets) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(withoutSecrets, "\n"))
	}
	for _, item := range report.Items {
		if item.Grade == v1alpha1.DuplicateLikely && (item.Fields == 0 || item.Objects[0].Creator != "kubectl-create") {
			t.Errorf("%s: %d fields, created by %q", brief(item), item.Fields, item.Objects[0].Creator)
		}
	}
	named := duplicatesOf(t, u, "secrets")
	if got := briefs(named, v1alpha1.DuplicateLikely); !slices.Equal(got, []string{"likely secrets secrets- x2"}) {
		t.Errorf("of Secrets: %q", got)
	}
}

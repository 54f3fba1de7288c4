package e2e

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// endJobs ends each new Job of a namespace, or of all, as the Job controller does, until the test ends.
func endJobs(t *testing.T, cp *controlplane.ControlPlane, ns string, end batchv1.JobConditionType) {
	t.Helper()
	client := harness.Clientset(t, cp)
	jobs, err := client.BatchV1().Jobs(ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range jobs.ResultChan() {
			if job, is := event.Object.(*batchv1.Job); is && event.Type == apiwatch.Added && len(job.Status.Conditions) == 0 {
				if err := harness.FinishJob(t.Context(), client, job, end, time.Now()); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		jobs.Stop()
		<-done
	})
}

// inShell runs a script in the directory of the examples.
func inShell(t *testing.T, kubeconfig string, environment []string, script ...string) (stdout string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", script...)
	cmd.Dir, cmd.Env = harness.Root+"examples", append(harness.Environment(t, kubeconfig), environment...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Logf("stderr of %s:\n%s", script, exit.Stderr)
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// The example of a pipeline runs one Job per commit, however often it runs. It repeats a run with an unknown outcome,
// and finds the existing Job.
func TestExamplePipeline(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	harness.Grant(t, retrying, ns, "pipeline", []string{"create", "list", "watch"}, "jobs")
	endJobs(t, retrying, ns, batchv1.JobComplete)
	u := harness.As(t, faultproxy.New(t, retrying.User("pipeline"), harness.First(1, faultproxy.DropResponse)()).Config)
	var printed []string
	for _, commit := range []string{"4f1d2e8", "4f1d2e8", "97ab310"} {
		out, code := inShell(t, u.Kubeconfig, []string{"PAUSES=0 0"}, "pipeline.sh", ns, commit)
		if code != 0 || harness.Placeholders(out) != "job.batch/migrate-xxxxx\n" {
			t.Errorf("%s: exit code %d, %q", commit, code, out)
		}
		printed = append(printed, out)
	}
	jobs, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if printed[0] != printed[1] || printed[0] == printed[2] || err != nil || len(jobs.Items) != 2 {
		t.Errorf("%q, %d jobs, %v", printed, len(jobs.Items), err)
	}
}

// A failed Job is found again, with exit code 5, until it is deleted.
func TestExamplePipelineOfAFailedJob(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	endJobs(t, retrying, ns, batchv1.JobFailed)
	step := func() string {
		out, code := inShell(t, u.Kubeconfig, nil, "pipeline.sh", ns, "4f1d2e8")
		if code != 5 {
			t.Errorf("exit code %d, want 5; %q", code, out)
		}
		return strings.TrimSpace(out)
	}
	first := step()
	if again := step(); again != first {
		t.Errorf("%s, and again %s", first, again)
	}
	jobs := harness.Clientset(t, retrying).BatchV1().Jobs(ns)
	uid := func() string {
		job, err := jobs.Get(t.Context(), strings.TrimPrefix(first, "job.batch/"), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(job.UID)
	}
	failed := uid()
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "delete", "-n", ns, first, "--cascade=background")
	if again := step(); again != first || uid() == failed {
		t.Errorf("%s, and after its deletion %s, with the same UID: %t", first, again, uid() == failed)
	}
}

// pipelineSteps returns the scripts of the guide for CI systems: the values of run and
// script in YAML, and of sh in Groovy. TestPipelineSteps of test/scripts runs the Task.
func pipelineSteps(t *testing.T) map[string]string {
	t.Helper()
	page := harness.Read(t, harness.Root+"docs/guides/pipelines.md")
	steps := map[string]string{}
	for _, block := range regexp.MustCompile("(?ms)^```(yaml|groovy)\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		if block[1] == "groovy" {
			steps["jenkins"] = strings.ReplaceAll(regexp.MustCompile(`(?s)sh '''(.*)'''`).FindStringSubmatch(block[2])[1], `\`+"\n", " ")
			continue
		}
		var content any
		if err := yaml.UnmarshalStrict([]byte(block[2]), &content); err != nil {
			t.Fatalf("%v\n%s", err, block[2])
		}
		switch c := content.(type) {
		case []any:
			steps["github"] = c[0].(map[string]any)["run"].(string)
		case map[string]any:
			steps["gitlab"] = c["migrate"].(map[string]any)["script"].([]any)[0].(string)
		}
	}
	return steps
}

// The steps of the guide, run as the CI systems run them, create one Job in total, without a secret and with the
// guide's secret.
func TestPipelineGuide(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	endJobs(t, retrying, ns, batchv1.JobComplete)
	environment := []string{"GITHUB_SHA=4f1d2e8", "CI_COMMIT_SHA=4f1d2e8", "GIT_COMMIT=4f1d2e8"}
	runPipelineSteps(t, u, ns, environment)
	secret, _ := inShell(t, u.Kubeconfig, nil, "-c", secretRecipe(t))
	withSecret := harness.Namespace(t, retrying)
	endJobs(t, retrying, withSecret, batchv1.JobComplete)
	job := runPipelineSteps(t, u, withSecret, append(environment, "GENNAME_IDEMPOTENCY_SECRET="+strings.TrimSpace(secret)))
	if id := job.Annotations["genname.dev/creation-id"]; !strings.HasPrefix(id, "v1s-") {
		t.Errorf("with a secret, the ID is %q", id)
	}
}

// secretRecipe returns the command of the guide that makes a secret.
func secretRecipe(t *testing.T) string {
	t.Helper()
	page := harness.Read(t, harness.Root+"docs/guides/create-safely.md")
	_, recipe, found := strings.Cut(page, "--idempotency-secret-file` with a file from `")
	if !found {
		t.Fatal("the page has no recipe of a secret")
	}
	recipe, _, _ = strings.Cut(recipe, "`")
	return recipe
}

// runPipelineSteps runs the steps of all CI systems in a namespace, and returns the only Job.
func runPipelineSteps(t *testing.T, u harness.User, ns string, environment []string) batchv1.Job {
	t.Helper()
	steps, end := pipelineSteps(t), "created\n"
	for _, system := range []string{"github", "gitlab", "jenkins"} {
		if !strings.Contains(steps[system], " -n ci ") {
			t.Fatalf("the page has no step for %s: %q", system, steps)
		}
		script := strings.ReplaceAll(steps[system], " -n ci ", " -n "+ns+" ")
		out, code := inShell(t, u.Kubeconfig, environment, "-c", script)
		if code != 0 || harness.Placeholders(out) != "job.batch/migrate-xxxxx "+end {
			t.Errorf("%s: exit code %d, %q", system, code, out)
		}
		end = "exists (Complete)\n"
	}
	jobs, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d jobs are there, want 1: %v", len(jobs.Items), err)
	}
	return jobs.Items[0]
}

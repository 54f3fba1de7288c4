package waiting

import (
	"encoding/json"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// created is the line of a Job with this kind of Pod.
func created(pod string) string { return "job.batch/" + pod + "-xxxxx created\n" }

// The last lines of a wait for one object.
const (
	oneSucceeded = "Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished.\n"
	oneFailed    = "error: not all objects succeeded: 0 succeeded, 1 failed, 0 unfinished\n"
	oneDeleted   = "error: not all results are known: 0 succeeded, 0 failed, 0 unfinished, 1 deleted\n"
)

// ends fails the test unless a result has an exit code, the line of a Job with this kind of Pod, and a last line.
func ends(t *testing.T, r harness.Result, code int, pod, last string) {
	t.Helper()
	if r.Code != code || harness.Placeholders(r.Stdout) != created(pod) || !strings.HasSuffix(r.Stderr, last) {
		t.Errorf("exit code %d, stdout\n%s\nstderr\n%s\nwant %d, and as the last line %s", r.Code, r.Stdout, r.Stderr, code, last)
	}
}

// Formats that print the object print it after it has finished, or as it was created if its wait ends early.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, pod := range []string{succeeds, fails} {
		result := wait(t, job(pod)+configMap, "-o", "json")
		decoder, finished := json.NewDecoder(strings.NewReader(result.Stdout)), false
		for decoder.More() {
			var object batchv1.Job
			if err := decoder.Decode(&object); err != nil {
				t.Fatal(err)
			}
			finished = finished || object.Kind == "Job" && len(object.Status.Conditions) == 2 && len(object.Spec.Template.Spec.Containers) == 1
		}
		if !finished || strings.Count(result.Stdout, `"kind"`) != 2 {
			t.Errorf("stdout is\n%s\nstderr is\n%s", result.Stdout, result.Stderr)
		}
	}
	result := wait(t, job(runs), "-o", "json", "--wait-timeout=1s")
	var object batchv1.Job
	if err := json.Unmarshal([]byte(result.Stdout), &object); err != nil || object.UID == "" || result.Code != 1 {
		t.Errorf("exit code %d and %v, want 1 and the Job as it was created:\n%s", result.Code, err, result.Stdout)
	}
}

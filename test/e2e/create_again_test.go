package e2e

import (
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// After an interrupt, a repeated run with a key continues.
func TestAgainAfterAnInterruptWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	interrupted := interruptedAtFirstPost(t)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--concurrency=1", "--count=5", "--idempotency-key=k"}
	interrupted.Run(args...).Expect(t, 130, oneCreated, `.*\n`+sameAgain)
	harness.As(t, retrying.Admin()).Run(args...).Expect(t, 0, `configmap/demo-`+harness.Suffix+` exists\n(`+oneCreated+`){4}`, `.*`)
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 5 {
		t.Errorf("%d objects are there, want 5", n)
	}
}

// forbidden is the response of RBAC, which can't be a consequence of the POST itself.
var forbidden = faultproxy.Respond(http.StatusForbidden, http.Header{"Content-Type": {"application/json"}},
	`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps is forbidden: User \"x\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"y\"","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`)

// Some copies of a run without a key are refused. The advised command creates the others after the
// cause is fixed.
func TestAgainAfterAFailureAmongCopies(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	var posts atomic.Int32
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 3 {
			return forbidden
		}
		return nil
	}).Config)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--concurrency=1"}
	result := u.Run(append(args, "--count=5")...)
	result.Expect(t, 1, `(`+oneCreated+`){2}`, `.*: 2 created, 0 exist, 1 failed, 0 unknown, 2 not attempted\n.*`)
	rest := advised(t, result, `  (--count=\d+)\n`)
	u.Run(append(args, rest)...).Expect(t, 0, `(`+oneCreated+`){3}`, ``)
	expectConfigMaps(t, ns, 5)
}

// The example of a pipeline repeats a run with an unknown outcome, and finds the existing Job.
func TestExamplePipelineAfterALostResponse(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	harness.Grant(t, retrying, ns, "pipeline", []string{"create", "list", "watch"}, "jobs")
	endJobs(t, ns, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	proxy := faultproxy.New(t, retrying.User("pipeline"), firstPost(faultproxy.DropResponse))
	cmd := exec.CommandContext(t.Context(), "bash", "pipeline.sh", ns, "4f1d2e8")
	cmd.Dir, cmd.Env = harness.Root+"examples", append(harness.Environment(t, harness.As(t, proxy.Config).Kubeconfig), "PAUSES=0 0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !regexp.MustCompile(`^job.batch/migrate-`+harness.Suffix+`\n$`).Match(out) {
		t.Errorf("%v, %q", err, out)
	}
	if asked := strings.Count(stderr.String(), "the step is safe to repeat"); asked != 1 {
		t.Errorf("it has asked again %d times, want 1; stderr\n%s", asked, stderr.String())
	}
	jobs, err := harness.Clientset(t, retrying).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Errorf("%d jobs are there, want 1: %v", len(jobs.Items), err)
	}
}

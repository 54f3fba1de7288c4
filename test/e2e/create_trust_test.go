package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	firstSecret  = "0123456789abcdef0123456789abcdef"
	secondSecret = "fedcba9876543210fedcba9876543210"
)

// Without a secret, the attacker creates a Job without work first. The run takes it for its own, and prints
// that it differs. With --fail-on-difference, the run fails before it waits.
func TestDifferencesOfExistingObjects(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	harness.Grant(t, retrying, ns, "attacker-of-waits", []string{"create", "get", "list"}, "jobs")
	u, attacker := harness.As(t, retrying.Admin()), harness.As(t, retrying.User("attacker-of-waits"))
	args := []string{"create", "-n", ns, "-f", harness.File(t, "job.yaml", stateJob), "--idempotency-key=k"}
	planned := attacker.Run(append(args, "--dry-run=client", "-o", "json")...)
	forged := strings.Replace(strings.ReplaceAll(planned.Stdout, `"image": "i"`, `"image": "j"`), `"spec": {`, `"spec": {"completions": 0,`, 1)
	harness.NewShell(t, attacker.Kubeconfig).Run("kubectl", "create", "-n", ns, "-f", harness.File(t, "forged.json", forged)).
		Expect(t, 0, `job.batch/state-`+harness.Suffix+` created\n`, ``)
	name := regexp.MustCompile("state-" + harness.Suffix).FindString(planned.Stdout)
	object := `job.batch/` + name + ` -n ` + ns

	const fields = `spec\.completions, spec\.template\.spec\.containers\[0\]\.image`
	args = append(args, "--wait-timeout=2m")
	u.Run(append(args, "--wait", "--fail-on-difference")...).Expect(t, 1, ``,
		harness.Printed("error: %s exists, and differs from the input in %s", object, fields))
	finishJob(t, retrying, ns, name, time.Now(), batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	warning := harness.Printed("Warning: existing objects differ from the input: %s (%s). Something changed them, a webhook "+
		"changes such objects, or another user created them.", object, fields)
	u.Run(append(args, "--wait")...).Expect(t, 0, `job.batch/`+name+` exists \(Complete\), differs\n`, warning+`.*`)
	u.Run(append(args, "--wait", "-o", "json")...).Expect(t, 0, `.*`, warning+`.*`)
	u.Run(append(args, "--wait", "-o", "name")...).Expect(t, 0, `job.batch/`+name+`\n`, warning+`.*`)
}

// Without a secret, the ID, the name and the digest of a Secret don't depend on its data. So they don't show a
// PIN, and a changed PIN is noticed only where the Secret is read. With a secret, the digest shows the change.
func TestDataOfSecretsIsInNoID(t *testing.T) {
	t.Parallel()
	ns, other := harness.Namespace(t, retrying), harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := func(ns, pin string, more ...string) []string {
		manifest := "apiVersion: v1\nkind: Secret\nmetadata: {generateName: pin-}\nstringData: {pin: \"" + pin + "\"}\n"
		return append([]string{"create", "-n", ns, "-f", harness.File(t, "pin.yaml", manifest), "--idempotency-key=k"}, more...)
	}
	planned := func(pin string) string {
		return u.Run(args(ns, pin, "--dry-run=client", "-o", "jsonpath={.metadata}")...).Stdout
	}
	if a, b := planned("1234"), planned("4321"); a != b || !strings.Contains(a, "genname.dev/creation-digest") {
		t.Errorf("the metadata depends on the PIN, or has no digest:\n%s\n%s", a, b)
	}
	created := u.Run(args(ns, "1234")...)
	created.Expect(t, 0, `secret/pin-`+harness.Suffix+` created\n`, `.*`)
	u.Run(args(ns, "4321")...).Expect(t, 0, strings.ReplaceAll(created.Stdout, "created", "exists"), `.*`)
	u.Run(args(ns, "4321", "--fail-on-difference")...).Expect(t, 1, ``,
		`.*error: secret/pin-\w+ -n `+ns+` exists, and differs from the input in data\.pin\n`)

	secret := "--idempotency-secret-file=" + harness.File(t, "secret", firstSecret)
	u.Run(args(other, "1234", secret)...).Expect(t, 0, `secret/pin-`+harness.Suffix+` created\n`, `.*`)
	u.Run(args(other, "4321", secret)...).Expect(t, 1, ``, `.*error: nothing was created, because .*A key belongs to the input of its first run.*`)
}

// The two steps of docs/guides/create-safely.md change a secret. In each, runs with both orders of the secrets make one
// set of objects, also while a run is in progress. A run that knows only the former secret makes another set.
func TestSecretIsChanged(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := func(key string, secrets ...string) []string {
		return []string{
			"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--count=6", "--concurrency=1", "--idempotency-key=" + key,
			"--idempotency-secret-file=" + harness.File(t, "secret", strings.Join(secrets, "\n")),
		}
	}
	all := func(n int, outcome string) string {
		return fmt.Sprintf(`(configmap/demo-%s %s\n){%d}`, harness.Suffix, outcome, n)
	}
	u.Run(args("before", firstSecret)...).Expect(t, 0, all(6, "created"), `.*`)
	u.Run(args("before", firstSecret, secondSecret)...).Expect(t, 0, all(6, "exists"), `.*`)
	u.Run(args("before", secondSecret, firstSecret)...).Expect(t, 0, all(6, "exists"), `.*`)

	var posts atomic.Int32
	begun, swapped := make(chan struct{}), make(chan struct{})
	held := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 4 {
			close(begun)
			await(t, swapped)
		}
		return nil
	}).Config)
	ended := make(chan harness.Result)
	go func() { ended <- held.Run(args("between", firstSecret, secondSecret)...) }()
	<-begun
	u.Run(args("between", secondSecret, firstSecret)...).Expect(t, 0, all(3, "exists")+all(3, "created"), `.*`)
	close(swapped)
	(<-ended).Expect(t, 0, all(3, "created")+all(3, "exists"), `.*`)

	u.Run(args("after", secondSecret, firstSecret)...).Expect(t, 0, all(6, "created"), `.*`)
	u.Run(args("after", firstSecret, secondSecret)...).Expect(t, 0, all(6, "exists"), `.*`)
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 18 {
		t.Errorf("%d objects are there, want 18", n)
	}
	u.Run(args("after", firstSecret)...).Expect(t, 0, all(6, "created"), `.*the run ignores 6 objects with its label.*`)
}

const stateJob = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: state-}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`

// finishJob writes the status of a Job as the Job controller does, unless the Job was deleted.
func finishJob(t *testing.T, cp *controlplane.ControlPlane, ns, name string, ended time.Time, before, end batchv1.JobConditionType) {
	t.Helper()
	at := metav1.NewTime(ended)
	status := batchv1.JobStatus{StartTime: &at}
	if end == batchv1.JobComplete {
		status.CompletionTime, status.Succeeded = &at, 1
	}
	for _, condition := range []batchv1.JobConditionType{before, end} {
		status.Conditions = append(status.Conditions,
			batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	// A test can end before the response arrives, because the plugin's watch has seen the end of the Job.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = harness.Clientset(t, cp).BatchV1().Jobs(ns).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

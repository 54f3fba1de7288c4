package waiting

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// created matches the line of a Job with this kind of Pod.
func created(pod string) string { return `job\.batch/` + pod + `-` + harness.Suffix + ` created\n` }

// counts is "%d succeeded, %d failed, %d unfinished" with numbers.
func counts(succeeded, failed, running int) string {
	return fmt.Sprintf("%d succeeded, %d failed, %d unfinished", succeeded, failed, running)
}

func waited(objects string, counts string) string {
	return harness.Printed("Waited for %s: %s.", objects, counts)
}

func notWaited(why, counts string) string { return harness.Printed("error: %s: %s", why, counts) }

const backoff = ` \(BackoffLimitExceeded\): Job has reached the specified backoff limit`

// notWithin matches "not all objects finished within --wait-timeout=%s".
var notWithin = strings.TrimSuffix(harness.Printed("not all objects finished within --wait-timeout=%s", `\w+`), `\n`)

// failed matches the lines of a Job that has failed.
func failed() string {
	return harness.Printed("error: %s has failed%s\n  %s", `job\.batch/fails-`+harness.Suffix, backoff,
		`kubectl logs job/fails-`+harness.Suffix+` -n e2e-`+harness.Suffix)
}

// Jobs finish, and the exit code agrees with their results.
func TestJobs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		input, stdout, stderr string
		code                  int
	}{
		"one succeeds":     {job(succeeds), created(succeeds), waited("1 object", counts(1, 0, 0)), 0},
		"one fails":        {job(fails), created(fails), failed() + notWaited("not all objects succeeded", counts(0, 1, 0)), 5},
		"of each":          {job(fails) + job(succeeds), created(fails) + created(succeeds), failed() + notWaited("not all objects succeeded", counts(1, 1, 0)), 5},
		"beside others":    {configMap + job(succeeds), `configmap/settings-` + harness.Suffix + ` created\n` + created(succeeds), waited("1 object", counts(1, 0, 0)), 0},
		"beside a failure": {"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: BAD}\n" + job(succeeds), created(succeeds), `(?s:.*)is invalid(?s:.*)` + waited("1 object", counts(1, 0, 0)), 1},
		"a TTL of zero":    {job(succeeds, "ttlSecondsAfterFinished: 0"), created(succeeds), waited("1 object", counts(1, 0, 0)), 0},
		"a deadline": {
			job(runs, "activeDeadlineSeconds: 1"), created(runs),
			`error: job\.batch/runs-` + harness.Suffix + ` has failed \(DeadlineExceeded\): Job was active longer than specified deadline\n` +
				`Kubernetes has deleted the unfinished Pods of this Job, and their logs\.\n  kubectl describe job/runs-` + harness.Suffix + ` -n [^\n]*\n` +
				notWaited("not all objects succeeded", counts(0, 1, 0)), 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait(t, test.input).Expect(t, test.code, test.stdout, test.stderr)
		})
	}
}

// A Job that does not finish in time continues to run. With a key, the same command waits again and gets the result.
func TestOutOfTimeAndAgain(t *testing.T) {
	t.Parallel()
	u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
	for _, timeout := range []string{"0", "1s"} {
		result := waitIn(u, ns, job(runs), "--idempotency-key=k", "--wait-timeout="+timeout)
		result.Expect(t, 1, `job\.batch/runs-`+harness.Suffix+` (created|exists \(Running\))\n`, `(?s:.*)`+
			harness.Printed("These objects have not finished:\n%s", `  kubectl get --watch job\.batch/runs-[^\n]*`)+`  kubectl describe job\.batch/runs-[^\n]*\n`+
			harness.Printed("Run the same command again. It creates nothing twice, and goes on waiting.")+notWaited(notWithin, counts(0, 0, 1)))
	}
	jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
	list, err := jobs.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(list.Items), err)
	}
	time.AfterFunc(time.Second, func() { // its Pod ends
		pods := harness.Clientset(t, server).CoreV1().Pods(ns)
		patch := []byte(`{"metadata":{"labels":{"genname.test/pod":null}}}`)
		for ; t.Context().Err() == nil; time.Sleep(100 * time.Millisecond) { // a busy controller creates the Pod late
			found, err := pods.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(found.Items) == 0 {
				continue
			}
			if _, err := pods.Patch(t.Context(), found.Items[0].Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err == nil {
				return
			}
		}
	})
	for range 2 { // while it runs, and after it has finished
		waitIn(u, ns, job(runs), "--idempotency-key=k").Expect(t, 0,
			`job\.batch/`+list.Items[0].Name+` exists \((Running|Complete)\)\n`, `(?s:.*)`+waited("1 object", counts(1, 0, 0)))
	}
	waitIn(u, ns, job(runs), "--wait-timeout=0").Expect(t, 1, created(runs), `(?s:.*)`+
		harness.Printed("Don't run the command again to go on waiting. It would create the objects a second time.")+harness.Printed("A run with --idempotency-key can be repeated unchanged.")+`error: [^\n]*\n`)
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

// --for sets the condition. The command can then wait for other resource types, and for Pods that restart.
func TestFor(t *testing.T) {
	t.Parallel()
	pod := "---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, labels: {genname.test/pod: runs}}\n" +
		"spec: {nodeName: kwok, containers: [{name: main, image: x}]}\n"
	service := "---\napiVersion: v1\nkind: Service\nmetadata: {generateName: s-}\nspec: {ports: [{port: 80}]}\n"
	for _, test := range []struct {
		input string
		args  []string
		code  int
		last  string
	}{
		{pod, []string{"--for=condition=Ready"}, 0, waited("1 object", counts(1, 0, 0))},
		{pod, []string{"--for=jsonpath={.status.phase}=Running", "--for=condition=ready=true"}, 0, waited("1 object", counts(1, 0, 0))},
		{service + job(succeeds), []string{"--for=jsonpath=.metadata.name"}, 0, waited("2 objects", counts(2, 0, 0))},
		{job(fails), []string{"--for=condition=Complete"}, 5, notWaited("not all objects succeeded", counts(0, 1, 0))},
		{job(fails), []string{"--for=condition=Failed"}, 0, waited("1 object", counts(1, 0, 0))},
		{job(succeeds), []string{"--for=condition=Failed"}, 5, harness.Printed("error: %s has succeeded without meeting --for\n  %s", `job\.batch/succeeds-`+harness.Suffix, `kubectl get [^\n]* -o yaml`) + notWaited("not all objects succeeded", counts(0, 1, 0))},
		{job(runs), []string{"--for=condition=Complete", "--wait-timeout=1s"}, 1, notWaited(notWithin, counts(0, 0, 1))},
	} {
		wait(t, test.input, test.args...).Expect(t, test.code, `(?s:.*)created\n`, `(?s:.*)`+test.last)
	}
}

// A suspended Job counts as running, and the command prints that it is suspended, even if no controller has written so.
func TestSuspended(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"suspend: true", "managedBy: example.com/nobody\n  suspend: true"} {
		u := harness.As(t, server.Admin())
		ctx, interrupt := context.WithCancel(t.Context())
		u.Context, u.OnStderr = ctx, func(all string) {
			if strings.Contains(all, " is suspended. ") {
				interrupt()
			}
		}
		waitIn(u, harness.Namespace(t, server), job(succeeds, more)).Expect(t, 130, created(succeeds),
			harness.Printed("%s is suspended. The wait goes on until it is resumed and has finished.", `job\.batch/[^ ]*`)+`(?s:.*)`+`  kubectl get --watch [^\n]*  # suspended\n`+
				`(?s:.*)`+notWaited("interrupted", counts(0, 0, 1)+` \(1 suspended\)`)+
				harness.Printed("To stop the object, delete it:\n  kubectl delete %s -n %s", `job\.batch/[^ ]*`, `[^\n]*`))
	}
}

// With a key and a TTL, a warning comes before the create.
func TestExpiring(t *testing.T) {
	t.Parallel()
	result := wait(t, job(succeeds, "ttlSecondsAfterFinished: 1"), "--idempotency-key=k")
	result.Expect(t, 0, created(succeeds), `Warning: `+harness.Printed("%s with ttlSecondsAfterFinished are deleted after they finish. A later run with this key creates them again.", `jobs\.batch`)+`(?s:.*)`+waited("1 object", counts(1, 0, 0)))
}

// An object that is deleted or replaced before it has finished is no success.
func TestDeletedAndReplaced(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
	for _, replace := range []bool{false, true} {
		done := make(chan error, 1)
		go func() {
			done <- onceThere(t.Context(), jobs.List, func(found *batchJob) error {
				err := jobs.Delete(t.Context(), found.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
				if err == nil && replace {
					next := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: found.Name}, Spec: batchv1.JobSpec{Template: found.Spec.Template, Suspend: new(true)}}
					next.Spec.Template.Labels = nil
					_, err = jobs.Create(t.Context(), next, metav1.CreateOptions{})
				}
				return err
			})
		}()
		result := waitIn(harness.As(t, server.Admin()), ns, job(runs))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ending := harness.Printed("If you run the command again, it creates the objects again.") + notWaited("not all results are known", `[^\n]*, 1 deleted`)
		if !replace {
			result.Expect(t, 1, created(runs), harness.Printed("error: %s was deleted before its result was known")+ending)
			continue
		}
		// The watch can report the deletion before the other object exists.
		result.Expect(t, 1, created(runs), `(`+harness.Printed("error: %s was deleted before its result was known, and another object has its name\n  kubectl get %s")+`|`+harness.Printed("error: %s was deleted before its result was known")+`)`+ending)
	}
}

// batchJob is a Job.
type batchJob = batchv1.Job

// onceThere calls do with the first running Job of a namespace.
func onceThere(
	ctx context.Context, list func(context.Context, metav1.ListOptions) (*batchv1.JobList, error), do func(*batchJob) error,
) error {
	for ctx.Err() == nil {
		found, err := list(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(found.Items) > 0 && found.Items[0].Status.Active > 0 {
			return do(&found.Items[0])
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}

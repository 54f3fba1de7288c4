package e2e

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const stateJob = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: state-}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`

// finishJob writes the status of a Job as the Job controller does.
func finishJob(t *testing.T, cp *controlplane.ControlPlane, ns, name string, before, end batchv1.JobConditionType) {
	t.Helper()
	jobs, now := harness.Clientset(t, cp).BatchV1().Jobs(ns), metav1.Now()
	// A test can end before the response arrives, because the plugin's watch has seen the end of the Job.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	job, err := jobs.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	job.Status.StartTime = &now
	if end == batchv1.JobComplete {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
	}
	for _, condition := range []batchv1.JobConditionType{before, end} {
		job.Status.Conditions = append(job.Status.Conditions,
			batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if _, err := jobs.UpdateStatus(ctx, job, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// An object that exists is printed with its state, if its type has one.
func TestCreateWithAKeyPrintsTheState(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	input := harness.File(t, "in.yaml", stateJob+"---"+configMap)
	args := []string{"create", "-n", ns, "-f", input, "--idempotency-key=k", "--count=3"}
	created := u.Run(args...)
	created.Expect(t, 0, `(job.batch/state-`+harness.Suffix+` created\n){3}(`+oneCreated+`){3}`, `.*`)
	names := regexp.MustCompile(`state-\S+`).FindAllString(created.Stdout, -1)
	finishJob(t, retrying, ns, names[0], batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	finishJob(t, retrying, ns, names[1], batchv1.JobFailureTarget, batchv1.JobFailed)
	again := u.Run(args...)
	again.Expect(t, 0, `(job.batch/state-\w+ exists \(\w+\)\n){3}(configmap/demo-\w+ exists\n){3}`, closing(ns, "configmaps,jobs.batch", "k"))
	for i, state := range []string{"Complete", "Failed", "Running"} {
		if want := "job.batch/" + names[i] + " exists (" + state + ")\n"; !strings.Contains(again.Stdout, want) {
			t.Errorf("%q is not in\n%s", want, again.Stdout)
		}
	}
	if strings.Contains(again.Stderr, "delete") {
		t.Errorf("a run in which all was well suggests to delete:\n%s", again.Stderr)
	}
	u.Run(append(args, "-o", "name")...).Expect(t, 0, `(job.batch/state-\w+\n){3}(configmap/demo-\w+\n){3}`, `.*`)

	// A state needs permission to get the object. Without it, the object exists.
	harness.Grant(t, retrying, ns, "no-states", []string{"create", "list"}, "jobs", "configmaps")
	harness.As(t, retrying.User("no-states")).Run(args...).Expect(t, 0, `(job.batch/state-\w+ exists\n){3}(configmap/demo-\w+ exists\n){3}`, `.*`)
}

// Only the states of the first objects are read.
func TestCreateWithAKeyPrintsTheFirstStates(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", stateJob), "--idempotency-key=k", "--count=23"}
	u.Run(args...)
	again := u.Run(args...)
	states, all := strings.Count(again.Stdout, " exists (Running)\n"), strings.Count(again.Stdout, " exists")
	if states != create.MaxStates || all != 23 || again.Code != 0 {
		t.Errorf("%d of %d have a state, want %d of 23:\n%+v", states, all, create.MaxStates, again)
	}
}

// A client dry run with a key prints how to list the objects of the run.
func TestCreateDryRunPrintsTheSelector(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=k", "--dry-run=client"}
	u.Run(args...).Expect(t, 0, `configmap/demo-`+harness.Suffix+` created \(dry run\)\n`, closing(ns, "configmaps", "k"))
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 0 {
		t.Errorf("%d objects are there, want none", n)
	}
}

// A changed manifest with a used key is refused. The message has the paths of the changed fields,
// without values, and the command that lists the existing objects.
func TestCreateWithAKeyOfAChangedManifest(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	const job = stateJob + "  backoffLimit: 2\n"
	args := func(text string) []string {
		return []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", text), "--idempotency-key=k"}
	}
	name := strings.Fields(u.Run(args(job)...).Stdout)[0]
	for _, test := range []struct{ name, from, to, cause string }{
		{"one field", "image: i}", "image: s3cret}", harness.Printed("%s in the input differs from %s in these fields, or a field was removed:\n%s", "job.batch/state-", name+" -n "+ns, `  spec\.template\.spec\.containers\[0\]\.image`)},
		{"several", "backoffLimit: 2", "{parallelism: 3, completions: 4, backoffLimit: 5, activeDeadlineSeconds: 6}", ""},
		{"a removed field", "  backoffLimit: 2\n", "", harness.Printed("A field was removed from %s in the input. All other fields are the same in %s.", "job.batch/state-", name+" -n "+ns)},
		{"a quantity and a field", "name: c, image: i}", `name: c, image: i, resources: {limits: {cpu: 1000m}}}`, harness.Printed("%s in the input differs from %s in these fields, or a field was removed:\n%s", "job.batch/state-", name+" -n "+ns, `  spec\.template\.spec\.containers\[0\]\.resources\.limits`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			u.T = t
			changed := strings.ReplaceAll(job, test.from, test.to)
			if test.cause == "" {
				changed = strings.ReplaceAll(job, "  backoffLimit: 2\n", "  parallelism: 3\n  completions: 4\n  backoffLimit: 5\n  activeDeadlineSeconds: 6\n")
				test.cause = harness.Printed("%s in the input differs from %s in these fields, or a field was removed:\n%s", "job.batch/state-", name+" -n "+ns,
					`  spec\.activeDeadlineSeconds\n  spec\.backoffLimit\n  spec\.completions`)
			}
			r := u.Run(args(changed)...)
			r.Expect(t, 1, ``, closing(ns, "jobs.batch", "k")+
				harness.Printed("error: "+"the key was used for a different input, so nothing was created. Earlier runs with the key created %s from documents that are not in this input: %s\n%s\nRun the command with the earlier input.", "1 object", `jobs.batch/`+strings.TrimPrefix(name, "job.batch/")+` -n `+ns, strings.TrimSuffix(test.cause, `\n`)))
			if strings.Contains(r.Stderr, "s3cret") {
				t.Errorf("stderr has a value:\n%s", r.Stderr)
			}
		})
	}
}

// The same holds for an object with a fixed name, which the changed manifest has, too.
func TestCreateWithAKeyOfAChangedFixedName(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := func(data string) []string {
		text := strings.ReplaceAll(configMap, "generateName: demo-", "name: own") + "data: {a: " + data + "}\n"
		return []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", text), "--idempotency-key=k"}
	}
	u.Run(args("b")...).Expect(t, 0, `configmap/own created\n`, `.*`)
	u.Run(args("c")...).Expect(t, 1, ``, closing(ns, "configmaps", "k")+harness.Printed("error: "+"the key was used for a different input, so nothing was created. Earlier runs with the key created %s from documents that are not in this input: %s\n%s\nRun the command with the earlier input.",
		"1 object", "configmaps/own -n "+ns, strings.TrimSuffix(harness.Printed("%s in the input differs from %s in these fields, or a field was removed:\n%s", "configmap/own", "configmap/own -n "+ns, `  data\.a`), `\n`)))
}

// Names in another namespace are printed with the flag that the next command needs.
func TestCreateNamesInAnotherNamespace(t *testing.T) {
	t.Parallel()
	ns, other := harness.Namespace(t, retrying), harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	in := func(namespaces ...string) string {
		text := ""
		for _, namespace := range namespaces {
			text += "---" + strings.ReplaceAll(configMap, "metadata: {", "metadata: {namespace: "+namespace+", ")
		}
		return harness.File(t, "in.yaml", text)
	}
	u.Run("create", "-o", "name", "-f", in(ns)).Expect(t, 0, `configmap/demo-\w+\n`, harness.Printed("The objects are not in the current namespace. Use this flag with the printed names:\n  -n %s", ns))
	u.Run("create", "-o", "name", "-f", in(ns, other)).Expect(t, 0, `(configmap/demo-\w+\n){2}`, harness.Printed("The names are in several namespaces. Print them with their namespaces:\n"+`  -o jsonpath='{.kind}/{.metadata.name} -n {.metadata.namespace}{"\n"}'`))
	u.Run("create", "-o", "name", "-f", in(ns), "-n", ns).Expect(t, 0, `configmap/demo-\w+\n`, ``)
}

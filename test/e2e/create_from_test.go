package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The longest name of a CronJob has 52 bytes. Its generateName has 57.
var longestCronJob = strings.Repeat("n", 52)

// cronJobs have different templates. The first sets nothing that it need not set, and one is suspended.
var cronJobs = map[string]string{
	"plain": `{schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}`,
	longestCronJob: `
  schedule: "*/5 * * * *"
  timeZone: Etc/UTC
  suspend: true
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 1
  jobTemplate:
    metadata:
      labels: {app: nightly, app.kubernetes.io/managed-by: Helm}
      annotations: {cronjob.kubernetes.io/instantiate: by-template, note: "of the template"}
    spec:
      activeDeadlineSeconds: 600
      backoffLimit: 2
      completions: 3
      parallelism: 2
      ttlSecondsAfterFinished: 100
      podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}
      template:
        metadata: {labels: {app: nightly}, annotations: {sidecar.istio.io/inject: "false"}}
        spec:
          restartPolicy: Never
          serviceAccountName: backup
          initContainers: [{name: init, image: i}, {name: proxy, image: i, restartPolicy: Always}]
          containers:
          - name: main
            image: example.com/main@sha256:0000000000000000000000000000000000000000000000000000000000000000
            command: [sh, -c, "echo $(DATE)"]
            env: [{name: DATE, value: today}, {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]
            resources: {requests: {cpu: 0.5, memory: 1Gi}, limits: {memory: 1073741824}}
            volumeMounts: [{name: data, mountPath: /data}]
          volumes: [{name: data, emptyDir: {sizeLimit: 0.5Gi}}]
          tolerations: [{key: batch, operator: Exists}]
`,
}

// withCronJobs creates the CronJobs in a new namespace.
func withCronJobs(t *testing.T) (namespace string) {
	t.Helper()
	ns, u := harness.Namespace(t, retrying), harness.As(t, retrying.Admin())
	for name, spec := range cronJobs {
		manifest := fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: %s}\nspec: %s", name, spec)
		u.Run("create", "-n", ns, "-f", harness.File(t, name+".yaml", manifest)).Outputs(t, "cronjob.batch/"+name+" created\n")
	}
	return ns
}

// A Job of --from is the Job of "kubectl create job --from", but for its name, and for what the server
// derives from name, UID and time.
func TestCreateFromCronJob(t *testing.T) {
	t.Parallel()
	ns := withCronJobs(t)
	u := harness.As(t, retrying.Admin())
	sh := harness.NewShell(t, u.Kubeconfig)
	for name := range cronJobs {
		for i, source := range []string{"cronjob/", "cj/", "cronjobs.batch/", "cronjobs.v1.batch/"} {
			kubectls := fmt.Sprintf("by-kubectl-%d-%d", i, len(name))
			want := sh.Run("kubectl", "create", "job", kubectls, "--from", source+name, "-n", ns, "-o", "json")
			got := u.Run("create", "--from", source+name, "-n", ns, "-o", "json")
			if want.Code != 0 || got.Code != 0 || got.Stderr != "" {
				t.Fatalf("%s: %d %s, kubectl %d %s", source+name, got.Code, got.Stderr, want.Code, want.Stderr)
			}
			job := decoded(t, got.Stdout)
			if prefix := name + "-run-"; job.GenerateName != prefix || !strings.HasPrefix(job.Name, prefix) || len(job.Name) != len(prefix)+5 {
				t.Errorf("%s has generateName %s", job.Name, job.GenerateName)
			}
			if diff := cmp.Diff(withoutIdentity(t, decoded(t, want.Stdout)), withoutIdentity(t, job)); diff != "" {
				t.Errorf("%s (-kubectl +plugin):\n%s", source+name, diff)
			}
		}
	}
}

func decoded(t *testing.T, text string) (job *batchv1.Job) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return job
}

// withoutIdentity returns the fields of a Job without its identity.
func withoutIdentity(t *testing.T, job *batchv1.Job) (fields map[string]any) {
	t.Helper()
	name, uid := job.Name, string(job.UID)
	job.GenerateName, job.ResourceVersion, job.ManagedFields, job.CreationTimestamp = "", "", nil, metav1.Time{}
	delete(job.Annotations, exactlyonce.Annotation)
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.NewReplacer(`"`+name+`"`, `"NAME"`, uid, "UID").Replace(string(text)))
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// A client's dry run prints the Job of kubectl's, too.
func TestCreateFromCronJobWithFlags(t *testing.T) {
	t.Parallel()
	ns := withCronJobs(t)
	u := harness.As(t, retrying.Admin())
	create := func(args ...string) harness.Result {
		return u.Run(append([]string{"create", "-n", ns, "--from=cronjob/plain"}, args...)...)
	}
	want := harness.NewShell(t, u.Kubeconfig).Run("kubectl", "create", "job", "NAME", "-n", ns, "--from=cronjob/plain", "--dry-run=client", "-o", "yaml").Stdout
	want = strings.Replace(want, "  name: NAME\n", "  generateName: plain-run-\n", 1)
	create("--dry-run=client", "-o", "yaml", "--naming=server").Prints(t, 0, want, "")
	create("--dry-run=server").Prints(t, 0, "job.batch/plain-run-xxxxx created (server dry run)\n", "")
	create("--count=3", "-o", "name").Prints(t, 0, strings.Repeat("job.batch/plain-run-xxxxx\n", 3), "")
}

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	firstSecret  = "0123456789abcdef0123456789abcdef"
	secondSecret = "fedcba9876543210fedcba9876543210"
)

// The attacker can create, get and list in the namespace. With a secret, no object of the attacker counts
// for a run, and the run creates its own. The attacker knows the key and the manifest, and has read the
// run's objects.
func TestAttackerAgainstASecret(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	harness.Grant(t, retrying, ns, "attacker", []string{"create", "get", "list"}, "jobs", "configmaps")
	u, attacker := harness.As(t, retrying.Admin()), harness.As(t, retrying.User("attacker"))
	forge := harness.NewShell(t, attacker.Kubeconfig)
	input := harness.File(t, "job.yaml", job)
	withKey := []string{"create", "-n", ns, "-f", input, "--idempotency-key=commit-1"}
	withSecret := append(slices.Clone(withKey), "--idempotency-secret-file="+harness.File(t, "secret", firstSecret+"\n"))

	// The name and the ID without a secret are known before the first run.
	planned := attacker.Run(append(withKey, "--dry-run=client", "-o", "json")...)
	planted := harness.File(t, "planted.json", strings.ReplaceAll(planned.Stdout, `"image": "i"`, `"image": "another"`))
	forge.Run("kubectl", "create", "-n", ns, "-f", planted).Expect(t, 0, `job.batch/report-`+harness.Suffix+` created\n`, ``)
	if r := attacker.Run(append(withKey, "--dry-run=client", "-o", "name", "--idempotency-secret-file="+harness.File(t, "guess", secondSecret))...); !strings.Contains(r.Stdout, "report-<secret>") {
		t.Errorf("a dry run with a secret prints %q", r.Stdout)
	}
	r := u.Run(withSecret...)
	r.Expect(t, 0, `job.batch/report-`+harness.Suffix+` created\n`, harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or an earlier run used another secret or none. This run creates its own objects. If the secret was changed, and has not leaked, add the former one as the second line of the secret's file.", "1 object", `jobs.batch/report-`+harness.Suffix+` -n `+ns)+`.*`)
	name := strings.TrimSuffix(strings.TrimPrefix(r.Stdout, "job.batch/"), " created\n")

	// The ID and the label of the run's object are copied to another name.
	read := func(field string) string {
		return forge.Run("kubectl", "get", "job", name, "-n", ns, "-o", "jsonpath={.metadata."+field+"}").Stdout
	}
	id, label := read(`annotations.genname\.dev/creation-id`), read(`labels.genname\.dev/run`)
	if !strings.HasPrefix(id, "v1s-") {
		t.Fatalf("the ID is %q", id)
	}
	copied := harness.File(t, "copied.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: copied\n"+
		"  annotations: {genname.dev/creation-id: "+id+"}\n  labels: {genname.dev/run: "+label+"}\n")
	forge.Run("kubectl", "create", "-n", ns, "-f", copied).Expect(t, 0, `configmap/copied created\n`, ``)
	u.Run(withSecret...).Expect(t, 0, `job.batch/`+name+` exists \(Running\)\n`, `.*`)
	both := harness.File(t, "both.yaml", job+"---"+configMap)
	withBoth := append([]string{"create", "-n", ns, "-f", both}, withSecret[5:]...)
	u.Run(withBoth...).Expect(t, 0, `job.batch/`+name+` exists \(Running\)\nconfigmap/demo-`+harness.Suffix+` created\n`,
		harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or an earlier run used another secret or none. This run creates its own objects. If the secret was changed, and has not leaked, add the former one as the second line of the secret's file.", "2 objects", `configmaps/copied -n `+ns)+`.*`)

	// An object without an ID takes a fixed name. The message has no ID that the attacker could copy.
	const own = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n"
	forge.Run("kubectl", "create", "-n", ns, "-f", harness.File(t, "own.yaml", own)).Expect(t, 0, `configmap/own created\n`, ``)
	withOwn := harness.File(t, "with-own.yaml", job+"---"+configMap+"---\n"+own)
	r = u.Run(append([]string{"create", "-n", ns, "-f", withOwn}, withSecret[5:]...)...)
	if r.Code != 1 || !strings.Contains(r.Stderr, "kubectl delete") || strings.Contains(r.Stdout+r.Stderr, "v1s-") {
		t.Errorf("%+v", r)
	}
}

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
		closing(ns, "jobs.batch", "k")+harness.Printed("error: %s exists, and differs from the input in %s", object, fields))
	finishJob(t, retrying, ns, name, time.Now(), batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	warning := harness.Printed("Warning: existing objects differ from the input: %s (%s). Something changed them, a webhook "+
		"changes such objects, or another user created them.", object, fields)
	u.Run(append(args, "--wait")...).Expect(t, 0, `job.batch/`+name+` exists \(Complete\), differs\n`, warning+`.*`)
	u.Run(append(args, "--wait", "-o", "json")...).Expect(t, 0, `.*`, warning+`.*`)
	u.Run(append(args, "--wait", "-o", "name")...).Expect(t, 0, `job.batch/`+name+`\n`, warning+`.*`)
}

// The secret is missing, changed, or on the second line of the file, or only one of two runs has it. No run creates objects again without a word.
func TestSecretsOfRuns(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	const created, exists = oneCreated, `configmap/demo-` + harness.Suffix + ` exists\n`
	object := `configmaps/demo-` + harness.Suffix + ` -n ` + ns
	ignores := harness.Printed("Warning: the run ignores %s with its label, like %s. Another user created the object, or an "+
		"earlier run used another secret or none. This run creates its own objects. If the secret was changed, and has not "+
		"leaked, add the former one as the second line of the secret's file.", "1 object", object) + `.*`
	another := harness.Printed("error: nothing was created, because %s says that it was created with the key and a secret.\n"+
		"If your runs use a secret, give it with --idempotency-secret-file. Otherwise another user created the object: "+
		"delete it, or have it deleted.", object)
	for _, run := range []struct {
		name, key, secret string // no flag without a secret
		code              int
		stdout, stderr    string
		objects           int // of all runs so far
	}{
		{"the first run", "k", firstSecret, 0, created, `.*`, 1},
		{"missing", "k", "", 1, ``, `.*` + another, 1},
		{"rotated", "k", secondSecret + "\n" + firstSecret + "\n", 0, exists, `.*`, 1},
		{"the former one is forgotten", "k", secondSecret, 0, created, ignores, 2},
		{"both exist as after a copy", "k", secondSecret + "\n" + firstSecret, 0, exists, ignores, 2},
		{"two former ones and a new one", "k", "a-third-" + firstSecret + "\n" + secondSecret + "\n" + firstSecret, 1, ``, `.*different secrets.*`, 2},
		{"without a secret first", "other", "", 0, created, `.*`, 3},
		{"with one later", "other", firstSecret, 0, created, ignores, 4},
		{"and without one again", "other", "", 0, exists, `.*`, 4},
	} {
		args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=" + run.key}
		if run.secret != "" {
			args = append(args, "--idempotency-secret-file="+harness.File(t, "secret", run.secret))
		}
		u.Run(args...).Expect(t, run.code, run.stdout, run.stderr)
		if n := len(harness.ConfigMaps(t, retrying, ns)); n != run.objects || t.Failed() {
			t.Fatalf("%s: %d objects are there, want %d", run.name, n, run.objects)
		}
	}
}

// Another user floods the prefix with objects without IDs, some with the run's label. A run with a key has names
// of another length, so it meets none of them. It warns of those with its label, and creates its object once.
func TestFloodUnderThePrefix(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	maps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns)
	for i := range 30 {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"}}
		if i < 20 {
			object.Labels = map[string]string{exactlyonce.RunLabel: idempotency.Key([]string{"plain", "secret"}[i%2]).RunLabel()}
		}
		if _, err := maps.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	u := harness.As(t, retrying.Admin())
	ignores := `Warning: the run ignores 10 objects with its label, like configmaps/demo-\w{5} -n ` + ns + `\. [^\n]*\n`
	for key, secret := range map[string][]string{
		"plain": nil, "secret": {"--idempotency-secret-file=" + harness.File(t, "secret", firstSecret)},
	} {
		args := append([]string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=" + key}, secret...)
		first := u.Run(args...)
		first.Expect(t, 0, `configmap/demo-\w{10} created\n`, ignores+`.*`)
		u.Run(args...).Expect(t, 0, strings.ReplaceAll(first.Stdout, "created", "exists"), ignores+`.*`)
	}
}

// The same key, secret and namespace in two clusters give the same name and ID. Another user reads them in
// one cluster, and creates the object in the other one first. A key with the environment prevents this.
// A backup tool that restores an object without its generateName does the same: the run finds it.
func TestOneSecretInTwoClusters(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	if _, err := harness.Clientset(t, single).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	input, secret := harness.File(t, "in.yaml", configMap), "--idempotency-secret-file="+harness.File(t, "secret", firstSecret)
	args := func(key string) []string {
		return []string{"create", "-n", ns, "-f", input, secret, "--idempotency-key=" + key}
	}
	harness.As(t, single.Admin()).Run(args("migrate")...).Expect(t, 0, oneCreated, `.*`)
	read := harness.ConfigMaps(t, single, ns)[0]
	read.UID, read.ResourceVersion, read.GenerateName, read.Data = "", "", "", map[string]string{"a": "forged"}
	if _, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns).Create(t.Context(), &read, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u := harness.As(t, retrying.Admin())
	u.Run(args("migrate")...).Expect(t, 0, `configmap/`+read.Name+` exists\n`, `.*`)
	u.Run(args("prod-migrate")...).Expect(t, 0, oneCreated, `.*`)
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

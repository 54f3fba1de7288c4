package logs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const job = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: migrate-}
spec:
  backoffLimit: 1
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
`

// theJob waits for the Job of a namespace.
func theJob(t *testing.T, namespace string) (found *batchv1.Job) {
	t.Helper()
	harness.Eventually(t, func() error {
		jobs, err := onNode(t).client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items) == 0 {
			return fmt.Errorf("no Job: %w", err)
		}
		found = &jobs.Items[0]
		return nil
	})
	return found
}

// podOf creates a Pod as the Job controller does.
func podOf(t *testing.T, owner *batchv1.Job) *pod {
	t.Helper()
	controller := metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("Job"))
	return newPodOf(t, owner.Namespace, owner.Name, []metav1.OwnerReference{*controller}, owner.Spec.Template.Spec.Containers[0].Name)
}

// finish completes a Job.
func finish(t *testing.T, owner *batchv1.Job) {
	t.Helper()
	if err := harness.FinishJob(t.Context(), onNode(t).client, owner, batchv1.JobComplete, time.Now()); err != nil {
		t.Error(err)
	}
}

// create runs create --wait --logs in another goroutine.
func create(t *testing.T, namespace, manifest string, args ...string) <-chan harness.Result {
	t.Helper()
	u, input, result := harness.As(t, onNode(t).Admin()), harness.File(t, "in.yaml", manifest), make(chan harness.Result, 1)
	go func() {
		result <- u.Run(append([]string{"create", "-n", namespace, "-f", input, "--wait", "--logs"}, args...)...)
	}()
	return result
}

// The logs of a Job are on stderr, with those of the Pod that replaces a failed one. They end before the result.
func TestCreate(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	result := create(t, ns, job, "-o", "name")
	owner := theJob(t, ns)
	first := podOf(t, owner)
	first.runsAlone(2, "step 1", "\x1b[31mno\x1b[0m")
	second := podOf(t, owner)
	second.runsAlone(0, texts("line", 200)...)
	finish(t, owner)

	var want strings.Builder
	for _, line := range texts("line", 200) {
		fmt.Fprintf(&want, "[pod/%s/main] %s\n", second.name, line)
	}
	got := <-result
	// The lines of the first Pod can be between lines of the second Pod. Then the lines have names, too.
	for _, line := range []string{
		`step 1\n`, `\\u001b\[31mno\\u001b\[0m\n`, `pod/` + first.name + ` has failed.\n  main ended with exit code 2.\n(  Its last lines \(2\):\n.*?\n.*?\n)?`,
	} {
		found := regexp.MustCompile(`(?m)^(\[pod/` + first.name + `/main\] )?` + line).FindStringIndex(got.Stderr)
		if found == nil {
			t.Fatalf("stderr has no line %s:\n%s", line, got.Stderr)
		}
		got.Stderr = got.Stderr[:found[0]] + got.Stderr[found[1]:]
	}
	got.Expect(t, 0, `job.batch/`+owner.Name+`\n`, regexp.QuoteMeta(want.String())+
		`Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished.\n`)
}

// The logs of a Pod with several containers have their names. The end of the Pod comes after the last line. The lines
// of different containers come in any order.
func TestCreatePod(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	result := create(t, ns, `
apiVersion: v1
kind: Pod
metadata: {generateName: two-}
spec:
  nodeName: logs
  restartPolicy: Never
  initContainers: [{name: init, image: i}]
  containers: [{name: main, image: i}]
`)
	p := &pod{t: t, node: onNode(t), namespace: ns, wrote: map[string][]string{}}
	harness.Eventually(t, func() error {
		pods, err := p.node.client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) == 0 {
			return fmt.Errorf("no Pod: %w", err)
		}
		p.name = pods.Items[0].Name
		return nil
	})
	p.run("init", "ready")
	p.runsAlone(1, "a", "b")
	(<-result).Has(t, 5, "pod/two-xxxxx created\n", "[pod/two-xxxxx/init] ready\n", "[pod/two-xxxxx/main] a\n", "[pod/two-xxxxx/main] b\n",
		"pod/two-xxxxx has failed.\n  main ended with exit code 1.\n", "error: pod/two-xxxxx has failed\n  kubectl logs pod/two-xxxxx -n e2e-xxxxx\n")
}

// When the time is over, the command ends, although a Pod of the Job is being deleted and still writes lines.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, onNode(t).ControlPlane)
	result := create(t, ns, job, "--wait-timeout=10s")
	p := podOf(t, theJob(t, ns))
	p.starts("main", "a line")
	if err := p.node.client.CoreV1().Pods(ns).Delete(t.Context(), p.name, *metav1.NewDeleteOptions(3600)); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		select {
		case got := <-result:
			got.Expect(t, 1, `job.batch/migrate-`+harness.Suffix+` created\n`, `(.* a line\n)*These objects have not finished:\n(?s:.*)`)
			return
		case <-time.After(100 * time.Millisecond):
			p.write("main", 0, "a line")
		}
	}
	t.Error("the command doesn't end")
}

// The first example of README prints what README shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	recorded, manifest := harness.Read(t, "testdata/readme.txt"), harness.Read(t, harness.Root+"examples/migration.yaml")
	key := regexp.MustCompile(`--idempotency-key (\S+)`).FindStringSubmatch(recorded)[1]
	result := create(t, "default", manifest, "--idempotency-key", key)
	owner := theJob(t, "default")
	p := podOf(t, owner)
	t.Cleanup(func() { // for -count
		client, now := onNode(t).client, metav1.DeleteOptions{GracePeriodSeconds: new(int64), PropagationPolicy: new(metav1.DeletePropagationBackground)}
		if err := errors.Join(client.BatchV1().Jobs("default").Delete(context.Background(), owner.Name, now),
			client.CoreV1().Pods("default").Delete(context.Background(), p.name, now)); err != nil {
			t.Error(err)
		}
	})
	p.starts("migrate", "migrating")
	p.ends("migrate", 0, 0)
	finish(t, owner)

	command := "$ kubectl genname create -f migration.yaml --idempotency-key " + key + " --wait --logs\n"
	first := <-result
	again := <-create(t, "default", manifest, "--idempotency-key", key)
	got := command + first.Stdout + first.Stderr + command + again.Stdout + again.Stderr
	got = strings.ReplaceAll(got, p.name, regexp.MustCompile(`pod/(\S+)/migrate`).FindStringSubmatch(recorded)[1])
	if diff := cmp.Diff(recorded, got); diff != "" {
		t.Errorf("-recorded +got\n%s", diff)
	}
}

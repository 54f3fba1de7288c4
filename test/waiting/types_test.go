package waiting

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var allTypes = flag.Bool("all-types", false, "test every custom resource of --wait, and not JobSet only")

// customType is a custom resource that --wait knows. Its CRD is the one that its project publishes. Its statuses are
// like those that its controller writes.
type customType struct {
	module, crd         string
	resource            schema.GroupVersionResource
	kind, spec          string
	running, good, bad  string
	why                 string // of bad, in the message
	fact                string // of running, in the message
	withoutSubresources bool
}

const (
	tekton  = "github.com/tektoncd/pipeline@v1.6.0"
	argo    = "github.com/argoproj/argo-workflows/v3@v3.7.0"
	podName = "podName: x-pod, "
	jobSet  = "sigs.k8s.io/jobset@v0.10.1"
	kueue   = "sigs.k8s.io/kueue@v0.10.1"
	trainer = "github.com/kubeflow/trainer/v2@v2.0.0"
	mpi     = "github.com/kubeflow/mpi-operator@v0.6.0"
	ray     = "github.com/ray-project/kuberay/ray-operator@v1.3.0"
	volcano = "volcano.sh/volcano@v1.10.0"
	runners = "github.com/actions/actions-runner-controller@v0.27.6"
)

// sums are the checksums of the modules, as in a go.sum file. All of them have the Apache License 2.0.
var sums = map[string]string{
	tekton:  "h1:A+D+jzOVl2QNl/yiNT7csVgBUy2wpz6K6+/D4q5lfss=",
	argo:    "h1:TDijZztm6dLruB7yZLH+Ps4OJKRwu0YSAJ4/NvceON0=",
	jobSet:  "h1:u8QKifNsrWVrlRFe6w2ofYTqFT9ma2DRHxfeB2m9xyU=",
	kueue:   "h1:td+Nae1z9L4IrkqJKOIMsKp2TmwUAvk/hWKhSaFupwk=",
	trainer: "h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU=",
	mpi:     "h1:RzzG03oyQIiHe/SH2k19N+Hp4QkxEsG2l9G1T7US+ys=",
	ray:     "h1:c7PKkepTtkDpnAXhZVt5MxSVZC8Jh2s2BvKUvtgCwR0=",
	volcano: "h1:+GzQinGgeV0j58WpWpxByOXgF+YfUPW55zghM8GqjF0=",
	runners: "h1:Uklv1+6+/BQuhV6HoXIgPZrnAW9/HWo3j9O7IcnzGXU=",
}

// tektonCondition is the status of a run of Tekton. The CRD of TaskRuns requires more.
func tektonCondition(status, reason, message string, more ...string) string {
	return fmt.Sprintf(`{`+strings.Join(more, "")+`conditions: [{type: Succeeded, status: "%s", reason: %s, message: "%s", `+
		`lastTransitionTime: "2026-11-22T10:00:00Z"}]}`, status, reason, message)
}

var customTypes = []customType{
	{
		module: jobSet, crd: "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
		resource: schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"},
		kind:     "JobSet", spec: "{replicatedJobs: [{name: w, template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}]}",
		running: `{restarts: 0, conditions: [{type: StartupPolicyInProgress, status: "True", reason: StartupPolicyInProgress, ` +
			`message: startup policy is in progress, lastTransitionTime: "2026-11-22T10:00:00Z"}]}`,
		fact: "StartupPolicyInProgress: startup policy is in progress",
		good: `{terminalState: Completed, conditions: [{type: Completed, status: "True", reason: AllJobsCompleted, ` +
			`message: jobset completed successfully, lastTransitionTime: "2026-11-22T10:00:00Z"}]}`,
		bad: `{terminalState: Failed, conditions: [{type: Failed, status: "True", reason: FailedJobs, ` +
			`message: jobset failed due to one or more job failures, lastTransitionTime: "2026-11-22T10:00:00Z"}]}`,
		why: " (FailedJobs): jobset failed due to one or more job failures",
	},
	{
		module: tekton, crd: "config/300-crds/300-taskrun.yaml",
		resource: schema.GroupVersionResource{Group: "tekton.dev", Version: "v1", Resource: "taskruns"},
		kind:     "TaskRun", spec: "{taskRef: {name: build}}",
		running: tektonCondition("Unknown", "Running", "Not all Steps in the Task have finished executing", podName),
		fact:    "Running: Not all Steps in the Task have finished executing",
		good:    tektonCondition("True", "Succeeded", "All Steps have completed executing", podName),
		bad:     tektonCondition("False", "TaskRunTimeout", "TaskRun failed to finish within 1m0s", podName),
		why:     " (TaskRunTimeout): TaskRun failed to finish within 1m0s",
	},
	{
		module: tekton, crd: "config/300-crds/300-pipelinerun.yaml",
		resource: schema.GroupVersionResource{Group: "tekton.dev", Version: "v1", Resource: "pipelineruns"},
		kind:     "PipelineRun", spec: "{pipelineRef: {name: build}}",
		running: tektonCondition("Unknown", "Started", ""),
		good:    tektonCondition("True", "Completed", "Tasks Completed: 1 (Failed: 0, Cancelled 0), Skipped: 1"),
		bad:     tektonCondition("False", "Cancelled", "PipelineRun was cancelled"),
		why:     " (Cancelled): PipelineRun was cancelled",
	},
	{
		module: tekton, crd: "config/300-crds/300-customrun.yaml",
		resource: schema.GroupVersionResource{Group: "tekton.dev", Version: "v1beta1", Resource: "customruns"},
		kind:     "CustomRun", spec: "{customRef: {apiVersion: example.com/v1, kind: Approval}}",
		running: `{conditions: []}`,
		good:    tektonCondition("True", "Approved", "approved"),
		bad:     tektonCondition("False", "CustomRunTimedOut", "timed out"),
		why:     " (CustomRunTimedOut): timed out",
	},
	{
		module: argo, crd: "manifests/base/crds/minimal/argoproj.io_workflows.yaml",
		resource: schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"},
		kind:     "Workflow", spec: "{entrypoint: main, templates: [{name: main, container: {image: x}}]}",
		running: `{phase: Running, progress: 0/1}`,
		good:    `{phase: Succeeded, progress: 1/1, conditions: [{type: Completed, status: "True"}]}`,
		bad:     `{phase: Error, message: pods is forbidden}`,
		why:     ": pods is forbidden", withoutSubresources: true,
	},
	{
		module: kueue, crd: "config/components/crd/bases/kueue.x-k8s.io_workloads.yaml",
		resource: schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta1", Resource: "workloads"},
		kind:     "Workload", spec: "{podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: x}]}}}]}",
		running: condition("Admitted", "Admitted", "The workload is admitted"),
		good:    condition("Finished", "Succeeded", "Job finished successfully"),
		bad:     condition("Finished", "FailedToStart", "invalid admission check PodSetUpdate"),
		why:     " (FailedToStart): invalid admission check PodSetUpdate",
	},
	{
		module: trainer, crd: "manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml",
		resource: schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"},
		kind:     "TrainJob", spec: "{runtimeRef: {name: torch-distributed}}",
		running: condition("Created", "Created", "created"),
		good:    condition("Complete", "AllJobsCompleted", "jobset completed successfully"),
		bad:     condition("Failed", "FailedJobs", "jobset failed due to one or more job failures"),
		why:     " (FailedJobs): jobset failed due to one or more job failures",
	},
	{
		module: mpi, crd: "manifests/base/kubeflow.org_mpijobs.yaml",
		resource: schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"},
		kind:     "MPIJob", spec: "{mpiReplicaSpecs: {Launcher: {replicas: 1, template: {spec: {containers: [{name: c, image: x}]}}}}}",
		running: condition("Running", "MPIJobRunning", "MPIJob x is running."),
		good:    condition("Succeeded", "MPIJobSucceeded", "MPIJob x successfully completed."),
		bad:     condition("Failed", "BackoffLimitExceeded/FailedReason2", "Job has reached the specified backoff limit"),
		why:     " (BackoffLimitExceeded/FailedReason2): Job has reached the specified backoff limit",
	},
	{
		module: ray, crd: "config/crd/bases/ray.io_rayjobs.yaml",
		resource: schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayjobs"},
		kind:     "RayJob", spec: "{entrypoint: python main.py, clusterSelector: {ray.io/cluster: c}}",
		running: `{jobDeploymentStatus: Running, jobStatus: RUNNING}`,
		good:    `{jobDeploymentStatus: Complete, jobStatus: SUCCEEDED, message: Job finished successfully.}`,
		bad:     `{jobDeploymentStatus: Failed, jobStatus: FAILED, reason: AppFailed, message: exit code 1}`,
		why:     " (AppFailed): exit code 1",
	},
	{
		module: volcano, crd: "config/crd/volcano/bases/batch.volcano.sh_jobs.yaml",
		resource: schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"},
		kind:     "Job", spec: "{minAvailable: 1, tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c, image: x}]}}}]}",
		running: `{state: {phase: Running}, running: 1}`,
		good:    `{state: {phase: Completed, lastTransitionTime: "2026-11-22T10:00:00Z"}, succeeded: 1}`,
		bad:     `{state: {phase: Failed, lastTransitionTime: "2026-11-22T10:00:00Z"}, failed: 1}`,
	},
	{
		module: runners, crd: "config/crd/bases/actions.github.com_ephemeralrunners.yaml",
		resource: schema.GroupVersionResource{Group: "actions.github.com", Version: "v1alpha1", Resource: "ephemeralrunners"},
		kind:     "EphemeralRunner", spec: "{githubConfigUrl: https://github.com/o/r, githubConfigSecret: s, runnerScaleSetId: 1, spec: {containers: [{name: c, image: x}]}}",
		running: `{phase: Running, ready: true}`,
		good:    `{phase: Succeeded, ready: true}`,
		bad:     `{phase: Failed, ready: false, reason: TooManyPodFailures, message: Pod has failed to start more than 5 times}`,
		why:     " (TooManyPodFailures): Pod has failed to start more than 5 times",
	},
}

// condition is a status with one condition.
func condition(kind, reason, message string) string {
	return fmt.Sprintf(`{conditions: [{type: %s, status: "True", reason: %s, message: "%s", lastTransitionTime: "2026-11-22T10:00:00Z"}]}`,
		kind, reason, message)
}

// Custom resources finish with a status like those of their controllers.
func TestTypes(t *testing.T) {
	t.Parallel()
	types := customTypes[:1]
	if *allTypes {
		types = customTypes
	}
	for _, custom := range types {
		t.Run(custom.kind, func(t *testing.T) {
			t.Parallel()
			custom.install(t)
			custom.showsFact(t)
			ns, name := harness.Namespace(t, server), strings.ToLower(custom.kind)+"."+custom.resource.Group
			for status, last := range map[string]string{
				custom.good: oneSucceeded,
				custom.bad: "error: " + name + "/x-xxxxx has failed" + custom.why + "\n  kubectl describe " + name + "/x-xxxxx -n e2e-xxxxx\n" +
					oneFailed,
			} {
				controlled := make(chan error, 1)
				go func() { controlled <- custom.control(t.Context(), ns, status) }()
				code := 0
				if status == custom.bad {
					code = 5
				}
				input := custom.input()
				waitIn(harness.As(t, server.Admin()), ns, input).
					Prints(t, code, name+"/x-xxxxx created\n", last)
				if err := <-controlled; err != nil {
					t.Error(err)
				}
				if custom.withoutSubresources { // the server would store the status
					waitIn(harness.As(t, server.Admin()), ns, input+"status: "+status).Prints(t, 1, "", "error: --wait cannot wait for "+name+
						"/x-, because the status in the input shows that it has finished. Remove the status from the input.\n")
				}
			}
		})
	}
}

func (c customType) input() string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {generateName: x-}\nspec: %s\n", c.resource.GroupVersion(), c.kind, c.spec)
}

// showsFact checks that the end of a wait names the newest fact about an object that runs.
func (c customType) showsFact(t *testing.T) {
	t.Helper()
	if c.fact == "" {
		return
	}
	u, ns, args := harness.As(t, server.Admin()), harness.Namespace(t, server), []string{"--idempotency-key=k", "--wait-timeout=0"}
	waitIn(u, ns, c.input(), args...)
	if err := c.control(t.Context(), ns, c.running); err != nil {
		t.Fatal(err)
	}
	if got := waitIn(u, ns, c.input(), args...).Stderr; !strings.Contains(got, ": "+c.fact+"\n") {
		t.Errorf("%s\nwant the line %s", got, c.fact)
	}
}

// A server with the CRD that Tekton publishes stores the Task of deploy/tekton, and knows each field in it.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	task := customType{
		module: tekton, crd: "config/300-crds/300-task.yaml",
		resource: schema.GroupVersionResource{Group: "tekton.dev", Version: "v1", Resource: "tasks"},
	}
	task.install(t)
	text, err := os.ReadFile(harness.Root + "deploy/tekton/create.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(text, &object.Object); err != nil {
		t.Fatal(err)
	}
	tasks := dynamicClient(t).Resource(task.resource).Namespace(harness.Namespace(t, server))
	if _, err := tasks.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		t.Error(err)
	}
}

// install creates the CRD. Its webhook, which converts between versions, does not run.
func (c customType) install(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(harness.Module(t, c.module, sums[c.module]), c.crd))
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &crd.Object); err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := dynamicClient(t).Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.UntilServed(t, server, c.resource)
}

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// control acts like the controller for the object without a status. control sets the running status, and then the
// last one.
func (c customType) control(ctx context.Context, namespace, last string) error {
	client, err := dynamic.NewForConfig(server.Admin())
	if err != nil {
		return err
	}
	objects := client.Resource(c.resource).Namespace(namespace)
	for ctx.Err() == nil {
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := &list.Items[i]
			if object.Object["status"] != nil {
				continue
			}
			for _, status := range []string{c.running, last} {
				if object, err = c.update(ctx, objects, object, status); err != nil {
					return err
				}
			}
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}

// update stores a status of the object.
func (c customType) update(
	ctx context.Context, objects dynamic.ResourceInterface, object *unstructured.Unstructured, status string,
) (*unstructured.Unstructured, error) {
	var value map[string]any
	if err := yaml.Unmarshal([]byte(status), &value); err != nil {
		return nil, err
	}
	object.Object["status"] = value
	if c.withoutSubresources {
		return objects.Update(ctx, object, metav1.UpdateOptions{})
	}
	return objects.UpdateStatus(ctx, object, metav1.UpdateOptions{})
}

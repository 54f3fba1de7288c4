package finished

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Statuses as the controllers write them. Each kind of the table has at least one object that runs,
// one that has succeeded, and one that has failed.
var written = []struct {
	name, object string
	want         Status
}{
	{"a Job without a status", `{apiVersion: batch/v1, kind: Job}`, Status{State: Running}},
	{"a Job that runs", `
apiVersion: batch/v1
kind: Job
status: {active: 1, ready: 1, startTime: "2026-11-22T10:00:00Z", terminating: 0, uncountedTerminatedPods: {}}
`, Status{State: Running}},
	{"a Job that is suspended", `
apiVersion: batch/v1
kind: Job
spec: {suspend: true}
status:
  conditions:
  - {type: Suspended, status: "True", reason: JobSuspended, message: Job suspended}
`, Status{State: Running, Suspended: true}},
	{"a Job whose last Pods still end", `
apiVersion: batch/v1
kind: Job
status:
  active: 1
  terminating: 1
  conditions:
  - {type: FailureTarget, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}
`, Status{State: Running}},
	{"a Job that is complete", `
apiVersion: batch/v1
kind: Job
status:
  completionTime: "2026-11-22T10:00:05Z"
  conditions:
  - {type: SuccessCriteriaMet, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods}
  - {type: Complete, status: "True", reason: CompletionsReached, message: Reached expected number of succeeded pods, lastTransitionTime: "2026-11-22T10:00:06Z"}
  succeeded: 1
`, Status{State: Succeeded, Word: "Complete", Reason: "CompletionsReached", Message: "Reached expected number of succeeded pods", Ended: ended(6)}},
	{"a Job that is complete, before 1.31", `
apiVersion: batch/v1
kind: Job
status: {conditions: [{type: Complete, status: "True"}], succeeded: 1}
`, Status{State: Succeeded, Word: "Complete"}},
	{"a Job that has failed", `
apiVersion: batch/v1
kind: Job
status:
  conditions:
  - {type: FailureTarget, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}
  - {type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}
  failed: 1
`, Status{State: Failed, Word: "Failed", Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit"}},
	{"a Job that had been suspended", `
apiVersion: batch/v1
kind: Job
spec: {suspend: false}
status:
  conditions:
  - {type: Suspended, status: "False", reason: JobResumed, message: Job resumed}
  - {type: Complete, status: "True"}
`, Status{State: Succeeded, Word: "Complete"}},
	{"a Pod that waits", `{apiVersion: v1, kind: Pod, status: {phase: Pending}}`, Status{State: Running}},
	{"a Pod that runs", `{apiVersion: v1, kind: Pod, status: {phase: Running}}`, Status{State: Running}},
	{"a Pod whose node is lost", `{apiVersion: v1, kind: Pod, status: {phase: Unknown, reason: NodeLost}}`, Status{State: Running}},
	{"a Pod that has succeeded", `
apiVersion: v1
kind: Pod
status:
  phase: Succeeded
  initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0, finishedAt: "2026-11-22T10:00:01Z"}}}]
  containerStatuses:
  - {name: a, state: {terminated: {exitCode: 0, finishedAt: "2026-11-22T10:00:07Z"}}}
  - {name: b, state: {terminated: {exitCode: 0, finishedAt: "2026-11-22T10:00:03Z"}}}
`, Status{State: Succeeded, Word: "Succeeded", Ended: ended(7)}},
	{"a Pod whose node was lost while a container ran", `
apiVersion: v1
kind: Pod
status:
  phase: Failed
  reason: NodeLost
  initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0, finishedAt: "2026-11-12T10:00:01Z"}}}]
  containerStatuses:
  - {name: a, state: {terminated: {exitCode: 0, finishedAt: "2026-11-12T10:00:07Z"}}}
  - {name: b, state: {running: {startedAt: "2026-11-12T10:00:03Z"}}}
`, Status{State: Failed, Word: "Failed", Reason: "NodeLost"}},
	{"a Pod whose init container has failed", `
apiVersion: v1
kind: Pod
status:
  phase: Failed
  initContainerStatuses:
  - {name: i, state: {terminated: {exitCode: 0, finishedAt: "2026-11-22T10:00:01Z"}}}
  - {name: j, state: {terminated: {exitCode: 3, finishedAt: "2026-11-22T10:00:04Z"}}}
  - {name: k, state: {waiting: {reason: PodInitializing}}}
  containerStatuses:
  - {name: a, state: {waiting: {reason: PodInitializing}}}
  - {name: b, state: {waiting: {reason: PodInitializing}}}
`, Status{State: Failed, Word: "Failed", Ended: ended(4)}},
	{"a Pod that was evicted after its init container", `
apiVersion: v1
kind: Pod
status:
  phase: Failed
  reason: Evicted
  initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0, finishedAt: "2026-11-22T10:00:01Z"}}}]
  containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]
`, Status{State: Failed, Word: "Failed", Reason: "Evicted"}},
	{"a Pod whose node was lost after an init container had failed once", `
apiVersion: v1
kind: Pod
status:
  phase: Failed
  reason: NodeLost
  initContainerStatuses: [{name: i, state: {terminated: {exitCode: 3, finishedAt: "2026-11-22T10:00:01Z"}}}]
  containerStatuses:
  - {name: a, state: {waiting: {reason: PodInitializing}}}
  - {name: b, state: {running: {startedAt: "2026-11-22T10:00:03Z"}}}
`, Status{State: Failed, Word: "Failed", Reason: "NodeLost"}},
	{"a Pod whose container has an unknown end", `
apiVersion: v1
kind: Pod
status:
  phase: Failed
  containerStatuses:
  - {name: a, state: {terminated: {exitCode: 0, finishedAt: "2026-11-12T10:00:07Z"}}}
  - {name: b, state: {terminated: {exitCode: 137, reason: ContainerStatusUnknown, finishedAt: null}}}
`, Status{State: Failed, Word: "Failed"}},
	{"a Pod that was evicted", `
apiVersion: v1
kind: Pod
status: {phase: Failed, reason: Evicted, message: "The node was low on resource: memory."}
`, Status{State: Failed, Word: "Failed", Reason: "Evicted", Message: "The node was low on resource: memory."}},
	{"a TaskRun that runs", `
apiVersion: tekton.dev/v1
kind: TaskRun
status: {conditions: [{type: Succeeded, status: Unknown, reason: Running, message: Not all Steps in the Task have finished executing}]}
`, Status{State: Running}},
	{"a TaskRun that has succeeded", `
apiVersion: tekton.dev/v1
kind: TaskRun
status:
  completionTime: "2026-11-22T10:00:04Z"
  conditions: [{type: Succeeded, status: "True", reason: Succeeded, message: All Steps have completed executing, lastTransitionTime: "2026-11-22T10:00:05Z"}]
`, Status{State: Succeeded, Word: "Succeeded", Reason: "Succeeded", Message: "All Steps have completed executing", Ended: ended(4)}},
	{"a TaskRun that has timed out", `
apiVersion: tekton.dev/v1
kind: TaskRun
status: {conditions: [{type: Succeeded, status: "False", reason: TaskRunTimeout, message: 'TaskRun "t" failed to finish within "1m0s"'}]}
`, Status{State: Failed, Word: "Failed", Reason: "TaskRunTimeout", Message: `TaskRun "t" failed to finish within "1m0s"`}},
	{"a Workflow that has not begun", `{apiVersion: argoproj.io/v1alpha1, kind: Workflow, status: {phase: Pending}}`, Status{State: Running}},
	{"a Workflow that is suspended", `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec: {suspend: true}
status: {phase: Running, progress: 1/2}
`, Status{State: Running, Suspended: true}},
	{"a Workflow that has succeeded", `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
status: {phase: Succeeded, progress: 1/1, finishedAt: "2026-11-22T10:00:08Z", conditions: [{type: Completed, status: "True"}]}
`, Status{State: Succeeded, Word: "Succeeded", Ended: ended(8)}},
	{"a Workflow that has failed", `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
status: {phase: Failed, message: child 'w-1' failed, conditions: [{type: Completed, status: "True"}]}
`, Status{State: Failed, Word: "Failed", Message: "child 'w-1' failed"}},
	{"a Workflow with an error", `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
status: {phase: Error, message: "pods is forbidden"}
`, Status{State: Failed, Word: "Error", Message: "pods is forbidden"}},
	{"a JobSet that runs", `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
status: {restarts: 0, replicatedJobsStatus: [{name: workers, active: 1, ready: 1, failed: 0, succeeded: 0, suspended: 0}]}
`, Status{State: Running}},
	{"a JobSet that has completed", `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
status:
  terminalState: Completed
  conditions: [{type: Completed, status: "True", reason: AllJobsCompleted, message: jobset completed successfully}]
`, Status{State: Succeeded, Word: "Completed", Reason: "AllJobsCompleted", Message: "jobset completed successfully"}},
	{"a JobSet that has failed", `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
status:
  terminalState: Failed
  conditions:
  - {type: StartupPolicyCompleted, status: "False"}
  - {type: Failed, status: "True", reason: FailedJobs, message: "jobset failed due to one or more job failures"}
`, Status{State: Failed, Word: "Failed", Reason: "FailedJobs", Message: "jobset failed due to one or more job failures"}},
	{"a Workload that is admitted", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: QuotaReserved, status: "True", reason: QuotaReserved}, {type: Admitted, status: "True", reason: Admitted}]}
`, Status{State: Running}},
	{"a Workload whose Job has succeeded", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: Finished, status: "True", reason: Succeeded, message: Job finished successfully, lastTransitionTime: "2026-11-22T10:00:09Z"}]}
`, Status{State: Succeeded, Word: "Succeeded", Reason: "Succeeded", Message: "Job finished successfully", Ended: ended(9)}},
	{"a Workload that can't start", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: Finished, status: "True", reason: FailedToStart, message: invalid admission check PodSetUpdate}]}
`, Status{State: Failed, Word: "Failed", Reason: "FailedToStart", Message: "invalid admission check PodSetUpdate"}},
	{"a Workload whose Job has succeeded, before 0.7", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: Finished, status: "True", reason: JobFinished, message: Job finished successfully}]}
`, Status{State: Succeeded, Word: "Succeeded", Reason: "JobFinished", Message: "Job finished successfully"}},
	{"a Workload whose Job has failed, before 0.7", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: Finished, status: "True", reason: JobFinished, message: Job failed}]}
`, Status{State: Failed, Word: "Failed", Reason: "JobFinished", Message: "Job failed"}},
	{"a Workload whose JobSet has succeeded, before 0.7", `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
status: {conditions: [{type: Finished, status: "True", reason: JobSetFinished, message: JobSet finished successfully}]}
`, Status{State: Succeeded, Word: "Succeeded", Reason: "JobSetFinished", Message: "JobSet finished successfully"}},
	{"a TrainJob that was resumed", `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec: {suspend: false}
status: {conditions: [{type: Suspended, status: "False", reason: Resumed, message: TrainJob is resumed}]}
`, Status{State: Running}},
	{"a TrainJob that is complete", `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
status: {conditions: [{type: Complete, status: "True", reason: AllJobsCompleted, message: jobset completed successfully}]}
`, Status{State: Succeeded, Word: "Complete", Reason: "AllJobsCompleted", Message: "jobset completed successfully"}},
	{"a TrainJob that has failed", `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
status: {conditions: [{type: Failed, status: "True", reason: FailedJobs, message: jobset failed due to one or more job failures}]}
`, Status{State: Failed, Word: "Failed", Reason: "FailedJobs", Message: "jobset failed due to one or more job failures"}},
	{"an MPIJob that is suspended", `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
spec: {runPolicy: {suspend: true}}
status: {conditions: [{type: Created, status: "True", reason: MPIJobCreated}, {type: Suspended, status: "True", reason: MPIJobSuspended}]}
`, Status{State: Running, Suspended: true}},
	{"an MPIJob that has succeeded", `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
status:
  completionTime: "2026-11-22T10:00:03Z"
  conditions:
  - {type: Created, status: "True", reason: MPIJobCreated, message: MPIJob default/test is created.}
  - {type: Running, status: "False", reason: MPIJobRunning, message: MPIJob default/test is running.}
  - {type: Succeeded, status: "True", reason: MPIJobSucceeded, message: MPIJob default/test successfully completed.}
`, Status{State: Succeeded, Word: "Succeeded", Reason: "MPIJobSucceeded", Message: "MPIJob default/test successfully completed.", Ended: ended(3)}},
	{"an MPIJob that has failed", `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
status:
  conditions:
  - {type: Failed, status: "True", reason: BackoffLimitExceeded/FailedReason2, message: "Job has reached the specified backoff limit: second message"}
`, Status{State: Failed, Word: "Failed", Reason: "BackoffLimitExceeded/FailedReason2", Message: "Job has reached the specified backoff limit: second message"}},
	{"an MPIJob that goes on without an evicted worker", `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
status:
  conditions:
  - {type: Running, status: "False", reason: MPIJobRunning, message: MPIJob default/test is running.}
  - {type: Failed, status: "True", reason: MPIJobEvicted, message: 1/2 workers are evicted}
`, Status{State: Running}},
	{"an MPIJob that has failed with an evicted worker", `
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
status:
  completionTime: "2026-11-22T10:00:05Z"
  conditions:
  - {type: Failed, status: "True", reason: MPIJobEvicted, message: 1/2 workers are evicted}
`, Status{State: Failed, Word: "Failed", Reason: "MPIJobEvicted", Message: "1/2 workers are evicted", Ended: ended(5)}},
	{"a RayJob that runs", `{apiVersion: ray.io/v1, kind: RayJob, status: {jobDeploymentStatus: Running, jobStatus: RUNNING}}`, Status{State: Running}},
	{"a RayJob that starts again after a failure", `{apiVersion: ray.io/v1, kind: RayJob, status: {jobDeploymentStatus: Retrying, jobStatus: FAILED, failed: 1}}`, Status{State: Running}},
	{"a RayJob that has succeeded", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: Complete, jobStatus: SUCCEEDED, message: Job finished successfully., endTime: "2026-11-22T10:00:02Z"}
`, Status{State: Succeeded, Word: "Complete", Message: "Job finished successfully.", Ended: ended(2)}},
	{"a RayJob that has failed, by an older KubeRay", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: Complete, jobStatus: FAILED, message: Job entrypoint command failed with exit code 1}
`, Status{State: Failed, Word: "FAILED", Message: "Job entrypoint command failed with exit code 1"}},
	{"a RayJob that was stopped", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: Complete, jobStatus: STOPPED, message: Job was intentionally stopped.}
`, Status{State: Failed, Word: "STOPPED", Message: "Job was intentionally stopped."}},
	{"a RayJob that was out of time", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: Failed, jobStatus: RUNNING, reason: DeadlineExceeded, message: The RayJob has passed the activeDeadlineSeconds.}
`, Status{State: Failed, Word: "Failed", Reason: "DeadlineExceeded", Message: "The RayJob has passed the activeDeadlineSeconds."}},
	{"a RayJob that is invalid", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: ValidationFailed, reason: ValidationFailed, message: The RayJob name is too long}
`, Status{State: Failed, Word: "ValidationFailed", Reason: "ValidationFailed", Message: "The RayJob name is too long"}},
	{"a RayJob that became invalid while it ran", `
apiVersion: ray.io/v1
kind: RayJob
status: {jobDeploymentStatus: ValidationFailed, jobStatus: RUNNING, rayClusterName: r-1}
`, Status{State: Running}},
	{"a Volcano Job that runs", `{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, status: {state: {phase: Running}, running: 1}}`, Status{State: Running}},
	{"a Volcano Job that was aborted, and can be resumed", `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
status: {state: {phase: Aborted}}
`, Status{State: Running, Suspended: true}},
	{"a Volcano Job that has completed", `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
status: {state: {phase: Completed, lastTransitionTime: "2026-11-22T10:00:01Z"}, succeeded: 1}
`, Status{State: Succeeded, Word: "Completed", Ended: ended(1)}},
	{"a Volcano Job that has failed", `
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
status: {state: {phase: Failed, reason: MaxRetry, message: tried 3 times}}
`, Status{State: Failed, Word: "Failed", Reason: "MaxRetry", Message: "tried 3 times"}},
	{"an EphemeralRunner that runs", `
apiVersion: actions.github.com/v1alpha1
kind: EphemeralRunner
status: {phase: Running, ready: true}
`, Status{State: Running}},
	{"an EphemeralRunner that has finished", `
apiVersion: actions.github.com/v1alpha1
kind: EphemeralRunner
status: {phase: Succeeded, ready: true}
`, Status{State: Succeeded, Word: "Succeeded"}},
	{"an EphemeralRunner that can't start", `
apiVersion: actions.github.com/v1alpha1
kind: EphemeralRunner
status: {phase: Failed, reason: TooManyPodFailures, message: Pod has failed to start more than 5 times}
`, Status{State: Failed, Word: "Failed", Reason: "TooManyPodFailures", Message: "Pod has failed to start more than 5 times"}},
	{"an EphemeralRunner whose runner is too old", `{apiVersion: actions.github.com/v1alpha1, kind: EphemeralRunner, status: {phase: Outdated}}`, Status{State: Failed, Word: "Outdated"}},
	// kubeflow/training-operator at 078ec30f, pkg/controller.v1/pytorch/pytorchjob_controller_test.go and
	// pkg/controller.v1/tensorflow/status_test.go.
	{"a PyTorchJob that runs", `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
status:
  conditions:
  - {type: Created, status: "True", reason: PyTorchJobCreated, message: PyTorchJob fit is created.}
  - {type: Running, status: "True", reason: PyTorchJobRunning, message: PyTorchJob fit is running.}
  replicaStatuses: {Master: {active: 1}}
`, Status{State: Running}},
	{"a PyTorchJob that is suspended", `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec: {runPolicy: {suspend: true}}
status:
  conditions:
  - {type: Running, status: "False", reason: PyTorchJobSuspended, message: PyTorchJob fit is suspended.}
  - {type: Suspended, status: "True", reason: PyTorchJobSuspended, message: PyTorchJob fit is suspended.}
`, Status{State: Running, Suspended: true}},
	{"a PyTorchJob that starts again", `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
status: {conditions: [{type: Restarting, status: "True", reason: PyTorchJobRestarting}]}
`, Status{State: Running}},
	{"a PyTorchJob that has succeeded", `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
status:
  completionTime: "2026-11-22T10:00:03Z"
  conditions:
  - {type: Running, status: "False", reason: PyTorchJobRunning}
  - {type: Succeeded, status: "True", reason: PyTorchJobSucceeded, message: PyTorchJob fit is successfully completed.}
`, Status{State: Succeeded, Word: "Succeeded", Reason: "PyTorchJobSucceeded", Message: "PyTorchJob fit is successfully completed.", Ended: ended(3)}},
	{"a PyTorchJob that has failed", `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
status:
  completionTime: "2026-11-22T10:00:04Z"
  conditions:
  - {type: Running, status: "False", reason: PyTorchJobRunning}
  - {type: Failed, status: "True", reason: PyTorchJobFailed, message: PyTorchJob fit is failed because 1 Worker replica(s) failed.}
`, Status{State: Failed, Word: "Failed", Reason: "PyTorchJobFailed", Message: "PyTorchJob fit is failed because 1 Worker replica(s) failed.", Ended: ended(4)}},
	// kubeflow/spark-operator at 38082f33, internal/controller/sparkapplication/controller_test.go.
	{"a SparkApplication that is new", `{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication}`, Status{State: Running}},
	{"a SparkApplication that could not be submitted, and is submitted again", `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
status: {applicationState: {state: SUBMISSION_FAILED, errorMessage: no route}, terminationTime: null}
`, Status{State: Running}},
	{"a SparkApplication whose end leads to another run", `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
status: {applicationState: {state: SUCCEEDING}, terminationTime: "2026-11-22T10:00:03Z"}
`, Status{State: Running}},
	{"a SparkApplication that is suspended", `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec: {suspend: true}
status: {applicationState: {state: SUSPENDED}}
`, Status{State: Running, Suspended: true}},
	{"a SparkApplication that has completed", `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
status: {applicationState: {state: COMPLETED}, terminationTime: "2026-11-22T10:00:03Z"}
`, Status{State: Succeeded, Word: "COMPLETED", Ended: ended(3)}},
	{"a SparkApplication that has failed", `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec: {suspend: true}
status: {applicationState: {state: FAILED, errorMessage: driver container failed}, terminationTime: "2026-11-22T10:00:03Z"}
`, Status{State: Failed, Word: "FAILED", Message: "driver container failed", Ended: ended(3)}},
	// argoproj/argo-rollouts at 9f8d111d, analysis/analysis_test.go.
	{"an AnalysisRun that runs", `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisRun
status: {phase: Running, metricResults: [{name: latency, phase: Failed}]}
`, Status{State: Running}},
	{"an AnalysisRun that was successful", `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisRun
status: {phase: Successful, completedAt: "2026-11-22T10:00:03Z"}
`, Status{State: Succeeded, Word: "Successful", Ended: ended(3)}},
	{"an AnalysisRun that has failed", `
apiVersion: argoproj.io/v1alpha1
kind: AnalysisRun
status: {phase: Failed, message: Metric "latency" assessed Failed due to failed (1) > failureLimit (0)}
`, Status{State: Failed, Word: "Failed", Message: `Metric "latency" assessed Failed due to failed (1) > failureLimit (0)`}},
	{"an AnalysisRun without a result", `{apiVersion: argoproj.io/v1alpha1, kind: AnalysisRun, status: {phase: Inconclusive}}`, Status{State: Failed, Word: "Inconclusive"}},
	{"an AnalysisRun with an error", `{apiVersion: argoproj.io/v1alpha1, kind: AnalysisRun, status: {phase: Error}}`, Status{State: Failed, Word: "Error"}},
	// vmware-tanzu/velero at d30d389b, pkg/controller/backup_controller_test.go, backup_finalizer_controller_test.go,
	// backup_operations_controller_test.go, and restore_controller_test.go.
	{"a Backup that is finalized", `{apiVersion: velero.io/v1, kind: Backup, status: {phase: FinalizingPartiallyFailed}}`, Status{State: Running}},
	{"a Backup that waits for plugins", `{apiVersion: velero.io/v1, kind: Backup, status: {phase: WaitingForPluginOperations}}`, Status{State: Running}},
	{"a Backup that has completed", `
apiVersion: velero.io/v1
kind: Backup
status: {phase: Completed, completionTimestamp: "2026-11-22T10:00:03Z"}
`, Status{State: Succeeded, Word: "Completed", Ended: ended(3)}},
	{"a Backup that has failed", `
apiVersion: velero.io/v1
kind: Backup
status: {phase: Failed, failureReason: backup already exists in object storage, completionTimestamp: "2026-11-22T10:00:03Z"}
`, Status{State: Failed, Word: "Failed", Message: "backup already exists in object storage", Ended: ended(3)}},
	{"a Backup that is invalid", `{apiVersion: velero.io/v1, kind: Backup, status: {phase: FailedValidation}}`, Status{State: Failed, Word: "FailedValidation"}},
	{"a Restore in progress", `{apiVersion: velero.io/v1, kind: Restore, status: {phase: InProgress}}`, Status{State: Running}},
	{"a Restore that has completed", `{apiVersion: velero.io/v1, kind: Restore, status: {phase: Completed}}`, Status{State: Succeeded, Word: "Completed"}},
	{"a Restore that has failed in part", `{apiVersion: velero.io/v1, kind: Restore, status: {phase: PartiallyFailed, errors: 1}}`, Status{State: Failed, Word: "PartiallyFailed"}},
	// grafana/k6-operator at e2c9571a, e2e/basic-testrun-1/test.js, e2e/basic-testrun-4/test.js, and
	// e2e/error-stage/test.js. The stage stopped leads to finished (internal/controller/testrun_controller.go).
	{"a TestRun that has started", `{apiVersion: k6.io/v1alpha1, kind: TestRun, status: {stage: started}}`, Status{State: Running}},
	{"a TestRun that has stopped", `{apiVersion: k6.io/v1alpha1, kind: TestRun, status: {stage: stopped}}`, Status{State: Running}},
	{"a TestRun that has finished", `{apiVersion: k6.io/v1alpha1, kind: TestRun, status: {stage: finished}}`, Status{State: Ended, Word: "finished"}},
	{"a TestRun with an error", `{apiVersion: k6.io/v1alpha1, kind: TestRun, status: {stage: error}}`, Status{State: Failed, Word: "error"}},
	// openshift/openshift-controller-manager at 26d20fea, pkg/build/controller/build/build_controller_test.go.
	{"a Build that runs", `{apiVersion: build.openshift.io/v1, kind: Build, status: {phase: Running}}`, Status{State: Running}},
	{"a Build that is to be canceled", `{apiVersion: build.openshift.io/v1, kind: Build, status: {phase: Running, cancelled: true}}`, Status{State: Running}},
	{"a Build that is complete", `
apiVersion: build.openshift.io/v1
kind: Build
status: {phase: Complete, startTimestamp: "2026-11-22T10:00:01Z", completionTimestamp: "2026-11-22T10:00:03Z"}
`, Status{State: Succeeded, Word: "Complete", Ended: ended(3)}},
	{"a Build that was canceled", `
apiVersion: build.openshift.io/v1
kind: Build
status: {phase: Cancelled, reason: CancelledBuild, message: The build was cancelled by the user., completionTimestamp: "2026-11-22T10:00:03Z"}
`, Status{State: Failed, Word: "Cancelled", Reason: "CancelledBuild", Message: "The build was cancelled by the user.", Ended: ended(3)}},
	{"a Build whose Pod was deleted", `
apiVersion: build.openshift.io/v1
kind: Build
status: {phase: Error, reason: BuildPodDeleted, message: The pod for this build was deleted before the build completed.}
`, Status{State: Failed, Word: "Error", Reason: "BuildPodDeleted", Message: "The pod for this build was deleted before the build completed."}},
	{"a status of another form", `{apiVersion: batch/v1, kind: Job, status: {conditions: [text, 1, {type: 7, status: true}]}}`, Status{State: Running}},
	{"a phase of another form", `{apiVersion: v1, kind: Pod, status: {phase: [Failed]}}`, Status{State: Running}},
}

// ended is a number of seconds after 10:00.
func ended(seconds int) time.Time { return time.Date(2026, 11, 22, 10, 0, seconds, 0, time.UTC) }

func TestStatusesAsControllersWriteThem(t *testing.T) {
	seen := map[schema.GroupKind]map[State]bool{}
	all := slices.Clone(written)
	for _, test := range written {
		for form, kinds := range map[string][]string{ // kinds of one form
			"TaskRun":    {"PipelineRun", "CustomRun"},
			"PyTorchJob": {"TFJob", "XGBoostJob", "PaddleJob", "JAXJob"},
		} {
			for _, kind := range kinds {
				if same := test; strings.Contains(test.object, "kind: "+form+"\n") {
					same.object = strings.Replace(test.object, "kind: "+form+"\n", "kind: "+kind+"\n", 1)
					all = append(all, same)
				}
			}
		}
	}
	for _, test := range all {
		object := read(t, test.object)
		got, known := Of(object)
		if diff := cmp.Diff(test.want, got); !known || diff != "" {
			t.Errorf("%s: known is %v (-want +got)\n%s", test.name, known, diff)
		}
		if got.Done() != (got.State != Running) {
			t.Errorf("%s: done is %v", test.name, got.Done())
		}
		kind := object.GroupVersionKind().GroupKind()
		if seen[kind] == nil {
			seen[kind] = map[State]bool{}
		}
		seen[kind][got.State] = true
	}
	for kind := range table {
		if !Knows(kind) || len(seen[kind]) != 3 {
			t.Errorf("%s: tested with the states %v only", kind, seen[kind])
		}
	}
}

// A plural that isn't regular would make the class of a kind of the table unknown.
func TestClasses(t *testing.T) {
	for resource, want := range map[string]Class{
		"jobs.batch": Finishes, "pods": Finishes, "tfjobs.kubeflow.org": Finishes, "jaxjobs.kubeflow.org": Finishes,
		"networkpolicies.networking.k8s.io": Inert, "priorityclasses.scheduling.k8s.io": Inert, "secrets": Inert,
		"widgets.example.com": Unknown, "services": Unknown, "jobs.example.com": Unknown, "builds": Unknown,
	} {
		if got := ClassOfResource(schema.ParseGroupResource(resource)); got != want {
			t.Errorf("%s is of class %d, want %d", resource, got, want)
		}
	}
	for kind := range inert {
		if Knows(kind) {
			t.Errorf("%s finishes, so something of it runs", kind)
		}
	}
	if ShowsResult(schema.GroupKind{Group: "k6.io", Kind: "TestRun"}) || !ShowsResult(schema.GroupKind{Kind: "Pod"}) {
		t.Error("a TestRun shows no result, and a Pod shows one")
	}
}

// The table doesn't have other kinds, nor kinds of the same name in another group.
func TestOtherKinds(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: ConfigMap}`,
		`{apiVersion: batch.example.com/v1alpha1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`,
		`{apiVersion: v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`,
		`{}`,
	} {
		object := read(t, text)
		if got, known := Of(object); known || got != (Status{}) || Knows(object.GroupVersionKind().GroupKind()) {
			t.Errorf("%s: %+v, known is %v", text, got, known)
		}
	}
}

// read makes an object of YAML.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// The newest fact about an object that has not finished.
func TestProgress(t *testing.T) {
	const tekton = "apiVersion: tekton.dev/v1\nkind: TaskRun\n"
	const job = "apiVersion: batch/v1\nkind: Job\n"
	const held = job + "metadata: {deletionTimestamp: \"2026-11-22T10:00:00Z\", finalizers: [a/b, c/d]}\n"
	deleting := Progress{Reason: "being deleted", Message: "held by the finalizer a/b, c/d", Deleting: true}
	stopped := deleting
	stopped.Stopped = true
	decision := Status{State: Failed, Word: "FailureTarget", Reason: "Why", Message: "because"}
	for object, want := range map[string]Progress{
		job: {}, held: stopped, held + "status: {active: 1}\n": deleting,
		held + "status: {conditions: [{type: SuccessCriteriaMet, status: \"True\", reason: Why}]}\n": deleting,
		held + "status: {conditions: [{type: FailureTarget, status: \"True\", reason: Why, message: because}]}\n": {
			Reason: "FailureTarget (Why)", Message: "because", Decision: decision, Deleting: true,
		},
		job + "status: {conditions: [{type: SuccessCriteriaMet, status: \"True\", reason: Why, message: because}]}\n": {
			Reason: "SuccessCriteriaMet (Why)", Message: "because",
		},
		job + "status: {conditions: [{type: Suspended, status: \"False\", reason: JobResumed, message: Job resumed}]}\n": {},
		tekton + "status: {conditions: [{type: Succeeded, status: Unknown, reason: Pending, message: no nodes}]}\n": {
			Reason: "Pending", Message: "no nodes",
		},
		"apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nstatus:\n  conditions:\n" +
			"  - {type: QuotaReserved, status: \"False\", reason: Pending, message: no quota, lastTransitionTime: \"2026-11-22T10:00:01Z\"}\n" +
			"  - {type: PodsReady, status: \"False\", reason: PodsReady, message: older, lastTransitionTime: \"2026-11-22T10:00:00Z\"}\n": {
			Reason: "Pending", Message: "no quota",
		},
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nstatus: {phase: Pending, message: too many run}\n": {
			Reason: "Pending", Message: "too many run",
		},
		"apiVersion: v1\nkind: Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: \"False\", reason: Why}]}\n": {},
		"apiVersion: example.com/v1\nkind: Other\nstatus: {conditions: [{type: Ready, status: \"False\", reason: Why, message: because}]}\n": {
			Reason: "Why", Message: "because",
		},
	} {
		if diff := cmp.Diff(want, ProgressOf(read(t, object))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", object, diff)
		}
	}
}

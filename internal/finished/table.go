package finished

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind describes how the phase or the conditions of an object show that it has finished.
type kind struct {
	phases     map[string]State // by the phase, or by the phase and the detail
	phase      []string         // the path of the phase
	message    string           // the field next to the phase that explains it; "" means message
	detail     string           // a field of the status that can change what a phase means
	conditions []end            // entries of status.conditions; the first that matches decides
	suspend    []string         // the path of the field that suspends an object, if the kind has one
	suspended  string           // the phase of an object that waits to be resumed, if the kind has one
	decided    string           // the condition of an object that will fail, while parts of it still run
	// stops reports whether an object that is being deleted never changes again.
	stops func(object map[string]any) bool
	// end returns the time when an object finished. If end is nil, the time is the lastTransitionTime of the condition.
	end func(object map[string]any) time.Time
}

// end is a condition that shows the end. An empty reason or message matches any text.
type end struct {
	state                              State
	condition, status, reason, message string
	word                               string // "" for the type of the condition
	timed                              bool   // the object has finished only if kind.end returns a time
}

var (
	podKind     = schema.GroupKind{Kind: "Pod"}
	statusPhase = []string{"status", "phase"}
	specSuspend = []string{"spec", "suspend"}
	usualPhases = map[string]State{"Succeeded": Succeeded, "Failed": Failed}
)

// table has the kinds whose objects finish. If you add a kind, add statuses that its controller has written to
// testdata/statuses.yaml.
var table = map[schema.GroupKind]kind{
	// k8s.io/api/batch/v1: JobComplete, JobFailed, JobFailureTarget.
	{Group: "batch", Kind: "Job"}: {
		suspend: specSuspend, conditions: ends("Complete").conditions, decided: "FailureTarget", stops: jobStops,
	},
	// k8s.io/api/core/v1: PodPhase.
	podKind: {phase: statusPhase, phases: usualPhases, end: endOfPod},
	// knative.dev/pkg/apis: ConditionSucceeded, in the types of tektoncd/pipeline.
	{Group: "tekton.dev", Kind: "TaskRun"}:     tekton,
	{Group: "tekton.dev", Kind: "PipelineRun"}: tekton,
	{Group: "tekton.dev", Kind: "CustomRun"}:   tekton,
	// argoproj/argo-workflows/pkg/apis/workflow/v1alpha1: WorkflowPhase.
	{Group: "argoproj.io", Kind: "Workflow"}: {
		phase: statusPhase, phases: map[string]State{"Succeeded": Succeeded, "Failed": Failed, "Error": Failed},
		suspend: specSuspend, end: timeAt("status", "finishedAt"),
	},
	// sigs.k8s.io/jobset/api/jobset/v1alpha2: JobSetCompleted, JobSetFailed.
	{Group: "jobset.x-k8s.io", Kind: "JobSet"}: ends("Completed"),
	// sigs.k8s.io/kueue/apis/kueue/v1beta1: WorkloadFinished and its reasons. Before 0.7, pkg/controller/jobs used one
	// reason for success and failure, and only the message shows the difference.
	{Group: "kueue.x-k8s.io", Kind: "Workload"}: {conditions: []end{
		{state: Succeeded, condition: "Finished", status: "True", reason: "Succeeded", word: "Succeeded"},
		{
			state: Succeeded, condition: "Finished", status: "True", word: "Succeeded",
			reason: "JobFinished", message: "Job finished successfully",
		},
		{
			state: Succeeded, condition: "Finished", status: "True", word: "Succeeded",
			reason: "JobSetFinished", message: "JobSet finished successfully",
		},
		{state: Failed, condition: "Finished", status: "True", word: "Failed"},
	}},
	// github.com/kubeflow/trainer/pkg/apis/trainer/v1alpha1: TrainJobComplete, TrainJobFailed.
	{Group: "trainer.kubeflow.org", Kind: "TrainJob"}: ends("Complete"),
	// github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1: JobSucceeded, JobFailed. After the eviction of a
	// worker, the controller continues. So the object has only finished if it has a completionTime.
	{Group: "kubeflow.org", Kind: "MPIJob"}: {
		conditions: append([]end{
			{state: Failed, condition: "Failed", status: "True", reason: "MPIJobEvicted", timed: true},
		}, ends("Succeeded").conditions...),
		suspend: []string{"spec", "runPolicy", "suspend"}, end: timeAt("status", "completionTime"),
	},
	// github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1: JobSucceeded, JobFailed.
	{Group: "kubeflow.org", Kind: "JAXJob"}:     training,
	{Group: "kubeflow.org", Kind: "PaddleJob"}:  training,
	{Group: "kubeflow.org", Kind: "PyTorchJob"}: training,
	{Group: "kubeflow.org", Kind: "TFJob"}:      training,
	{Group: "kubeflow.org", Kind: "XGBoostJob"}: training,
	// github.com/kubeflow/spark-operator/api/v1beta2: ApplicationStateType. The other states are not final. For
	// example, after SUBMISSION_FAILED, the operator submits again, or writes FAILED.
	{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"}: {
		phase: []string{"status", "applicationState", "state"}, message: "errorMessage",
		phases:  map[string]State{"COMPLETED": Succeeded, "FAILED": Failed},
		suspend: specSuspend, suspended: "SUSPENDED", end: timeAt("status", "terminationTime"),
	},
	// github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1: AnalysisPhase.Completed.
	{Group: "argoproj.io", Kind: "AnalysisRun"}: {
		phase: statusPhase,
		phases: map[string]State{
			"Successful": Succeeded, "Failed": Failed, "Error": Failed, "Inconclusive": Failed,
		},
		end: timeAt("status", "completedAt"),
	},
	// github.com/vmware-tanzu/velero/pkg/apis/velero/v1: BackupPhase, RestorePhase.
	{Group: "velero.io", Kind: "Backup"}:  velero,
	{Group: "velero.io", Kind: "Restore"}: velero,
	// github.com/grafana/k6-operator/api/v1alpha1: Stage. A test whose runners have failed is finished, too.
	{Group: "k6.io", Kind: "TestRun"}: {
		phase: []string{"status", "stage"}, phases: map[string]State{"finished": Ended, "error": Failed},
	},
	// github.com/openshift/api/build/v1: BuildPhase.
	{Group: "build.openshift.io", Kind: "Build"}: {
		phase: statusPhase,
		phases: map[string]State{
			"Complete": Succeeded, "Failed": Failed, "Error": Failed, "Cancelled": Failed,
		},
		end: timeAt("status", "completionTimestamp"),
	},
	// github.com/ray-project/kuberay/ray-operator/apis/ray/v1: JobDeploymentStatus, JobStatus. Older controllers write
	// Complete after a failure, too. A running RayJob that becomes invalid continues to run.
	{Group: "ray.io", Kind: "RayJob"}: {
		phase: []string{"status", "jobDeploymentStatus"}, detail: "jobStatus",
		phases: map[string]State{
			"Complete": Succeeded, "Complete STOPPED": Failed, "Complete FAILED": Failed, "Failed": Failed,
			"ValidationFailed ": Failed, // without a jobStatus
		},
		suspend: specSuspend, end: timeAt("status", "endTime"),
	},
	// volcano.sh/apis/pkg/apis/batch/v1alpha1: JobPhase. An aborted Job can be resumed.
	{Group: "batch.volcano.sh", Kind: "Job"}: {
		phase:     []string{"status", "state", "phase"},
		phases:    map[string]State{"Completed": Succeeded, "Failed": Failed, "Terminated": Failed},
		suspended: "Aborted",
		end:       timeAt("status", "state", "lastTransitionTime"),
	},
	// github.com/actions/actions-runner-controller/apis/actions.github.com/v1alpha1: EphemeralRunnerStatus.
	{Group: "actions.github.com", Kind: "EphemeralRunner"}: {
		phase: statusPhase, phases: map[string]State{"Succeeded": Succeeded, "Failed": Failed, "Outdated": Failed},
	},
}

// inert has the kinds whose objects run nothing, even if Pods use them. A Service, which directs traffic, or a Lease,
// which a process can hold, isn't inert.
var inert = map[schema.GroupKind]bool{
	{Kind: "ConfigMap"}: true, {Kind: "Secret"}: true, {Kind: "ServiceAccount"}: true,
	{Kind: "PersistentVolumeClaim"}: true, {Kind: "PodTemplate"}: true,
	{Kind: "Event"}: true, {Group: "events.k8s.io", Kind: "Event"}: true,
	{Kind: "LimitRange"}: true, {Kind: "ResourceQuota"}: true,
	{Group: "apps", Kind: "ControllerRevision"}:                       true,
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: true,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:               true,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:                true,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:         true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:         true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:  true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:               true,
}

// ends returns a kind with two final conditions, Failed and succeeded. Each ends the object if its status is True.
func ends(succeeded string) kind {
	return kind{suspend: specSuspend, conditions: []end{
		{state: Succeeded, condition: succeeded, status: "True"}, {state: Failed, condition: "Failed", status: "True"},
	}}
}

// training describes the jobs of Kubeflow's training operator.
var training = kind{
	conditions: ends("Succeeded").conditions,
	suspend:    []string{"spec", "runPolicy", "suspend"}, end: timeAt("status", "completionTime"),
}

var velero = kind{
	phase: statusPhase, message: "failureReason",
	phases: map[string]State{
		"Completed": Succeeded, "PartiallyFailed": Failed, "Failed": Failed, "FailedValidation": Failed,
	},
	end: timeAt("status", "completionTimestamp"),
}

// tekton describes Tekton's runs, which have one condition. A run that was canceled or timed out has failed.
var tekton = kind{end: timeAt("status", "completionTime"), conditions: []end{
	{state: Succeeded, condition: "Succeeded", status: "True"},
	{state: Failed, condition: "Succeeded", status: "False", word: "Failed"},
}}

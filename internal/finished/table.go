package finished

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind describes how the status of a kind shows the end, by phases or by conditions.
type kind struct {
	phases     map[string]State // by the phase, or by the phase and the detail
	phase      []string         // the path of the phase
	detail     string           // a field of the status that can change what a phase means
	conditions []end            // by an entry of status.conditions; the first that matches decides
	suspend    []string         // the path of the field that suspends an object, if the kind has one
	suspended  string           // the phase of an object that waits to be resumed, if the kind has one
	// end returns the time when an object finished. If end is nil, the time is the lastTransitionTime of the condition.
	end func(object map[string]any) time.Time
}

// end is a condition that shows the end. An empty reason or message matches any.
type end struct {
	state                              State
	condition, status, reason, message string
	word                               string // "" for the type of the condition
	timed                              bool   // the object has finished only if kind.end returns a time
}

var (
	statusPhase = []string{"status", "phase"}
	specSuspend = []string{"spec", "suspend"}
	usualPhases = map[string]State{"Succeeded": Succeeded, "Failed": Failed}
)

// table has the kinds whose objects finish. A new kind needs a test with a status that its controller has written.
var table = map[schema.GroupKind]kind{
	// k8s.io/api/batch/v1: JobComplete, JobFailed.
	{Group: "batch", Kind: "Job"}: ends("Complete"),
	// k8s.io/api/core/v1: PodPhase.
	{Kind: "Pod"}: {phase: statusPhase, phases: usualPhases, end: lastTermination},
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
	// sigs.k8s.io/kueue/apis/kueue/v1beta1: WorkloadFinished and its reasons. Before 0.7, pkg/controller/jobs used
	// one reason for both results, and only the message shows which it was.
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
	// worker, the controller continues. So the object has finished only if it has a completionTime.
	{Group: "kubeflow.org", Kind: "MPIJob"}: {
		conditions: append([]end{
			{state: Failed, condition: "Failed", status: "True", reason: "MPIJobEvicted", timed: true},
		}, ends("Succeeded").conditions...),
		suspend: []string{"spec", "runPolicy", "suspend"}, end: timeAt("status", "completionTime"),
	},
	// github.com/ray-project/kuberay/ray-operator/apis/ray/v1: JobDeploymentStatus, JobStatus. Older
	// controllers write Complete after a failure, too.
	{Group: "ray.io", Kind: "RayJob"}: {
		phase: []string{"status", "jobDeploymentStatus"}, detail: "jobStatus",
		phases: map[string]State{
			"Complete": Succeeded, "Complete STOPPED": Failed, "Complete FAILED": Failed, "Failed": Failed,
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
	{Group: "actions.github.com", Kind: "EphemeralRunner"}: {phase: statusPhase, phases: usualPhases},
}

// ends returns a kind with the conditions Failed and succeeded. Each shows the end if its status is True.
func ends(succeeded string) kind {
	return kind{suspend: specSuspend, conditions: []end{
		{state: Succeeded, condition: succeeded, status: "True"}, {state: Failed, condition: "Failed", status: "True"},
	}}
}

// tekton is the kind of Tekton's runs, which have one condition. A run that was canceled or timed out has failed.
var tekton = kind{end: timeAt("status", "completionTime"), conditions: []end{
	{state: Succeeded, condition: "Succeeded", status: "True"},
	{state: Failed, condition: "Succeeded", status: "False", word: "Failed"},
}}

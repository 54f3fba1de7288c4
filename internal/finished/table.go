package finished

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind describes how the status of a kind shows the end, by phases or by conditions.
type kind struct {
	phases     map[string]State // by the phase, or by the phase and the detail
	phase      []string         // the path of the phase, without status: {"phase"} by default
	detail     string           // a field of the status that can change what a phase means
	conditions map[outcome]end  // by an entry of status.conditions
	suspend    []string         // the path of the field that suspends an object, if the kind has one
	suspended  string           // the phase of an object that waits to be resumed, if the kind has one
	// end returns the time when an object finished. If end is nil, the time is the lastTransitionTime of the condition.
	end func(object map[string]any) time.Time
}

// outcome is a condition with its status. If several match, one with a message is preferred to one with only a
// reason, and this to one without a reason.
type outcome struct{ condition, status, reason, message string }

// end is the meaning of an outcome.
type end struct {
	state State
	word  string // "" for the type of the condition
	timed bool   // the object has finished only if kind.end returns a time
}

// table has the kinds whose objects finish. A new kind needs a test with a status that its controller has written.
var table = map[schema.GroupKind]kind{
	// k8s.io/api/batch/v1: JobComplete, JobFailed.
	{Group: "batch", Kind: "Job"}: {
		conditions: ends("Complete"),
		suspend:    []string{"spec", "suspend"},
	},
	// k8s.io/api/core/v1: PodPhase.
	{Kind: "Pod"}: {phases: map[string]State{"Succeeded": Succeeded, "Failed": Failed}, end: lastTermination},
	// knative.dev/pkg/apis: ConditionSucceeded, in the types of tektoncd/pipeline.
	{Group: "tekton.dev", Kind: "TaskRun"}:     {conditions: succeeded, end: timeAt("status", "completionTime")},
	{Group: "tekton.dev", Kind: "PipelineRun"}: {conditions: succeeded, end: timeAt("status", "completionTime")},
	{Group: "tekton.dev", Kind: "CustomRun"}:   {conditions: succeeded, end: timeAt("status", "completionTime")},
	// argoproj/argo-workflows/pkg/apis/workflow/v1alpha1: WorkflowPhase.
	{Group: "argoproj.io", Kind: "Workflow"}: {
		phases:  map[string]State{"Succeeded": Succeeded, "Failed": Failed, "Error": Failed},
		suspend: []string{"spec", "suspend"},
		end:     timeAt("status", "finishedAt"),
	},
	// sigs.k8s.io/jobset/api/jobset/v1alpha2: JobSetCompleted, JobSetFailed.
	{Group: "jobset.x-k8s.io", Kind: "JobSet"}: {
		conditions: ends("Completed"),
		suspend:    []string{"spec", "suspend"},
	},
	// sigs.k8s.io/kueue/apis/kueue/v1beta1: WorkloadFinished and its reasons. Before 0.7, pkg/controller/jobs used
	// one reason for both results, and only the message shows which it was.
	{Group: "kueue.x-k8s.io", Kind: "Workload"}: {conditions: map[outcome]end{
		{"Finished", "True", "Succeeded", ""}:                                  {state: Succeeded, word: "Succeeded"},
		{"Finished", "True", "JobFinished", "Job finished successfully"}:       {state: Succeeded, word: "Succeeded"},
		{"Finished", "True", "JobSetFinished", "JobSet finished successfully"}: {state: Succeeded, word: "Succeeded"},
		{"Finished", "True", "", ""}:                                           {state: Failed, word: "Failed"},
	}},
	// github.com/kubeflow/trainer/pkg/apis/trainer/v1alpha1: TrainJobComplete, TrainJobFailed.
	{Group: "trainer.kubeflow.org", Kind: "TrainJob"}: {
		conditions: ends("Complete"),
		suspend:    []string{"spec", "suspend"},
	},
	// github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1: JobSucceeded, JobFailed. After the eviction of a
	// worker, the controller continues. So the object has finished only if it has a completionTime.
	{Group: "kubeflow.org", Kind: "MPIJob"}: {
		conditions: map[outcome]end{
			{"Succeeded", "True", "", ""}:           {state: Succeeded},
			{"Failed", "True", "", ""}:              {state: Failed},
			{"Failed", "True", "MPIJobEvicted", ""}: {state: Failed, timed: true},
		},
		suspend: []string{"spec", "runPolicy", "suspend"},
		end:     timeAt("status", "completionTime"),
	},
	// github.com/ray-project/kuberay/ray-operator/apis/ray/v1: JobDeploymentStatus, JobStatus. Older
	// controllers write Complete after a failure, too.
	{Group: "ray.io", Kind: "RayJob"}: {
		phase: []string{"jobDeploymentStatus"}, detail: "jobStatus",
		phases: map[string]State{
			"Complete": Succeeded, "Complete STOPPED": Failed, "Complete FAILED": Failed, "Failed": Failed,
		},
		suspend: []string{"spec", "suspend"},
		end:     timeAt("status", "endTime"),
	},
	// volcano.sh/apis/pkg/apis/batch/v1alpha1: JobPhase. An aborted Job can be resumed.
	{Group: "batch.volcano.sh", Kind: "Job"}: {
		phase:     []string{"state", "phase"},
		phases:    map[string]State{"Completed": Succeeded, "Failed": Failed, "Terminated": Failed},
		suspended: "Aborted",
		end:       timeAt("status", "state", "lastTransitionTime"),
	},
	// github.com/actions/actions-runner-controller/apis/actions.github.com/v1alpha1: EphemeralRunnerStatus.
	{Group: "actions.github.com", Kind: "EphemeralRunner"}: {
		phases: map[string]State{"Succeeded": Succeeded, "Failed": Failed},
	},
}

// ends returns the table for a kind with the conditions Failed and succeeded. Each shows the end if its status is
// True.
func ends(succeeded string) map[outcome]end {
	return map[outcome]end{{succeeded, "True", "", ""}: {state: Succeeded}, {"Failed", "True", "", ""}: {state: Failed}}
}

// succeeded is the table for Tekton's runs, which have one condition. A run that was canceled or timed out has
// failed.
var succeeded = map[outcome]end{
	{"Succeeded", "True", "", ""}:  {state: Succeeded},
	{"Succeeded", "False", "", ""}: {state: Failed, word: "Failed"},
}

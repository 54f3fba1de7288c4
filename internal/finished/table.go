package finished

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind describes the end of the objects of one kind, by phases or by conditions.
type kind struct {
	phases     map[string]State // by status.phase
	conditions map[outcome]end  // by an entry of status.conditions
	suspend    []string         // the path of the field that suspends an object, if the kind has one
	// end reads when an object finished. Without it, that is the lastTransitionTime of the condition.
	end func(object map[string]any) time.Time
}

// outcome is a condition with its status.
type outcome struct{ condition, status string }

// end is the meaning of an outcome.
type end struct {
	state State
	word  string // "" for the type of the condition
}

// table has the kinds whose objects finish. A kind needs a test that has the status as its
// controller writes it.
var table = map[schema.GroupKind]kind{
	// k8s.io/api/batch/v1: JobComplete, JobFailed.
	{Group: "batch", Kind: "Job"}: {
		conditions: map[outcome]end{{"Complete", "True"}: {state: Succeeded}, {"Failed", "True"}: {state: Failed}},
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
		conditions: map[outcome]end{{"Completed", "True"}: {state: Succeeded}, {"Failed", "True"}: {state: Failed}},
		suspend:    []string{"spec", "suspend"},
	},
}

// succeeded are the ends of Tekton's runs, which have one condition. A run that was
// canceled or timed out has failed, too.
var succeeded = map[outcome]end{
	{"Succeeded", "True"}:  {state: Succeeded},
	{"Succeeded", "False"}: {state: Failed, word: "Failed"},
}

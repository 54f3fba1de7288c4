package rules

import (
	"strconv"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// added returns the number of bytes that the object's own fields add to a derived name. applies is false if the row
// doesn't apply to the object.
func added(o Manifest, row derived.Child) (bytes int, applies bool) {
	switch {
	case row.Owner == derived.JobSet:
		return addedByJobSet(o, row)
	case row.Owner == derived.VolcanoJob:
		return addedByTasks(o)
	case row.Owner == derived.MPIJob:
		return addedByWorkers(o)
	case row.Limit == derived.MaxClaim:
		return addedByClaims(o)
	case row.Owner.Kind != "Job":
		return 0, true
	case row.Over == derived.Refused && row.Variant == "" && boolAt(o.Unstructured.Object, "spec", "manualSelector"):
		return 0, false // then the author sets the label
	}
	completions, given := numberAt(o.Unstructured.Object, "spec", "completions")
	indexed := stringAt(o.Unstructured.Object, "spec", "completionMode") == derived.Indexed && given && completions > 0
	switch {
	case row.Variant != derived.Indexed:
		return 0, !indexed || row.Over != derived.Truncated
	case !indexed:
		return 0, false
	}
	return digits(completions - 1), true
}

func addedByJobSet(o Manifest, row derived.Child) (bytes int, applies bool) {
	for _, item := range listAt(o.Unstructured.Object, "spec", "replicatedJobs") {
		job, _ := item.(map[string]any)
		replicas, given := numberAt(job, "replicas")
		if !given {
			replicas = 1
		}
		adds := len("-") + len(stringAt(job, "name")) + len("-") + digits(replicas-1)
		if row.Variant == derived.Indexed {
			completions, _ := numberAt(job, "template", "spec", "completions")
			if stringAt(job, "template", "spec", "completionMode") != derived.Indexed || completions <= 0 {
				continue
			}
			adds += len("-") + digits(completions-1) + len("-") + names.SuffixLength
		}
		bytes, applies = max(bytes, adds), true
	}
	return bytes, applies
}

// addedByTasks returns the number of bytes that the longest task of a Volcano Job adds to a name. Volcano's webhook
// checks the name NAME-TASK-INDEX with the index of the task, although the controller names Pods by the index of the
// replica. So the webhook decides which names are too long.
func addedByTasks(o Manifest) (bytes int, applies bool) {
	for i, item := range listAt(o.Unstructured.Object, "spec", "tasks") {
		task, _ := item.(map[string]any)
		name := stringAt(task, "name")
		if name == "" {
			name = "default" + strconv.Itoa(i)
		}
		bytes, applies = max(bytes, len("-")+len(name)+len("-")+digits(int64(i))), true
	}
	return bytes, applies
}

// addedByWorkers returns the number of digits in the index of an MPIJob's last worker. Only the controller of v2beta1
// has the limit in the table.
func addedByWorkers(o Manifest) (bytes int, applies bool) {
	replicas, _ := numberAt(o.Unstructured.Object, "spec", "mpiReplicaSpecs", "Worker", "replicas")
	return digits(max(replicas, 1) - 1), o.GetAPIVersion() == derived.MPIJob.Group+"/v2beta1"
}

func addedByClaims(o Manifest) (bytes int, applies bool) {
	for _, item := range listAt(o.Unstructured.Object, "spec", "resourceClaims") {
		claim, _ := item.(map[string]any)
		if stringAt(claim, "resourceClaimTemplateName") != "" {
			bytes, applies = max(bytes, len(stringAt(claim, "name"))), true
		}
	}
	return bytes, applies
}

func digits(number int64) int { return len(strconv.FormatInt(number, 10)) }

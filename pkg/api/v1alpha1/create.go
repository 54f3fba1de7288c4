package v1alpha1

// CreateLine is one line of kubectl genname create -o jsonl. As soon as the outcome of a create is known, the command
// prints a line with the outcome. With --wait, it prints a second line for each object, with the result of the object
// instead of the outcome.
type CreateLine struct {
	// Outcome is how the create ended: Created, Exists (an earlier run with the same key created the object), Renamed
	// (a webhook or policy changed the name, which is a failure), Failed, Unknown (the object might exist),
	// NotAttempted (the command ended before it sent the object) or DryRun. It is absent in a line with a result.
	Outcome CreateOutcome `json:"outcome,omitempty"`
	// Result is how the wait ended: Succeeded, Failed, Unfinished (the object had not finished), Deleted (the object
	// was deleted before its result was known) or Unknown (the object could not be read). It is absent in a line with
	// an outcome.
	Result CreateResult `json:"result,omitempty"`
	// APIVersion is the apiVersion of the object.
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the object.
	Kind string `json:"kind"`
	// Namespace is the namespace of the object.
	Namespace string `json:"namespace,omitempty"`
	// Name is the name of the object. If the object was not created, it is the last name that the command sent.
	Name string `json:"name,omitempty"`
	// GenerateName is the generateName of the input; absent in a line with a result.
	GenerateName string `json:"generateName,omitempty"`
	// UID is the UID of the object, if the object exists.
	UID string `json:"uid,omitempty"`
	// Error is the reason why the create failed, why its outcome is unknown, or why the object differs from the input.
	Error string `json:"error,omitempty"`
}

// CreateOutcome is how the create of an object ended.
type CreateOutcome string

const (
	// CreateCreated means that this run created the object.
	CreateCreated CreateOutcome = "Created"
	// CreateExists means that an earlier run with the key created the object.
	CreateExists CreateOutcome = "Exists"
	// CreateRenamed means that a webhook or policy changed the name of the created object, which is a failure.
	CreateRenamed CreateOutcome = "Renamed"
	// CreateFailed means that the object was not created.
	CreateFailed CreateOutcome = "Failed"
	// CreateUnknown means that it is unknown whether the object exists.
	CreateUnknown CreateOutcome = "Unknown"
	// CreateNotAttempted means that the run ended before it sent the object.
	CreateNotAttempted CreateOutcome = "NotAttempted"
	// CreateDryRun means that --dry-run had no error, and created nothing.
	CreateDryRun CreateOutcome = "DryRun"
)

// CreateResult is how the wait for an object ended.
type CreateResult string

const (
	// CreateSucceeded means that the object has succeeded, or meets the conditions of --for.
	CreateSucceeded CreateResult = "Succeeded"
	// CreateHasFailed means that the object has failed.
	CreateHasFailed CreateResult = "Failed"
	// CreateUnfinished means that the object had not finished when the wait ended.
	CreateUnfinished CreateResult = "Unfinished"
	// CreateDeleted means that the object was deleted before its result was known.
	CreateDeleted CreateResult = "Deleted"
	// CreateUnread means that the object could not be read.
	CreateUnread CreateResult = "Unknown"
)

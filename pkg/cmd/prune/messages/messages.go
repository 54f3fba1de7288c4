// Package messages has the texts of kubectl genname prune.
package messages

// Errors in flags and arguments.
const (
	// NoTarget is printed without arguments.
	NoTarget = "name what to delete as TYPE/PREFIX, like jobs/nightly-report-"
	// NotTarget is printed for an argument that is not TYPE/PREFIX: argument.
	NotTarget = "%q is not TYPE/PREFIX, like jobs/nightly-report-"
	// EmptyPrefix is printed for an argument without a prefix: argument.
	EmptyPrefix = "%q has no prefix. Name a whole generateName, like jobs/nightly-report-"
	// Pattern is printed for a prefix with a character of patterns: argument.
	Pattern = "%q is a pattern. Name a whole generateName, like jobs/nightly-report-"
	// NoCriterion is printed without --older-than and --keep.
	NoCriterion = "--older-than or --keep is required, like --older-than 24h"
	// BadAge is printed for a value of --older-than that is neither: value.
	BadAge = "--older-than: %q is neither a duration like 24h or 30d nor a time like 2026-11-21T08:00:00Z"
	// NegativeAge is printed for a negative duration: value.
	NegativeAge = "--older-than must be 0 or more, not %s"
	// BadKeep is printed for a number of newest objects out of range: most, value.
	BadKeep = "--keep must be from 0 to %d, not %d"
	// BadConcurrency is printed for a number of deletions out of range: most, value.
	BadConcurrency = "--concurrency must be from 1 to %d, not %d"
	// BadQPS is printed for a limit that is no number of requests: value.
	BadQPS = "--qps must be 0 or more, not %g"
)

// Errors of a run.
const (
	// FutureAge is printed for a time that is not in the past: value, server's time.
	FutureAge = "--older-than: %s is in the future. The server's time is %s"
	// NoNames is printed for a type whose names are not generated: reason.
	NoNames = "there is nothing to delete: %s"
	// NeverFinishes is printed for --finished with another type: resource.
	NeverFinishes = "--finished: prune doesn't know when %s have finished, only Jobs, Pods, JobSets, " +
		"Argo Workflows, and Tekton's TaskRuns, PipelineRuns and CustomRuns"
	// NoTime is printed if a duration can't be counted back from the server's time.
	NoTime = "--older-than: the server doesn't tell its time. Give a time like 2026-11-21T08:00:00Z"
	// Forbidden is printed if a permission is missing: verb, resource and scope.
	Forbidden = "you can't %s %s"
	// Expired is printed if names were printed of a list that then expired.
	Expired = "the list expired while it was read, so some names are missing. Run the command again"
	// Failure is printed for an object that was not deleted: object, reason.
	Failure = "error: %s was not deleted: %v"
	// UnknownOutcome is printed for an object that may be deleted: object, reason.
	UnknownOutcome = "error: it is unknown whether %s was deleted: %v"
	// MoreFailures follows the first of these lines: number of others.
	MoreFailures = "error: %s more, see -o json"
	// Stopped is printed if the run ended before all deletions: reason.
	Stopped = "error: stopped before all objects were deleted: %v"
	// Interrupted is printed after an interrupt.
	Interrupted = "error: interrupted"
)

// Warnings.
const (
	// MissingPermission is Forbidden in a plan: verb, resource and scope.
	MissingPermission = "Warning: you can't %s %s"
)

// The plan, on stderr.
const (
	// Planned is the first line: objects, criteria.
	Planned = "%s would be deleted: %s."
	// NothingPlanned is the first line if nothing was chosen: scope, criteria.
	NothingPlanned = "Nothing to delete%s with the criteria: %s."
	// Prefixes follows NothingPlanned if no object has the prefix.
	Prefixes = "No name was generated from %s. Name whole generateNames, with a trailing '-' if they have it."
	// SimilarOne follows Prefixes if a generateName shares a truncated prefix.
	SimilarOne = "The first 58 bytes are also those of another generateName. Name it if you mean it:"
	// SimilarMore is SimilarOne for several.
	SimilarMore = "The first 58 bytes are also those of other generateNames. Name them if you mean them:"
	// First names the first objects: names.
	First = "First: %s"
	// FirstOf names them if there are more: names.
	FirstOf = "First: %s, …"
	// HiddenRows is printed below a table that was cut: number of other rows.
	HiddenRows = "%s not shown, see -o json."
	// Left has the number of remaining objects, and the reasons with their numbers.
	Left = "%s left: %s."
	// Confirm is the last line before the command: the objects to delete.
	Confirm = "Nothing was deleted. To delete %s:"
	// Command is a command that is suggested.
	Command = "  %s"
)

// Criteria, in the sentences of the plan.
const (
	// CreatedBefore is --older-than: time.
	CreatedBefore = "created before %s"
	// NotNewest is --keep: number.
	NotNewest = "not among the newest %s of each namespace and prefix"
	// IsFinished is --finished.
	IsFinished = "finished"
	// Matching is --selector: selector.
	Matching = "matching %s"
)

// Reasons why objects are left: their number, and for TooYoung the time.
const (
	TooYoung     = "%s created since %s"
	TooNew       = "%s created since the plan"
	Newest       = "%s among the newest"
	NotFinished  = "%s not finished"
	Controlled   = "%s with a controller (--owned includes them)"
	BeingDeleted = "%s being deleted already"
	NotGenerated = "%s not generated from the prefix"
	UnknownAge   = "%s of unknown age"
	Replaced     = "%s created again under their names"
	Gone         = "%s deleted by another client"
)

// Closing lines.
const (
	// Deleted is the first sentence: deleted, chosen.
	Deleted = "Deleted %s of %s."
	// FailedCount follows it: failed.
	FailedCount = "Failed: %s."
	// UnknownCount follows it: unknown.
	UnknownCount = "Unknown: %s."
	// NotTriedCount follows it: not tried.
	NotTriedCount = "Not tried: %s."
	// GoOn is the last line, before the command.
	GoOn = "To go on, run:"
)

// Progress.
const (
	// Finding is shown while objects are listed: objects to delete.
	Finding = "listing: %s to delete"
	// Deleting is shown while objects are deleted: done, all, failed.
	Deleting = "deleting: %s of %s, %s failed"
)

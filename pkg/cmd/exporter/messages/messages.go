// Package messages has the texts of kubectl genname exporter.
package messages

// Errors in flags and arguments.
const (
	// BadTop is printed for a --top below 1: value.
	BadTop = "--top must be 1 or more, not %d"
	// BadMinCount is printed for a --min-count below 1: value.
	BadMinCount = "--min-count must be 1 or more, not %d"
	// TwoScopes is printed for -n with -A.
	TwoScopes = "--namespace and --all-namespaces can't be used together"
	// Prefix is printed for an argument TYPE/PREFIX: argument.
	Prefix = "%q names a prefix. The exporter takes only resource types, like jobs"
	// BadWebConfig is printed for a --web.config.file that can't be used: reason.
	BadWebConfig = "--web.config.file: %w"
	// BadAddress is printed for an address that can't be listened on: flag, reason.
	BadAddress = "%s: %w"
)

// Errors.
const (
	// Stopped is the error if a server of the exporter fails: flag, reason.
	Stopped = "the HTTP server of %s stopped: %w"
)

// Warnings.
const (
	// Gap is printed if a resource type was counted again: resource type, reason.
	Gap = "Warning: %s was counted again, and its creates and deletes are lower bounds, " +
		"because the watch lost events: %v"
	// Unwatched is printed if a resource type can't be watched: resource type, reason.
	Unwatched = "Warning: %s is listed repeatedly and has no counters, because it can't be watched: %v"
	// Undiscovered is printed if the resource types can't be discovered: reason.
	Undiscovered = "Warning: the resource types can't be discovered, so new types aren't counted yet: %v"
	// Skipped is printed for a resource type or API group that is not counted: type, reason.
	Skipped = "Warning: %s is not counted: %s"
	// Forbidden is printed for the types without permission: number of types, types.
	Forbidden = "Warning: %s not counted, because the exporter needs permission to list and watch: %s"
)

// Progress.
const (
	// Listening is printed once the exporter listens: address of the metrics, address of
	// the health checks.
	Listening = "Serving %s/metrics, and http://%s/healthz and /readyz"
	// ScopeAll and ScopeOne are the scope: types, namespace.
	ScopeAll = "Counting %s in all namespaces"
	ScopeOne = "Counting %s in the namespace %q. To count all namespaces, use -A"
	// Counted is printed once everything was counted: number of objects, number of types.
	Counted = "Counted %s of %s. The exporter is ready."
	// CountedAgain is printed if a type is counted that was not: resource type.
	CountedAgain = "%s is counted again"
	// WatchedAgain is printed if a type can be watched that could not: resource type.
	WatchedAgain = "%s is watched now"
	// Appeared is printed if a type is new: resource type.
	Appeared = "%s is a new resource type"
	// Vanished is printed if a type is gone: resource type.
	Vanished = "%s is no longer a resource type"
)

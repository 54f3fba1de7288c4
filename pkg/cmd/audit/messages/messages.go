// Package messages has the texts of kubectl genname audit.
package messages

// Errors in flags and arguments.
const (
	// NegativeNumber is printed for a number below 0: flag, value.
	NegativeNumber = "%s must be 0 or more, not %d"
	// NegativeDuration is printed for a duration below 0: flag, value.
	NegativeDuration = "%s must be 0 or more, not %s"
	// BadGrowth is printed for a growth that is no number.
	BadGrowth = "--fail-above-growth must be a number of names per day, not %g"
	// GrowthNeedsCompare is printed without an earlier audit to compare with.
	GrowthNeedsCompare = "--fail-above-growth needs --compare with an earlier audit"
	// BadConcurrency is printed for a number out of range: largest, value.
	BadConcurrency = "--concurrency must be from 0 to %d, not %d"
	// EmptyPrefix is printed for --prefix without a prefix.
	EmptyPrefix = "--prefix must not be empty"
	// PrefixTwice is printed for --prefix with TYPE/PREFIX.
	PrefixTwice = "--prefix and TYPE/PREFIX can't be used together"
	// MixedArguments is printed for TYPE beside TYPE/PREFIX.
	MixedArguments = "%q is not TYPE/PREFIX, but another argument is. Name a prefix in all arguments, or in none"
	// BadArgument is printed for a malformed TYPE/PREFIX.
	BadArgument = "%q is not TYPE/PREFIX, like jobs/nightly-report-"
	// BadFile is printed for an audit of --compare that can't be read: file, reason.
	BadFile = "--compare: %s %w"
	// NotComparable is printed for an earlier audit of other objects: file, reason.
	NotComparable = "--compare: can't compare with %s: %w"
	// BadRetryTimeout is printed for a duration that isn't positive.
	BadRetryTimeout = "--retry-timeout must be positive, not %s"
	// PoliteConcurrency is printed for --polite with parallel lists.
	PoliteConcurrency = "--polite sends one request at a time, so --concurrency can't be %d"
	// EstimateOutput is printed for --estimate with -o.
	EstimateOutput = "--estimate prints only a table and takes no --output"
	// WatchFlagsAlone is printed for a flag of --watch without it.
	WatchFlagsAlone = "--duration and --interval need --watch"
	// BadInterval is printed for an interval that isn't positive.
	BadInterval = "--interval must be positive, not %s"
	// EstimateWatch is printed for --estimate with --watch.
	EstimateWatch = "--estimate doesn't count, so it can't be used with --watch"
	// SortByWatch is printed for an order by counts that --watch doesn't have.
	SortByWatch = "--sort-by=%s counts objects of one audit, so it can't be used with --watch"
	// EstimateGate is printed for --estimate with a gate or --compare.
	EstimateGate = "--estimate doesn't count, so it takes neither --compare nor a gate"
)

// Errors.
const (
	// Incomplete is the error of an audit that could not read everything.
	Incomplete = "the audit could not read everything, so its counts are lower bounds. " +
		"The warnings above name the missing parts"
	// Interrupted is the last line after an interrupt.
	Interrupted = "error: interrupted"
	// InterruptedIncomplete is the last line after an interrupt before the audit had read
	// everything.
	InterruptedIncomplete = "error: interrupted before the audit had read everything, so its counts are lower bounds"
	// GateFoundNoName is the error of a gate on prefixes without names: prefixes.
	GateFoundNoName = "the gate checked nothing, because no name has the prefix %s. " +
		"To let the gate pass without names, add:\n  --ignore-not-found"
	// GateSelectedNothing is the error of a gate on an empty selection: selector.
	GateSelectedNothing = "the gate checked nothing, because no prefix matches --selector=%q. " +
		"To let the gate pass without prefixes, add:\n  --ignore-not-found"
	// GateOtherCluster is printed if a gate on growth has an audit of another cluster.
	GateOtherCluster = "--fail-above-growth: %s is an audit of another cluster"
	// GateOneNamespace is printed if a gate on growth covers all namespaces, but the earlier
	// audit covers one.
	GateOneNamespace = "--fail-above-growth: only namespace %s could be compared, " +
		"because %s is an audit of that namespace"
	// GateComparedNothing is the error of a gate on growth if the earlier audit has no
	// resource type of this one: file.
	GateComparedNothing = "--fail-above-growth checked nothing, because %s has none of these resource types"
	// GateUndecided is the error of a gate on growth that the earlier audit leaves open:
	// number of prefixes.
	GateUndecided = "--fail-above-growth can't check %s, because the earlier audit hid prefixes. " +
		"Save the next audit with all prefixes:\n  kubectl genname audit --min-count=1 --top=0 -o json"
	// GateNamespace is the error of a gate on a namespace that doesn't exist: reason.
	GateNamespace = "the gate needs a namespace that exists: %w"
	// GateExceeded is the last line if one prefix is above a limit: number, limits, prefix,
	// arguments of the next command.
	GateExceeded = "error: %s above %s: %s\n  kubectl genname audit %s -o wide"
	// GateExceededBySeveral is the last line if several are: number, limits, the worst
	// prefix, number in the report, arguments of the next command.
	GateExceededBySeveral = "error: %s above %s. The worst is %s. -o json lists %s\n  kubectl genname audit %s -o wide"
	// EstimateForbidden is the error of --estimate without permission.
	EstimateForbidden = "you can't list any of the resource types (needs list)"
	// EstimateFailed is the error of --estimate if some types failed: number.
	EstimateFailed = "%s could not be read"
)

// Errors in arguments that a cluster decides.
const (
	// PrefixAlone is printed for an argument that looks like a prefix without a type: reason,
	// prefix twice.
	PrefixAlone = "%w. To audit a prefix, name its type:\n  kubectl genname audit TYPE/%s\n" +
		"or search all types:\n  kubectl genname audit --prefix %s"
)

// Verdict. These lines come first.
const (
	// ReadOf is printed if not everything could be read: types read, all types.
	ReadOf = "Only %s of %s could be read."
	// NoneClose is printed if no prefix is close to failing, and the fullest has the attempts
	// of the server: names, room.
	NoneClose = "No create is close to failing: the server tries %s, " +
		"and the fullest prefix has room for %s more creates."
	// NoneCloseBut is the same for other attempts: prefix, room, attempts.
	NoneCloseBut = "No create is close to failing: the fullest prefix, %s, has room for %s more creates with %s each."
	// OneClose is printed if one prefix is close to failing: prefix, one of the two below.
	OneClose = "1 prefix is close to failing: %s (%s)."
	// SeveralClose is printed if several are: number, the closest, one of the two below.
	SeveralClose = "%s are close to failing. The closest is %s (%s)."
	// ExpectedIn is when a create is expected to fail: names and attempts, time.
	ExpectedIn = "%s, a create fails in about %s at the pace of the last 24 hours"
	// FailsNow is the chance that the next create fails: names and attempts, chance.
	FailsNow = "%s, the next create fails with a chance of %s"
	// AssumesOneAttempt follows if attempts are unknown: number of resource types.
	AssumesOneAttempt = "This assumes one attempt for %s with unknown attempts."
	// MostCreated is printed if many objects are new: up to three prefixes, and Others.
	MostCreated = "Most created in the last 10 minutes: %s."
	// Others is the number of other rows with many new objects.
	Others = "and %s"
	// CreatedFold is a fold in MostCreated: objects and their type, kind of the owners.
	CreatedFold = "%s of %s"
	// NextAudit is the command about a prefix that is close to failing: arguments.
	NextAudit = "  kubectl genname audit %s"
	// NextWatch is the command about a prefix with many new objects: arguments.
	NextWatch = "  kubectl genname audit %s --watch"
)

// Record of one prefix.
const (
	// RecordCreated is when objects were created: numbers of ten minutes and of 24 hours,
	// ages of the oldest and the newest.
	RecordCreated = "%s in the last 10 minutes, %s in the last 24 hours (oldest %s ago, newest %s ago)"
	// RecordRoom is how many more creates are likely to succeed: number.
	RecordRoom = "%s more creates until the chance of any failure is 0.1%%"
	// AttemptsOfServer are the attempts per create: number, version.
	AttemptsOfServer = "%d names per create (this server, %s)"
	// AttemptsOfClient are other attempts: number.
	AttemptsOfClient = "%d per create (the client, or --server-attempts)"
	// AttemptsUnknown is used if the attempts are unknown.
	AttemptsUnknown = "unknown, so the room and the verdict assume 1 per create"
	// RecordClose is the verdict if a failure is expected: time.
	RecordClose = "Close to failing: expected in about %s at the pace of the last 24 hours."
	// RecordFails is the verdict if creates fail already: chance.
	RecordFails = "Close to failing: the next create fails with a chance of %s."
	// RecordMany is the verdict if many objects are new.
	RecordMany = "No create is close to failing. Many objects are new. Watch whether they are deleted again."
	// RecordFine is the verdict otherwise.
	RecordFine = "No problem: no create is close to failing."
	// RecordNext is printed before commands, and RecordNextPrune before those with a prune.
	RecordNext      = "Next:"
	RecordNextPrune = "Next (prune deletes nothing without --yes):"
	// NextPrune is the command that lists the objects to delete: arguments.
	NextPrune = "  kubectl genname prune %s --older-than 1h"
	// NextPruneDay is the same if there are older objects: arguments.
	NextPruneDay = "  kubectl genname prune %s --older-than 24h"
	// NextOwner is the command about the creator: arguments.
	NextOwner = "  kubectl get %s"
)

// Notes in the table that no report has.
const (
	// AboveGate is when a prefix passes a gate at the growth since the earlier audit: time.
	AboveGate = "above the gate %s"
)

// Warnings.
const (
	// OtherCluster is printed for an earlier audit of another cluster: file.
	OtherCluster = "Warning: %s is an audit of another cluster"
	// Skipped is printed for a resource type that could not be read: type, reason.
	Skipped = "Warning: skipped %s: %s"
	// SkippedAll is printed without permission to list any resource type: number.
	SkippedAll = "Warning: skipped all %s, because you can't list any of them (needs list)"
	// SkippedAllNamespaces is the same with -A.
	SkippedAllNamespaces = "Warning: skipped all %s, " +
		"because you can't list any of them in all namespaces (needs list). Try one namespace:\n" +
		"  kubectl genname audit -n NAMESPACE"
	// SkippedForbidden is printed for resource types without permission: number, types.
	SkippedForbidden = "Warning: skipped %s that you can't list (needs list): %s"
	// GateForbidden is the same with a gate that therefore fails: number, types.
	GateForbidden = "Warning: the gate can't check %s that you can't list (needs list): %s. " +
		"To let the gate pass without them, add:\n  --allow-unlisted"
	// GateForbiddenAllowed is the same with --allow-unlisted: number, types.
	GateForbiddenAllowed = "Warning: the gate can't check %s that you can't list (needs list): %s"
	// GateEmptyNamespace is printed for a gate that found no object, if you lack permission
	// to get the namespace: namespace.
	GateEmptyNamespace = "Warning: the gate checked nothing, because namespace %s is empty or doesn't exist. " +
		"To find out which, you need permission to get namespaces"
	// Inconsistent is printed for counts that are not of one resourceVersion: types.
	Inconsistent = "Warning: inconsistent counts of %s. Their lists expired or were not sorted, " +
		"so objects created or deleted during the audit might be missing or included"
	// YoungBaseline is printed for an earlier audit that is too recent: file, age.
	YoungBaseline = "Warning: %s is only %s old, so the growth per day might come from a short burst"
	// Gap is printed by --watch for a type whose watch lost events: type, from, to, reason.
	Gap = "Warning: %s was counted again, because the watch lost events from %s to %s (%v). " +
		"The names are correct, but creates and deletes are lower bounds"
	// Unwatched is printed by --watch for a type that can't be watched: type, reason.
	Unwatched = "Warning: %s can't be watched, so it is counted again at each interval: %v"
	// Undiscovered is printed by --watch if discovery fails: reason.
	Undiscovered = "Warning: the resource types can't be discovered, so new types aren't counted yet: %v"
	// EstimateSkipped is printed by --estimate for a type that could not be read: reason.
	EstimateSkipped = "Warning: %s"
	// EstimateForbiddenTypes is printed by --estimate for types without permission: number.
	EstimateForbiddenTypes = "Warning: %s that you can't list (needs list)"
)

// Closing lines.
const (
	// Read is the last line of an audit with -o wide: objects, types, requests, seconds, prefixes.
	Read = "Read %s of %s in %s and %.1f s: %s"
	// Empty is printed instead of an empty table.
	Empty = "No generated names to show."
	// EmptyIn is printed instead of an empty table of one namespace.
	EmptyIn = "No generated names to show in %s namespace."
	// EmptyInAll is the same if there are no names at all.
	EmptyInAll = "No generated names to show in %s namespace. Use -A for all namespaces."
	// BelowTop begins the line on rows that are not in the table: rows, is or are.
	BelowTop = "%s %s not shown (--top=0 shows all)."
	// Hidden follows for prefixes below --min-count: prefixes, --min-count, is or are.
	Hidden = "%s with fewer than %s %s hidden (--min-count)."
	// Unprefixed follows for objects without a prefix: number, has or have.
	Unprefixed = "%s %s no generated name."
	// Quiet is printed instead of the rows of a watch that have not changed: prefixes and
	// names.
	Quiet = "%s: nothing was created or deleted since the watch began."
	// QuietYet is the same at the beginning, where rows follow.
	QuietYet = "Watching %s. A row appears when an object is created or deleted."
	// NotFound is printed for prefixes without names: prefixes.
	NotFound = "No name has the prefix %s. A prefix is a whole generateName: is a '-' missing?"
	// NotFoundPattern is the same for a prefix with a wildcard.
	NotFoundPattern = "No name has the prefix %s. A prefix is a whole generateName, not a pattern."
	// Gone is printed for prefixes that only the earlier audit has: number, prefixes.
	Gone = "%s gone: %s"
	// NotComparedPrefixes is printed if the earlier audit counted some prefixes: file, prefixes.
	NotComparedPrefixes = "Not compared, because %s has not counted them: prefixes other than %s"
	// ComparedNamespace is printed if the earlier audit is of one namespace: namespace, file.
	ComparedNamespace = "Only namespace %s was compared, because %s has no other"
	// NotComparedBefore is printed for types that only the earlier audit has: file, types.
	NotComparedBefore = "Not compared, because only %s has them: %s"
	// NotComparedNow is printed for types that the earlier audit doesn't have: file, types.
	NotComparedNow = "Not compared, because %s has not read them: %s"
	// Estimated is the last line of --estimate: objects, types, requests, bytes.
	Estimated = "An audit would read %s of %s: about %s and %s of metadata"
	// Watched is the last line of --watch: types, events, gaps.
	Watched = "Watched %s: %s, %s"
	// WatchedIdle is the same if there were events: types, events, percentage, gaps.
	WatchedIdle = "Watched %s: %s, %.0f%% of them updates that change no count, %s"
)

// Notices of a watch.
const (
	// WatchedAgain is printed for a type that could not be watched before.
	WatchedAgain = "%s is watched now"
	// Appeared is printed for a new type.
	Appeared = "%s is a new resource type"
	// Vanished is printed for a type that the server no longer has.
	Vanished = "%s is no longer a resource type"
	// NotShown is printed for a row that is left out from now on: prefix, one of the two
	// reasons below.
	NotShown = "%s is no longer shown, because %s"
	// NotFirst is the reason if others are above it: --top.
	NotFirst = "it is not among the first %d"
	// TooFew is the reason otherwise: --min-count.
	TooFew = "it has fewer than %s, or no object has this generateName"
	// Dropped is printed at the end of a screen before the last notices: number.
	Dropped = "%s before the following ones are left out"
)

// Status line of a watch. Its parts are joined by semicolons.
const (
	// Below is how many rows the screen doesn't show.
	Below = "%s below"
	// BelowAndTop is the same if --top leaves out more: number, --top.
	BelowAndTop = "%s below, and the rows after --top=%d"
	// Passed is how long the watch has lasted, of which duration.
	Passed = "%s of %s"
	// Watching is how many types are watched, and how many have no prefixes.
	Watching = "%s watched, %d quiet"
	// Recounted is how many types can't be watched.
	Recounted = ", %d counted again"
	// Unread is how many types could not be read.
	Unread = ", %d not read"
	// Quit is the key that ends the watch.
	Quit = "q quits"
)

// Progress.
const (
	// Discovering is shown while the resource types are discovered.
	Discovering = "discovering resource types"
	// Estimating is shown while --estimate reads one object of each type.
	Estimating = "reading one object of each resource type"
	// Evaluating is shown while the report is calculated.
	Evaluating = "calculating the report"
	// Resting is shown during a pause of --polite: duration.
	Resting = "Pausing for %s, nine times as long as the last request took (--polite)"
)

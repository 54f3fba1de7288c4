// Package messages has the texts of kubectl genname report.
package messages

// Errors in flags and arguments.
const (
	// BadSuffixLength is printed for a length out of range: longest, value.
	BadSuffixLength = "--suffix-length must be from 1 to %d, not %d"
	// NegativeExisting is printed for --existing below 0.
	NegativeExisting = "--existing must be 0 or more, not %d"
	// NoCreates is printed for --creates without a number.
	NoCreates = "--creates must have a number"
	// BadCreates is printed for a number of creates below 1.
	BadCreates = "--creates must be at least 1, not %d"
	// BadClientAttempts is printed for a number out of range: largest, value.
	BadClientAttempts = "--client-attempts must be from 1 to %d, not %d"
	// BadProbability is printed for a probability that is 0 or 1.
	BadProbability = "--probability must be above 0 and below 1, not %g"
	// BadRate is printed for a rate out of range: largest, value.
	BadRate = "--rate must be above 0 and at most %g creates per day, not %g"
	// ForWithoutRate is printed for --for alone.
	ForWithoutRate = "--for needs --rate"
	// BadFor is printed for a duration that isn't positive.
	BadFor = "--for must be positive, not %s"
	// SeveralSources is printed for more than one source of counts: flags.
	SeveralSources = "%s can't be used together, because each sets the number of existing names"
	// SuffixLengthOfServer is printed for --suffix-length with names of a server.
	SuffixLengthOfServer = "--suffix-length can't be used with counted names, because servers always use %d characters"
	// BadArgument is printed for a malformed TYPE/PREFIX.
	BadArgument = "%q is not TYPE/PREFIX, like jobs/nightly-report-"
	// NotOneType is printed for a TYPE that means several.
	NotOneType = "%q means several resource types. Name one of them"
	// BadExisting is printed for more names than can exist: flag or prefix, names,
	// length of the suffix, largest.
	BadExisting = "%s: %s can't exist, because a suffix of %s allows only %s"
	// PlotFlagsAlone is printed for a flag of --plot without it.
	PlotFlagsAlone = "--plot-scale and --plot-retries need --plot"
	// BadPlotFile is printed for a file of another format.
	BadPlotFile = "--plot must be a file that ends in .svg or .png, or - for the terminal, not %q"
	// PlotAndOutput is printed if both the picture and the report would be on stdout.
	PlotAndOutput = "--plot=- can't be used with -o, because both print on stdout"
	// TooManyCurves is printed for too many numbers of retries: largest, value.
	TooManyCurves = "--plot-retries can draw at most %d curves, not %d"
	// BadRetries is printed for a malformed list of retries: value, limit.
	BadRetries = "%q is no list of retries below %d, like 0,1 or 0-8"
)

// Errors.
const (
	// BadFrom is printed for a file of --from that can't be read: reason.
	BadFrom = "--from: %w"
	// BadAudit is printed for a file that is no audit: file, reason.
	BadAudit = "--from: %s %w"
	// NoPrefix is printed for an audit without prefixes: file.
	NoPrefix = "--from: %s has no prefix. Save an audit with all prefixes:\n" +
		"  kubectl genname audit --min-count=1 --top=0 -o json"
	// NothingGenerated is printed for manifests without an object to report on.
	NothingGenerated = "there is nothing to report on, because no object in the input has a generateName and no name"
	// Interrupted is printed after an interrupt.
	Interrupted = "interrupted before the report was complete"
	// Plot is printed for a picture that can't be drawn: reason.
	Plot = "--plot: %w"
	// PlotOfAudit is printed for a picture of an audit of several prefixes: file, number.
	PlotOfAudit = "--plot draws one prefix, but %s has %d. Save an audit of one prefix:\n" +
		"  kubectl genname audit TYPE/PREFIX -o json > audit.json"
	// PlotOfSeveral is printed for a picture of several prefixes: number.
	PlotOfSeveral = "--plot draws one prefix, not %d. Name one prefix"
	// NoFile is printed if the picture would replace a directory or a device: file.
	NoFile = "%s exists, and is not a file"
	// NotWritten is printed for a picture that can't be written: file, reason.
	NotWritten = "can't write %s: %w"
	// GateExceeded is the last line if rows are above the limit: limit, number.
	GateExceeded = "error: the chance that a create fails is above --fail-above %s in %s"
	// GateIncomplete is the error of a gate that an incomplete audit leaves open.
	GateIncomplete = "can't evaluate --fail-above, because the audit was incomplete and a chance might be higher. " +
		"Save a complete audit, and run report again"
	// GateNoNames is the error of a gate on prefixes without names: number.
	GateNoNames = "--fail-above is not exceeded, but %s without names might be misspelled. " +
		"To let the gate pass without names, add:\n  --ignore-not-found"
)

// Warnings.
const (
	// Skipped is printed for an object of a manifest without a generated name: file,
	// object, one of the two reasons below.
	Skipped = "Warning: %s: skipped %s, because %s"
	// NoGenerateName is a reason of Skipped.
	NoGenerateName = "it has no generateName"
	// HasName is a reason of Skipped.
	HasName = "it has a name, so the server ignores its generateName"
	// IncompleteAudit is printed for an audit that could not read everything.
	IncompleteAudit = "Warning: the audit was incomplete, so its counts and all chances are lower bounds"
	// HiddenByAudit is printed for prefixes that the audit hid: prefixes, names.
	HiddenByAudit = "Warning: the report leaves out %s with %s, because the audit hid them. " +
		"Save the next audit with all prefixes:\n  kubectl genname audit --min-count=1 --top=0 -o json"
	// Inconsistent is printed for counts that are not of one resourceVersion: types.
	Inconsistent = "Warning: inconsistent counts of %s. Their lists expired or were not sorted, " +
		"so objects created or deleted during the count might be missing or included"
	// NoNames is printed for a prefix without names: type, prefix.
	NoNames = "Warning: no object of %s has the prefix %s. A prefix is a whole generateName: is a '-' missing?"
	// NoNamesIn is the same for a namespaced type: type, namespace, prefix.
	NoNamesIn = "Warning: no object of %s in namespace %s has the prefix %s. " +
		"A prefix is a whole generateName: is a '-' missing, or is it in another namespace?"
)

// The verdict, in the first lines: a state, the attempts, and a chance.
const (
	// NewPrefix is the first sentence without a cluster and without names.
	NewPrefix = "A new prefix has no names."
	// APrefix is the first sentence without a cluster: names.
	APrefix = "A prefix has %s."
	// Names is the first sentence about a prefix of a cluster: prefix, names.
	Names = "%s has %s."
	// NoNamesYet is the number of names of a prefix without any.
	NoNamesYet = "no names"
	// Suffixes is printed after it for another length: characters.
	Suffixes = "Its suffixes have %s."
	// OK is printed if the next 1,000 creates are unlikely to fail: attempts, chance.
	OK = "No problem: %s, and %s."
	// Risk is printed if any of the next 1,000 creates might fail: attempts, chance.
	Risk = "Creates might fail: %s, and %s."
	// Failing is printed if the next create might fail: attempts, chance.
	Failing = "A problem: %s, and %s."
	// ServerAttempts is the attempts of the verdict: server, names.
	ServerAttempts = "%s tries %s per create"
	// ServerAttemptsUnknown is the attempts of the verdict if their number is unknown: server.
	ServerAttemptsUnknown = "%s tries an unknown number of names per create, at least 1"
	// ThisServer is the server of the verdict: version.
	ThisServer = "this server (%s)"
	// AnyServer is the server if none was asked.
	AnyServer = "a server of Kubernetes 1.32 or later"
	// FlagServer is the server if none was asked and a flag sets its attempts.
	FlagServer = "a server"
	// ByFlag follows ServerAttempts if a flag sets the attempts.
	ByFlag = " (--server-attempts)"
	// After is the chance of the verdict: creates, probability.
	After = "after %s the chance that any has failed is %s"
	// Next is the chance if the next create might fail: probability.
	Next = "the next create fails with a chance of %s"
	// AtMost is the probability of a server whose attempts are unknown: probability.
	AtMost = "at most %s"
	// SeveralOK is the verdict about several prefixes: number, prefix, chance.
	SeveralOK = "No problem with %s: even under %s, which has the least room, %s."
	// SeveralRisk is the verdict if creates might fail: prefixes, all prefixes, prefix, chance.
	SeveralRisk = "Creates might fail under %s of %s: under %s, %s."
	// SeveralFailing is the verdict if creates fail: prefixes, all prefixes, prefix, chance.
	SeveralFailing = "A problem with %s of %s: under %s, %s."
	// SeveralUnknown follows the verdict if attempts are unknown: number.
	SeveralUnknown = "The server's attempts are unknown for %s. The report assumes 1."
)

// Hints.
const (
	// UseCreate is printed if the plugin's own attempts make failures unlikely: attempts.
	UseCreate = "To try up to %s per create, use:\n  kubectl genname create -f FILENAME"
	// Prune is printed if creates fail: prefix.
	Prune = "To see which old objects you can delete, run:\n  kubectl genname prune %s --older-than=24h"
)

// The table of one prefix.
const (
	// Creates is the header of the first column. The numbers of creates follow.
	Creates = "AFTER … MORE CREATES"
	// At is the header of the last column: probability.
	At = "%s AT"
	// ServerRow is a row: attempts.
	ServerRow = "this server, %s"
	// AnyServerRow is that row if no server was asked: attempts.
	AnyServerRow = "a server, %s"
	// AttemptsUnknown is the attempts of such a row if their number is unknown.
	AttemptsUnknown = "attempts unknown"
	// CreateRow is the row of this plugin.
	CreateRow = "kubectl genname create"
	// NoRetriesRow is the row of one attempt.
	NoRetriesRow = "without retries"
	// Legend explains the cells: the sign of a small chance, probability.
	Legend = "Cells show the chance that any of these creates has failed. %[1]s is less than one in 10^9. " +
		"%[2]s AT is the number of creates after which the chance is %[2]s."
	// Churn is the heading of the table of --rate: creates, duration.
	Churn = "With %s creates and as many deletions a day, for %s:"
	// FailuresPerDay, FirstFailure and AnyFailure are its headers.
	FailuresPerDay = "FAILURES PER DAY"
	FirstFailure   = "FIRST FAILURE AFTER"
	AnyFailure     = "ANY FAILURE"
	// Ages is a time that is too long to matter.
	Ages = "over a million years"
)

// The further tables of -o wide.
const (
	// Pool is printed first: characters to choose from, length of the suffix, size.
	Pool = "A prefix can have %d^%d = %s names."
	// Odds is the heading of the chances with all digits.
	Odds = "Chance that any create fails, and that any takes the name of a deleted object:"
	// Failures, Attempts and Lengths are the headings of the next tables.
	Failures = "Expected failures (in brackets: if each create is repeated until it succeeds):"
	Attempts = "Expected extra attempts (each calls every validating webhook again):"
	Lengths  = "Suffix length with the same chance without retries:"
	// Policies is the heading of the table of policies: probability.
	Policies = "The next create, and the creates until the chance of a failure exceeds %s:"
	// WideChurn is the heading for --rate: creates, duration.
	WideChurn = "%s creates and as many deletions a day, for %s:"
	// Reuses is printed below WideChurn: creates, expected reuses, chance.
	Reuses = "Of %s creates, %s take the name of a deleted object (chance of any: %s)."
	// Reuse explains the column REUSE.
	Reuse = "REUSE is the chance that a new object gets the name of a deleted object.\n" +
		"It assumes one deletion before each create."
)

// The table of several prefixes.
const (
	// Columns explains it: probability.
	Columns = "%[1]s AT is the number of creates after which the chance that any has failed is %[1]s."
	// CreatesColumns explains the columns of numbers.
	CreatesColumns = "The numbered columns show the chance that any of so many creates has failed."
	// MoreColumns explains the last columns of -o wide: probability.
	MoreColumns = "CREATE is %[1]s AT with kubectl genname create, NO-RETRIES is %[1]s AT without retries."
	// NegligibleCells explains the sign of a small chance: sign.
	NegligibleCells = "%s is less than one in 10^9."
)

// Text of a picture.
const (
	// PlotTitle is the title for any prefix: characters to choose from, length of the
	// suffix, size of the name pool.
	PlotTitle = "Chance that a create fails, of %d^%d = %s names"
	// PlotTitleOf is the title for one prefix: prefix.
	PlotTitleOf = "%s: chance that a create fails"
)

// Progress.
const (
	// Discovering is shown while the resource types are discovered.
	Discovering = "discovering resource types"
)

// Package messages holds the texts that the command create prints, besides
// kubectl's own. Commands and tests refer to them. It holds nothing else.
package messages

// Errors in flags and arguments.
const (
	// BadAttempts is for --attempts out of range.
	BadAttempts = "--attempts must be from 1 to %d, not %d"
	// BadRetryTimeout is for a negative --retry-timeout.
	BadRetryTimeout = "--retry-timeout must be 0 or more, not %s"
	// EmptyKey is for a key or a secret without a value. The argument is the flag or variable.
	EmptyKey = "%s must not be empty"
	// TwoKeys is for a key as an argument and in a file.
	TwoKeys = "--idempotency-key and --idempotency-key-file cannot be used together"
	// KeyOfManyLines is for a file with more than the key.
	KeyOfManyLines = "%s: must have one line"
	// BadSecret is for a secret that is too short, for example: source, line, reason.
	BadSecret = "%s, line %d: %w. Print a new one with: openssl rand -hex 32"
	// RepeatedSecret is for a secret that is on two lines: source, line.
	RepeatedSecret = "%s, line %d: the secret is given twice"
	// SecretWithoutKey is for a secret without a key.
	SecretWithoutKey = "--idempotency-secret-file needs --idempotency-key or --idempotency-key-file"
	// BadEndOfKey is for a key that begins or ends with a separator.
	BadEndOfKey = "the idempotency key begins or ends with %q. A variable in it was probably empty"
	// KeyAndServerNaming is for a key together with --naming=server.
	KeyAndServerNaming = "--idempotency-key cannot be used with --naming=server, " +
		"because only the plugin can repeat a name"
	// BadCount is for --count below 1.
	BadCount = "--count must be at least 1, not %d"
	// BadConcurrency is for --concurrency below 1.
	BadConcurrency = "--concurrency must be at least 1, not %d"
	// BadQPS is for --qps that is negative or no number.
	BadQPS = "--qps must be 0 or more, not %g"
	// BadBurst is for --burst that is negative or lacks --qps.
	BadBurst = "--burst must be 0 or more, and needs --qps"
	// OnlyKubectl is for a flag that kubectl's --edit or --raw would ignore.
	OnlyKubectl = "--%s cannot be used with %s, which is passed on to kubectl create"
	// VariableAndKubectl is for the variable of a key with --edit or --raw.
	VariableAndKubectl = "$%s cannot be used with %s, which is passed on to kubectl create"
	// NeedsWait is for a flag of the wait without --wait.
	NeedsWait = "--%s needs --wait"
	// WaitAndDryRun is for --wait together with --dry-run.
	WaitAndDryRun = "--wait cannot be used with --dry-run, because nothing is created"
	// BadFor is for a value of --for, with one of the reasons below.
	BadFor = "--for=%s: %w"
	// UnknownFor, ForWithoutName, ForWithoutPath, ForWithoutValue and ForManyParts are
	// reasons of BadFor.
	UnknownFor      = "the value must be condition=NAME[=VALUE] or jsonpath=EXPRESSION[=VALUE], as for kubectl wait"
	ForWithoutName  = "the condition has no name"
	ForWithoutPath  = "the JSONPath expression is empty"
	ForWithoutValue = "the value after the equals sign is empty"
	ForManyParts    = "the expression contains more than one equals sign. An equals sign in an expression is =="
	// DryRunAndEdit is for --dry-run together with --edit.
	DryRunAndEdit = "--dry-run cannot be used with --edit, because kubectl create would create the object"
	// FileAsArgument is for a file without -f.
	FileAsArgument = "unexpected argument %q. Name each file with -f, like %s -f %s"
	// NoSubcommands is for a subcommand of kubectl create.
	NoSubcommands = "%s has no subcommands. Pipe the output of kubectl into it:\n" +
		"  kubectl %s … --dry-run=client -o yaml | %s -f -"
)

// Errors of a run. The command adds "error: " and, for an error of the server,
// kubectl's own words.
const (
	// Error begins an error among several.
	Error = "error: %w"
	// NothingCreated is for objects of the key that cannot be listed.
	NothingCreated = "nothing was created: %v"
	// StaleList is for a listed object that does not exist.
	StaleList = "nothing was created, because the server lists %s, and can't find it. " +
		"Its cache is newer than etcd, for example after etcd was restored from a backup.\n" +
		"Restart the API servers. Then run the same command again."
	// Unexpected is for objects of the key that the input does not contain: number, objects,
	// one of the causes below.
	Unexpected = "the key was used for a different input, so nothing was created. " +
		"Earlier runs with the key created %s from documents that are not in this input: %s\n" +
		"%s\n" +
		"Run the command with the earlier input."
	// UnexpectedCauses is the cause of Unexpected if no document was only changed.
	UnexpectedCauses = "Either a document was removed, or its name, generateName or order was changed, " +
		"or --count was lowered."
	// Differs is the cause if a document was changed: document, object, fields.
	Differs = "%s in the input differs from %s in these fields, or a field was removed:\n%s"
	// Removed is the cause if a document lacks a field: document, object.
	Removed = "A field was removed from %s in the input. All other fields are the same in %s."
	// NeedsSecret is for an object that was made with a secret, in a run without one.
	NeedsSecret = "nothing was created, because an earlier run with the key used a secret and created %s\n" +
		"Give the same secret with --idempotency-secret-file."
	// SeveralSecrets is for two objects that were made with different secrets.
	SeveralSecrets = "nothing was created, because runs with this key used different secrets. " +
		"They created %s with one, and %s with another.\n" +
		"Keep the objects of one secret, delete the others, and run the command again."
	// NoClientNaming is for a resource type that cannot be created with a key.
	NoClientNaming = "--idempotency-key cannot be used for %s in %s, because %s"
	// NamesIgnored, NotStored and NotReadable are reasons of NoClientNaming and
	// ServerNames.
	NamesIgnored = "the server uses generateName itself as the name"
	NotStored    = "the server does not store them"
	NotReadable  = "their API has no verb get"
	// NotPrinted is for an object that was created and cannot be printed.
	NotPrinted = "%s was created, but it can't be printed: %v"
	// NameWithControlCharacters is for a name that -o name can't print safely.
	NameWithControlCharacters = "its name has control characters, which -o name doesn't escape. Use -o json"
	// ExistingNotRead is for an object that exists and cannot be read.
	ExistingNotRead = "%s exists, but it can't be read: %v"
	// ExistingNotPrinted is for an object that exists and cannot be printed.
	ExistingNotPrinted = "%s exists, but it can't be printed: %v"
	// NameAndGenerateName is added to AlreadyExists for an object with both.
	NameAndGenerateName = " (the object has a name and a generateName, and the server uses the name)"
)

// Errors of --wait before the first object of a type is created.
const (
	// NothingToWaitFor is for an input without an object that can be waited for.
	NothingToWaitFor = "nothing was created, because the input contains no object that --wait can wait for. " +
		"Without --for, these are Jobs, Pods, Tekton runs, Argo Workflows and JobSets."
	// PodRestarts is for a Pod that restarts permanently.
	PodRestarts = "--wait cannot wait for %s, because a Pod with restartPolicy Always never finishes. " +
		"Set restartPolicy to Never or OnFailure, or use --for=condition=Ready."
	// NoWatch is for objects that the user has no permission to read.
	NoWatch = "--wait needs permission to list and watch %s, or to get them"
	// TooManyToPoll is for objects that the user has only permission to get.
	TooManyToPoll = "--wait needs permission to list and watch %s. " +
		"With permission to get, it can wait for up to %d objects."
)

// Errors of --wait about one object, printed as they happen.
const (
	// HasFailed is for an object that has failed, with its reason and the next command.
	HasFailed = "error: %s has failed%s\n  %s"
	// WasDeleted is for an object that was deleted.
	WasDeleted = "error: %s was deleted before its result was known"
	// WasReplaced is for an object whose name another object has now.
	WasReplaced = "error: %s was deleted before its result was known, and another object has its name\n  kubectl get %s"
	// WaitAbandoned is for an object that cannot be read or evaluated.
	WaitAbandoned = "error: the wait for %s ended without a result: %v\n  kubectl get %s"
	// ForManyValues and ForNested are reasons of WaitAbandoned for --for=jsonpath.
	ForManyValues = "the JSONPath expression of --for matches more than one value"
	ForNested     = "the JSONPath expression of --for leads to an object or a list"
	// WaitRetry is a warning for objects that cannot be read at the moment.
	WaitRetry = "can't read %s: %v. Retrying for up to %s."
)

// Progress of --wait.
const (
	// Suspended is for an object that runs and is suspended.
	Suspended = "%s is suspended. The wait goes on until it is resumed and has finished."
	// WaitProgress is the line on a terminal, with WaitCounts.
	WaitProgress = "waiting: %s"
	// WaitCounts is how the objects have ended.
	WaitCounts = "%d succeeded, %d failed, %d running"
	// CountSuspended, CountDeleted and CountAbandoned follow WaitCounts if there are any.
	CountSuspended = " (%d suspended)"
	CountDeleted   = ", %d deleted"
	CountAbandoned = ", %d unknown"
	// Waited is the last line if all objects have succeeded.
	Waited = "Waited for %s: %s."
)

// Closing lines of --wait if not all objects have succeeded.
const (
	// NotWaited is the last line otherwise: a reason below or of Summary, and WaitCounts.
	NotWaited = "error: %s: %s"
	// NotAllSucceeded, TimeOver and NotAllKnown are reasons of NotWaited.
	NotAllSucceeded = "not all objects succeeded"
	TimeOver        = "not all objects finished within --wait-timeout=%s"
	NotAllKnown     = "not all results are known"
	// MoreEnded is for objects whose end is not printed.
	MoreEnded = "error: %d more objects failed, were deleted, or could not be read"
	// GoesOnRunning names the objects that have not finished.
	GoesOnRunning = "These objects go on running:\n%s"
	// RunningSuspended and RunningMore are parts of GoesOnRunning.
	RunningSuspended = "  # suspended"
	RunningMore      = "  (%d more)"
	// WaitAgain is how to go on with a key.
	WaitAgain = "Run the same command again. It creates nothing twice, and goes on waiting."
	// DontRunAgain is how to go on without a key.
	DontRunAgain = "Don't run the command again to go on waiting. It would create the objects a second time."
)

// Errors and warnings about one object, printed as they happen.
const (
	// OutcomeUnknown is for an object that may exist.
	OutcomeUnknown = "error: outcome unknown: %s: %v"
	// Warning begins all warnings.
	Warning = "Warning: "
	// BadPrefix is for a generateName in which lint finds an error: object, error, fix, rule.
	BadPrefix = "%s: %s. To fix this, %s (lint rule %s)."
	// FixedNames is for --count with objects that have a fixed name.
	FixedNames = "--count applies to objects with generateName. An object with a fixed name is created once."
	// ServerNames is for a resource type whose names the server picks.
	ServerNames = "the server picks the names of %s, because %s. " +
		"If a response is lost, the plugin can't find out whether the object was created."
	// NoGet is for objects that the user has no permission to get.
	NoGet = "no permission to get %s. " +
		"If a response is lost, the plugin can't find out whether the object was created."
	// RefusalUnverified is for a refusal without permission to get the object, or
	// with a credential that the server no longer accepts.
	RefusalUnverified = "the server refused a create, and the plugin can't get %s to check the object. " +
		"If a proxy repeated the request, the first copy may have created the object."
	// ConflictUnverified is for a conflict without permission to get the object.
	ConflictUnverified = "no permission to get %s. A name was taken, so the plugin tried another one. " +
		"If a proxy repeated the first request, two objects exist."
	// SentOnce is for a place where an object used up its time.
	SentOnce = "an object of %s used up its --retry-timeout. " +
		"Until the server creates one, the plugin sends each of the next objects once, without retries."
	// IDRemoved is for objects that are stored without the creation ID annotation.
	IDRemoved = "%s are stored without %s, for example because a webhook removes it. " +
		"If a response is lost, the plugin can't recognize the object."
	// LabelRemoved is for objects that are stored without the run's label.
	LabelRemoved = "%s are stored without %s, for example because a webhook removes it. " +
		"The list of the objects of this run leaves them out."
	// LabelLost is for an object of an earlier run that has lost the run's label.
	LabelLost = "%s was created with this key, and no longer has %s."
	// Unverified is for objects with the run's label that don't belong to the run.
	Unverified = "the run ignores %s with its label, like %s. " +
		"Another user created the object, or something changed its name or annotations."
	// OtherSecret is Unverified for a run with a secret.
	OtherSecret = "the run ignores %s with its label, like %s. " +
		"Another user created the object, or the secret was changed. " +
		"If it was changed, add the former secret as the second line of the secret's file."
	// AnnotationsTooLong is for annotations that are too long only together with the
	// plugin's.
	AnnotationsTooLong = "the object has %d bytes of annotations, and the plugin adds %s. " +
		"Together they are longer than the server allows."
	// Expiring is for objects that are deleted after they finish.
	Expiring = "%s with ttlSecondsAfterFinished are deleted after they finish. " +
		"A later run with this key creates them again."
	// Terminating is for an object of an earlier run that is being deleted.
	Terminating = "%s is being deleted. A later run with this key creates it again."
	// SpecChanged is for existing objects with another spec than at their creation.
	SpecChanged = "the spec of objects was changed after they were created (metadata.generation is above 1): %s"
)

// Progress.
const (
	// Waiting is printed at an interrupt, with the objects in progress.
	Waiting = "Interrupted. Waiting up to %s for the responses of these creates. To stop now, interrupt again:\n%s"
	// Searching is printed while the objects of a key are listed.
	Searching = "searching for objects of this key: %d of %s read"
	// Retry is printed before each retry, with one of the actions below.
	Retry = "%s: %v (%s)"
	// Resend is an action of Retry.
	Resend = "sending it again in %s"
	// ReadBack is an action of Retry.
	ReadBack = "checking whether it exists"
	// ReadBackIn is an action of Retry.
	ReadBackIn = "checking whether it exists in %s"
	// Recheck is an action of Retry after a refusal.
	Recheck = "checking for %s whether it exists"
	// NextName is an action of Retry.
	NextName = "trying %s"
	// NextServerName is an action of Retry where the server picks names.
	NextServerName = "asking for another name"
)

// Results.
const (
	// ExistsIn is printed after an object that exists: its state.
	ExistsIn = "exists (%s)"
)

// Closing lines of a run that did not create everything.
const (
	// Counts are the objects of a run by outcome.
	Counts = "%d created, %d exist, %d failed, %d unknown, %d not attempted"
	// CountsRenamed is Counts where something picked other names.
	CountsRenamed = "%d created (%d renamed by a webhook or policy), %d exist, %d failed, %d unknown, %d not attempted"
	// Summary is a reason below, and Counts.
	Summary = "error: %s: %s"
	// NotAllPrinted, NotAllCreated, Interrupted, NotWritten, Unreachable,
	// Unauthorized, TimedOut and StoppedAfterFailure are reasons of Summary.
	NotAllPrinted       = "not all results could be printed"
	NotAllCreated       = "not all objects were created"
	Interrupted         = "interrupted"
	NotWritten          = "stopped, because the results can't be written"
	Unreachable         = "stopped, because the server is unreachable"
	Unauthorized        = "stopped, because the server does not accept the credentials"
	TimedOut            = "stopped, because several objects in a row timed out (%s)"
	StoppedAfterFailure = "stopped after a failure"
	// NoResponse and InterruptedTwice are reasons of Summary while something hangs.
	NoResponse       = "interrupted, and a credential plugin or the reader of the output does not respond"
	InterruptedTwice = "interrupted again"
	// Unread ends Summary when an interrupt ended the reading of the input.
	Unread = "%s. The rest of the input was not read."
	// Unreadable ends Summary when a part of the input could not be used.
	Unreadable = "%s. A part of the input could not be used."
	// NeedsWholeInput is for a run with a key that could not use all of its input.
	NeedsWholeInput = "error: nothing was created, because a run with a key needs its whole input"
)

// Hints: how to go on.
const (
	// RunObjects is printed after a run with a key, with the commands.
	RunObjects = "List the objects of this run:\n%s"
	// RunObjectsBut is RunObjects where objects lack the label.
	RunObjectsBut = "List the objects of this run, without the %d that lack its label:\n%s"
	// Namespace is printed after -o name, which has no namespaces.
	Namespace = "The objects are not in the current namespace. Use this flag with the printed names:\n  -n %s"
	// Namespaces is Namespace where there are several.
	Namespaces = "The names are in several namespaces. Print them with their namespaces:\n" +
		`  -o jsonpath='{.kind}/{.metadata.name} -n {.metadata.namespace}{"\n"}'`
	// AfterFix begins a hint that does not help before the cause is fixed.
	AfterFix = "Fix the cause. Then "
	// RunAgain is for a run that created nothing.
	RunAgain = "run the same command again. Nothing was created."
	// RunAgainWithKey is for a run with a key.
	RunAgainWithKey = "run the same command again. It leaves existing objects as they are."
	// RunAgainRenamed is for a run with a key whose objects were renamed.
	RunAgainRenamed = "delete the renamed objects, and run the same command again. " +
		"A run with a key doesn't recognize them."
	// RunAgainFixedNames is for a run without a key that created only fixed names.
	RunAgainFixedNames = "run the same command again. " +
		"It reports AlreadyExists for existing objects, and creates the rest."
	// RestCount, RestFiles and RestObjects are the commands that create the rest of a run without a
	// key.
	RestCount   = "create the rest with the same command and this flag:\n  --count=%d"
	RestFiles   = "create the rest with the same command and these files:\n  %s"
	RestObjects = "create the rest with the same command and only this input:\n%s"
	// NotUnchanged follows them.
	NotUnchanged = "Don't run the command unchanged. It would create up to %s a second time."
	// UseKey follows the hints for a run without a key.
	UseKey = "A run with --idempotency-key can be repeated unchanged."
	// Left and LeftMore are lines of RestObjects and of MissingObjects.
	Left     = "  %d of %s in %s"
	LeftMore = "  %d more"
	// LeftUnread and LeftUnreadable are lines of RestObjects.
	LeftUnread     = "  the input that was not read"
	LeftUnreadable = "  the input that could not be used"
	// Check is for objects whose outcome is unknown, with the commands.
	Check = "Check whether the object exists. It may still be created within a minute:\n%s"
	// CheckMore is the last line of Check where there are more.
	CheckMore = "  (%d more, listed above)"
	// Get is a command of Check.
	Get = "  kubectl get %s"
	// GetNewest is a command of Check for an object whose name the server picked.
	GetNewest = "  kubectl get %s --sort-by=.metadata.creationTimestamp"
	// MissingOne, MissingCount and MissingObjects follow Check.
	MissingOne     = "If the object does not exist, run the same command again."
	MissingCount   = "Create the missing objects with the same command and their number:\n  --count=NUMBER"
	MissingObjects = "Create the missing objects with the same command " +
		"and only the documents of missing objects in this input:\n%s"
	// Holder is for an object without a creation ID under a name of this run.
	Holder = "%s has the name of an object of this run, and no creation ID.\n" +
		"If an earlier run created it, restore its annotation and label:\n" +
		"  kubectl annotate %s %s=%s && kubectl label %s %s=%s\n" +
		"Otherwise remove it from the input, or delete it:\n" +
		"  kubectl delete %s"
	// OtherID is for an object with the run's label and another creation ID.
	OtherID = "%s is an object of this run, and has another creation ID than the plugin sent.\n" +
		"Something changes the annotation %s, for example a webhook. " +
		"Runs with a key fail until nothing changes the annotation."
)

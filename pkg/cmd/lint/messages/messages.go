// Package messages has the texts of kubectl genname lint. The texts of the rules are
// in internal/lint/rules, beside the check that they describe.
package messages

// Findings, on stdout.
const (
	// Finding is the first line of a finding: place, level, defect, object, rule.
	Finding = "%s: %s: %s (%s) [%s]"
	// Related names another object that the finding is about: place, object, reason.
	Related = "also: %s: %s (%s)"
	// Help is the last line of a finding: how to fix it.
	Help = "help: %s"
	// Indent stands before the second and later lines of a finding.
	Indent = "  "
	// Truncation stands in a prefix where the server truncates it.
	Truncation = "|"
	// GitHubDropped follows the annotations if there are more than GitHub shows: the
	// number that it shows of each kind, and the number of the others.
	GitHubDropped = "GitHub shows the first %d findings of each level. Only this log has the other %s."
)

// Errors in flags and arguments.
const (
	// UnexpectedArguments is printed for arguments that are no flags.
	UnexpectedArguments = "Unexpected args: %v"
	// UnknownRule is printed for a flag that names no rule: flag, reason.
	UnknownRule = "%s: %w"
	// BadVersion is printed for a Kubernetes version that is no version or too old: flag
	// or field, newest, oldest, value.
	BadVersion = "%s must be a version like 1.%d, at least 1.%d, and not %q"
	// BadExclude is printed for a pattern that can't be parsed: flag or field, pattern.
	BadExclude = "%s: pattern %q is not valid"
	// NoInput is printed without -f and -k.
	NoInput = "must specify one of -f and -k"
	// TwoInputs is printed for -f with -k.
	TwoInputs = "only one of -f or -k can be specified"
	// RecursiveKustomization is printed for -R with -k.
	RecursiveKustomization = "the -k flag can't be used with -f or -R"
)

// Errors of the configuration and of a run.
const (
	// BadLevel is printed for a level in the configuration: rule, level.
	BadLevel = "levels: %s must be error, warning, note or off, and not %q"
	// BadConfig is printed for a configuration that can't be used: file, reason.
	BadConfig = "%s: %w"
	// NothingInDirectory is printed for a directory without manifests: directory twice.
	NothingInDirectory = "the directory %q has no .json, .yaml or .yml files\n" +
		"To read the directories below it, use -R:\n  kubectl genname lint -R -f %s"
	// NothingInTree is printed for a directory tree without manifests: directory.
	NothingInTree = "the directory %q and the directories below it have no .json, .yaml or .yml files"
	// BadPattern is printed for a file name with a pattern that can't be parsed.
	BadPattern = "pattern %q is not valid: %w"
	// NoPath is printed for a file that doesn't exist.
	NoPath = "the path %q does not exist"
	// BadResponse is printed for a URL that can't be read: URL, HTTP status.
	BadResponse = "unable to read URL %q, server reported %s"
	// Unreadable is printed for a document that can't be read: file, line, reason.
	Unreadable = "%s:%d: can't be read: %w"
	// Interrupted is printed after an interrupt, without findings.
	Interrupted = "error: interrupted"
	// SkippedFiles is the last line if --fail-on-skipped finds files: their number.
	SkippedFiles = "%s not checked (--fail-on-skipped). To leave files out on purpose, use --exclude"
	// GateExceeded is the last line if there are findings of the level of --fail-on: their
	// number, the level.
	GateExceeded = "error: %s at level %s or above (--fail-on)"
)

// Warnings.
const (
	// Idle is printed for a comment or an annotation that disables no finding: place,
	// rules, reason.
	Idle = "Warning: %s: genname:disable %s has no effect: %s"
	// NotChecked is printed for a file that can hide objects: file, reason.
	NotChecked = "Warning: %s is not checked: %s"
	// NoFindingThere is the reason of Idle if the rules find nothing.
	NoFindingThere = "these rules find nothing there"
)

// Closing lines.
const (
	// Summary counts the findings by level, the objects and the files.
	Summary = "%s, %s and %s in %s of %s."
	// Disabled counts the findings that comments and annotations disable.
	Disabled = "%s disabled by comments and annotations."
	// Skipped counts the files that lint did not check.
	Skipped = "%s skipped. To list them, use --show-skipped."
	// Exported counts the objects with a resourceVersion.
	Exported = "Not checked: %s with metadata.resourceVersion, which only a server sets."
	// Placeholders counts the objects with a variable in their name.
	Placeholders = "Length and characters not checked: %s with a variable in the name."
	// SkippedFile is a line of --show-skipped: file, reason.
	SkippedFile = "skipped: %s: %s"
	// DisabledFinding is a line of --show-skipped, and of the format github: place, defect,
	// object, rule, reason.
	DisabledFinding = "disabled: %s: %s (%s) [%s]: %s"
)

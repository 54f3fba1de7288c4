// Package messages has the texts of kubectl genname duplicates.
package messages

// Errors.
const (
	// NameOfAll is printed for -o name with -A.
	NameOfAll = "-o name needs one namespace, and can't be combined with --all-namespaces"
	// NotPositive is printed for a duration that is zero or negative: flag, value.
	NotPositive = "%s must be positive, not %s"
	// NegativeCount is printed for a negative --fail-above-count: value.
	NegativeCount = "--fail-above-count must be 0 or more, not %d"
	// BadSelector is printed for a --selector that can't be parsed: reason.
	BadSelector = "--selector: %w"
	// Incomplete is the error if a type could not be read.
	Incomplete = "not everything could be read, so that groups may be missing"
	// Interrupted is the last line after an interrupt.
	Interrupted = "interrupted, so that groups may be missing"
	// GateExceeded is the last line if there are more groups than --fail-above-count: the
	// number of groups, the limit.
	GateExceeded = "error: %s above --fail-above-count %s"
)

// The verdict, on the first lines of stderr.
const (
	// Unread stands before the verdict if a type could not be read: types read, all types.
	Unread = "Only %s of %s could be read."
	// None is printed if no group is confirmed or likely: objects compared, in which
	// time.
	None = "No object is likely a duplicate: %s created in the last %s."
	// Found is printed if groups are confirmed or likely: their number, their objects.
	Found = "%s of equal objects that were probably meant to be one: %s."
	// Grades counts the groups of Found: confirmed, likely.
	Grades = "%s confirmed, %s likely"
	// Proposed counts the objects that -o name prints.
	Proposed = "Nothing refers to %s, but something refers to the equal one (-o name prints them)."
	// PossibleGroups counts the groups that are not in the table: their number.
	PossibleGroups = "Possible, with less evidence: %s, such as workers, shards and wanted copies (-o wide lists them)."
)

// Warnings.
const (
	// Skipped is printed for a type that could not be read: type, reason.
	Skipped = "Warning: skipped %s: %s"
	// Forbidden is printed for the types that you can't list: number, types.
	Forbidden = "Warning: skipped %s that you can't list (needs list): %s"
	// ForbiddenAll is printed if you can't list any type: number.
	ForbiddenAll = "Warning: skipped all %s, because you can't list any of them (needs list)"
	// TryNamespace follows ForbiddenAll with -A.
	TryNamespace = "; try -n NAMESPACE"
	// SecretsUnnamed is printed with -o wide if Secrets were left out.
	SecretsUnnamed = "Secrets were not compared. Name the type to compare them."
	// Inconsistent is printed for lists that are not of one state: types.
	Inconsistent = "Warning: the lists of %s are not consistent, because they expired or are not sorted"
)

// Progress.
const (
	// FindingTypes is shown while the types are looked up.
	FindingTypes = "finding the types of the server"
	// Comparing is shown while candidates are read: their number so far.
	Comparing = "comparing %s"
)

// Hints.
const (
	// Decide is the hint below the first group: the command to compare its objects.
	Decide = "Compare the objects before you decide (docs/guides/duplicates.md):"
	// CompareCommand is the command of Decide: the arguments that name the objects.
	CompareCommand = "  kubectl get %s -o yaml"
)

// Cells of the table.
const (
	// NoReference is shown for an object that nothing refers to.
	NoReference = "<nothing>"
	// ReferencesUnread is shown if references could not be read.
	ReferencesUnread = "<unread>"
	// Owns is shown for an object that owns others: types.
	Owns = "its %s"
	// Fields is the number of equal fields.
	Fields = "%d fields"
	// All is shown if managedFields are missing.
	All = "spec, data"
	// Unknown is shown if a value was not read.
	Unknown = "<unknown>"
)

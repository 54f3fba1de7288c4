// Package messages has the texts of kubectl genname duplicates.
package messages

// Errors.
const (
	// NameOfAll is printed for -o name with -A.
	NameOfAll = "-o name prints no namespaces, so it can't be used with --all-namespaces"
	// NotPositive is printed for a duration that is zero or negative: flag, value.
	NotPositive = "%s must be positive, not %s"
	// NegativeCount is printed for a negative --fail-above-count: value.
	NegativeCount = "--fail-above-count must be 0 or more, not %d"
	// BadSelector is printed for a --selector that can't be parsed: reason.
	BadSelector = "--selector: %w"
	// Incomplete is the error if a type could not be read.
	Incomplete = "not everything could be read, so groups might be missing"
	// Interrupted is the last line after an interrupt.
	Interrupted = "interrupted, so groups might be missing"
	// GateExceeded is the last line if there are more groups than --fail-above-count: the
	// number of groups, the limit.
	GateExceeded = "error: %s above --fail-above-count %s"
)

// The verdict, on the first lines of stderr.
const (
	// Unread stands before the verdict if a type could not be read: types read, all types.
	Unread = "Only %s of %s could be read."
	// None is printed if no group is confirmed or likely: recent objects, --since.
	None = "No object is likely a duplicate. Checked %s created in the last %s."
	// Found is printed if groups are confirmed or likely: their number, their objects.
	Found = "Found %s of equal objects: %s. The objects of a group were probably meant to be one object."
	// Grades counts the groups of Found: confirmed, likely.
	Grades = "%s confirmed, %s likely"
	// Proposed counts the objects that -o name prints.
	Proposed = "%s probably left over, because something refers only to the other object of the pair. " +
		"To print the names, use -o name."
	// PossibleGroups counts the groups that are not in the table: their number.
	PossibleGroups = "%s with less evidence, often of intended copies like workers and shards. " +
		"To list them, use -o wide."
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
	TryNamespace = ". Try one namespace: kubectl genname duplicates -n NAMESPACE"
	// SecretsUnnamed is printed with -o wide if Secrets were left out.
	SecretsUnnamed = "Secrets were not compared. To compare them, name the type secrets."
	// Inconsistent is printed for lists that are not of one state: types.
	Inconsistent = "Warning: groups of %s might be missing, because their lists expired or were not sorted"
)

// Progress.
const (
	// FindingTypes is shown while the types are looked up.
	FindingTypes = "discovering resource types"
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

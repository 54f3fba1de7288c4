// Package messages has the texts of the plugin itself, and those that several commands print. Each
// command has its own package for its other texts.
package messages

// Errors in flags and arguments.
const (
	// BadWord is printed for a flag that takes one of a few words: these words.
	BadWord = "must be %s"
	// BadAttempts is printed for a malformed --server-attempts: value, largest.
	BadAttempts = "%q is neither auto nor a number from 1 to %d"
	// BadDuration is printed for a malformed duration.
	BadDuration = "%q is not a duration, like 90m, 24h or 30d"
	// BadProbability is printed for a malformed probability.
	BadProbability = "%q is not a probability, like 0.001 or 0.1%%"
	// BadNumber is printed for a malformed number: value, one of the three below.
	BadNumber = "%q is not %s"
	// Whole, Fraction and Wholes are the numbers of BadNumber.
	Whole    = "a whole number"
	Fraction = "a number"
	Wholes   = "a whole number or a list of whole numbers, like 100,1000"
	// OutOfRange is printed for a number of too many digits.
	OutOfRange = "%q is too large or too small"
	// UnknownCommand is printed for a word that is no command: word, command before it,
	// one of the two below.
	UnknownCommand = "unknown command %q for %q%s"
	// DidYouMean follows UnknownCommand if there are similar commands.
	DidYouMean = "\n\nDid you mean this?\n\t%s"
	// SeeHelp follows UnknownCommand otherwise: command.
	SeeHelp = "\nSee '%s --help' for usage."
)

// Errors.
const (
	// NotWritten is the error if stdout can't be written: reason.
	NotWritten = "can't write the results: %w"
	// GaveUp is the error if the server stays unreachable: duration, reason.
	GaveUp = "the server was unreachable for %s: %w"
	// NoScreen is the error if a terminal can't show a table that changes: reason.
	NoScreen = "can't use the terminal: %w"
)

// Warnings.
const (
	// Unreachable is printed at the first failure: duration, reason.
	Unreachable = "Warning: the server is unreachable, so requests are retried for up to %s: %v"
	// UnreachableForever is printed instead if the requests are retried without end: reason.
	UnreachableForever = "Warning: the server is unreachable, so requests are retried until it responds: %v"
	// Clock is printed if the clocks differ: difference.
	Clock = "Warning: this machine's clock differs from the server's by %s. The command uses the server's clock."
	// APIsUnknown is the reason for which the APIs of other servers are skipped: reason.
	APIsUnknown = "can't find out which APIs other servers serve: %v"
	// APIUnavailable is the reason for which an API of another server is skipped: API,
	// words of kube-apiserver.
	APIUnavailable = "discover %s: the server behind this API is unavailable: %s"
)

// Progress.
const (
	// Reachable is printed after Unreachable: seconds.
	Reachable = "The server is reachable again after %.0f s"
	// Scanning is shown while objects are listed: types read, all types, objects.
	Scanning = "%d of %s, %s"
	// ScanningType is the same with the type that is being read.
	ScanningType = "%d of %s, %s: %s"
)

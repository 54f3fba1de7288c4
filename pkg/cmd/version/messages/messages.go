// Package messages has the texts of kubectl genname version.
package messages

// Text of the report.
const (
	// Client has the version of the plugin.
	Client = "Client Version: %s"
	// Server has the version of the server, and Emulates if the server emulates another one.
	Server = "Server Version: %s%s"
	// Emulates has the version that the server emulates: major, minor.
	Emulates = " (emulates %s.%s)"
	// Attempts has the number of names that the server tries per create, or Unknown.
	Attempts = "Names tried per create: %s"
	// Unknown is printed for an unknown number.
	Unknown = "unknown"
	// Known is a number and one of the sources below.
	Known = "%d (%s)"
	// FromMetric, FromVersion, FromDefault and FromFlag are the sources of the number.
	FromMetric  = "from the server's metric kubernetes_feature_enabled"
	FromVersion = "the server's version supports no other number"
	FromDefault = "the default of the server's version, which an administrator can change"
	FromFlag    = "as given by --server-attempts"
)

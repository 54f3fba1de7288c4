// Package live keeps a census up to date while the cluster changes. It counts once, by
// internal/census, and follows each resource type with a watch of metadata from the state
// of its list on. It owns the meaning of an event for a count, the rates, and the handling
// of broken watches. It prints nothing, and knows no probabilities but a chance that its
// caller calculates.
//
// # Rooms
//
// Each room knows the rooms below it only.
//
//	Engine     the life of a watch: first count, discovery, snapshots, the check at the end
//	poller     asks each type for its number of objects, and lists types without prefixes
//	reflector  one goroutine for each watched type: list, watch, list again, backoff
//	store      the counts of one type, behind a mutex of its own: Replace, Apply, rows
//	counter    one name pool: names, creates, deletes, rates, reuse
//
// A source makes all requests. A Policy says which name pools have a counter. An event goes
// from its reflector to the store of its type, to a counter and its rates. It waits for
// no other type.
//
// # Name pools
//
// The number of names of each name pool is exact. A name pool of MinCount names has a
// counter. All others have an entry in a table from a hash of their ID to two numbers: their
// names, and those with the generateName (numbers.go). The event that brings a name pool to MinCount gives
// it a counter with that number of names. The time of its oldest name is unknown then. A
// name pool that begins during the watch has a counter from its first name on, because its
// creates and its rate matter even if its names are deleted at once. The last 4,096 of these
// keep the counter without MinCount names (pools.go).
//
// A number doesn't say everything. A list of the namespace tells whether a client generates
// the names, whether a selector chooses them, which generateNames share a truncated prefix,
// and whether an object is left that has the generateName after an update changed one
// (inspection.go). The list decides whether the name pool counts, never its number.
//
// # Guarantees
//
// Names are those of a census at the state that the watch has reached. A watch that breaks
// is resumed from the last resourceVersion, and loses nothing. If the server does not know
// the changes after that state, or is at an earlier state, the type is listed again: names
// are right then, creates and deletes are lower bounds, and the gap is reported (replace.go).
// A type that cannot be watched is listed again and again. It has names but no rates, and
// its watch is tried again. A type without prefixes is asked for its number of objects.
package live

// Package live keeps a census up to date while the cluster changes. It counts once, by
// internal/census, and follows each resource type with a watch of metadata from the state
// of its list on. It owns the meaning of an event for a count, the rates, and the handling
// of broken watches. It prints nothing, and knows no probabilities but a chance that its
// caller calculates. docs/internals/watch-engine.md has its parts.
//
// # Guarantees
//
// Names are those of a census at the state that the watch has reached. A watch that breaks
// is resumed from the last resourceVersion, and loses nothing. If the server does not know
// the changes after that state, or is at an earlier state, the type is listed again and compared
// with the objects that were counted (sweep.go). Names are right then. Creates and deletes miss only
// the objects that were both created and deleted meanwhile, and the gap is reported.
// A type that cannot be watched is listed again and again. It has names but no rates, and
// its watch is tried again. A type without prefixes is asked for its number of objects.
package live

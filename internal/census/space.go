package census

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// MaxRawPrefixes is up to which number different generateNames of one space
// are told apart.
const MaxRawPrefixes = spaces.MaxRawPrefixes

// Space is the name space of one prefix, and what exists in it.
type Space struct {
	Resource  Resource
	Namespace string // empty for cluster-scoped objects
	Prefix    string // the effective prefix, at most 58 bytes
	// Names is the number of objects whose name is Prefix and five characters
	// of the alphabet, however they came by it, terminating ones included. It
	// is 0 for a prefix that only objects of other names say.
	Names int64
	// Generated is how many of them have a generateName with this prefix, and
	// RawPrefixes how many different ones; MaxRawPrefixes means that or more.
	// More than one are possible only for a prefix of 58 bytes.
	Generated   int64
	RawPrefixes int
	// Recent is how many of them were created since Scanner.Since.
	Recent int64
	// Oldest and Newest are the first and the last creationTimestamp of them,
	// in whole seconds; zero if none has one.
	Oldest, Newest time.Time
}

// A Batch takes the spaces of one list. It is used by one goroutine at a time,
// but Scan fills several batches at once. The spaces of a batch that is never
// committed are incomplete or counted elsewhere: they must be forgotten.
type Batch interface {
	Add(Space)
	// Commit says that all spaces of the list have been added, and are right.
	// Scan calls it for one batch at a time.
	Commit()
}

// spaceOf is what has been tallied of a space of r, as it is reported.
func spaceOf(r Resource, id spaces.ID, t *spaces.Tally) Space {
	return Space{
		Resource: r, Namespace: id.Namespace, Prefix: id.Prefix,
		Names: t.Names, Generated: t.Generated, RawPrefixes: t.RawPrefixes(), Recent: t.Recent,
		Oldest: unix(t.Oldest), Newest: unix(t.Newest),
	}
}

func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

package census

import (
	"cmp"
	"strings"
	"time"
)

// MaxRawPrefixes is up to which number different generateNames of one space
// are told apart.
const MaxRawPrefixes = 64

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

// spaceID names a space within one resource.
type spaceID struct{ namespace, prefix string }

// compare orders spaces like the server orders objects.
func (a spaceID) compare(b spaceID) int {
	return compareKeys(a.namespace, a.prefix, b.namespace, b.prefix)
}

// compareKeys orders objects as storage does, by the bytes of "namespace/name".
// That is not the order of namespaces: "a-b/" comes before "a/".
func compareKeys(namespace1, name1, namespace2, name2 string) int {
	if namespace1 == namespace2 {
		return strings.Compare(name1, name2)
	}
	n := min(len(namespace1), len(namespace2))
	if c := strings.Compare(namespace1[:n], namespace2[:n]); c != 0 {
		return c
	}
	if len(namespace1) < len(namespace2) {
		return cmp.Compare('/', namespace2[n])
	}
	return cmp.Compare(namespace1[n], '/')
}

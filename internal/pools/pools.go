// Package pools counts objects by name pool: the names of one resource type, one namespace and one effective prefix.
// The package owns the rule that says to which pool an object belongs, and the rule that says which pools count. The
// package knows no server, keeps no objects, and calculates no probabilities.
//
// An object belongs to one pool at most. An object whose name was generated from its generateName
// belongs to the pool of that generateName, whatever the length of its suffix. Any other object
// belongs to the pool of its stem (package stem). An object without a stem whose name ends like a
// generated name belongs to the pool of its name without the last five characters. All other
// objects belong to none.
//
// A pool counts if an object in it was generated, if the user named its prefix, if the names show
// that a client generated them (evidence.go), or if it is a stem with enough names. If there is a
// selector, it must match an object in the pool, too. The objects of all other pools, and those
// without a pool, are in one Fold for each namespace and creator (fold.go).
package pools

import (
	"cmp"
	"math"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/stem"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// GarbagePercent is the value of GOGC for a program that counts pools. Most of its memory can be counts, which stay in
// use. So a collection finds little garbage. At this value, four times as many collections cost little, and the garbage
// needs a quarter of the memory.
const GarbagePercent = 25

const (
	// Spans is the number of times in Rules.Since.
	Spans = 2
	// MaxRawPrefixes limits the number of different generateNames that a pool counts.
	MaxRawPrefixes = maxHashes

	maxHashes = 64 // limits the different creators, too
	// maxGenerateNames limits the number of generateNames that a pool keeps.
	maxGenerateNames = 8
	// FewestOfStem is the smallest number of names that a stem needs for a row in a report.
	FewestOfStem = 20
	// Other is the prefix of the pool for objects whose prefixes exceed Rules.Limit.
	Other = ""
)

// Key identifies a name pool. A generateName and a stem with the same text are two pools.
type Key struct {
	schema.GroupResource
	// Namespace is empty for cluster-scoped objects. Prefix is the effective prefix, at most 58 bytes, or a stem.
	Namespace, Prefix string
	Naming            object.Naming
}

// Compare orders keys by namespace, group, resource, prefix and naming.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Group, other.Group),
		cmp.Compare(k.Resource, other.Resource), cmp.Compare(k.Prefix, other.Prefix),
		cmp.Compare(k.Naming, other.Naming))
}

// Pool is a name pool that counts.
type Pool struct {
	Key
	// Version is the API version that was read.
	Version string
	// Names is the number of objects in the pool. Names includes terminating objects, and suffixes of any length.
	Names int64
	// Generated is the number of Names with a generateName that has the prefix. RawPrefixes is the number of different
	// generateNames, up to MaxRawPrefixes. Only a prefix of 58 bytes can have several generateNames. GenerateNames then
	// has the first eight of them in byte order. Otherwise GenerateNames is nil.
	Generated     int64
	RawPrefixes   int
	GenerateNames []string
	// Recent has the number of Names that were created since each time in Rules.Since.
	Recent [Spans]int64
	// Oldest and Newest are the first and the last creationTimestamp of the objects, or zero if unknown.
	Oldest, Newest time.Time
	// Creator is the creator of the newest object. HasCreationID is true if that object has this plugin's creation ID.
	// Creators is the number of different creators, up to 64.
	Creator       object.Creator
	HasCreationID bool
	Creators      int
	// ClientGenerated is true if no object has a generateName with the prefix, but the names show that a client
	// generated them.
	ClientGenerated bool
	// ReplicaBounded is true if every creator limits its number of objects: a controller with replicas, or a Service,
	// whose objects are EndpointSlices.
	ReplicaBounded bool
	// OwnerKind is the kind of the objects' controllers. It is empty if an object has no controller, or if the kinds
	// differ. If OwnerKind is set, Owners has the hashes of the controllers. The hashes are valid only in this process.
	OwnerKind string
	Owners    []uint64
	Leftovers
}

// timeOf converts Unix seconds to a time. 0 means unknown.
func timeOf(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// Windows are the lengths of decaying windows, in increasing order.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Weighed has sums of weights for created and deleted objects, in each of Windows. An event that happens now has the
// weight 1. After one window length its weight is 1/e. A sum divided by Days is a rate per day.
type Weighed [len(Windows)]struct{ Creates, Deletes float64 }

// Days returns the effective length of a window in days, seconds after the window began. It weighs times as Weighed
// does.
func Days(window time.Duration, seconds float64) float64 {
	return window.Hours() / 24 * -math.Expm1(-seconds/window.Seconds())
}

// Row has a name pool and its counts from a list or a watch.
type Row struct {
	Pool Pool
	// Followed reports whether a watch counts the events. For a list, Followed is false, and all fields except Pool are
	// empty.
	Followed bool
	Since    time.Time // time from which events count; Weighed doesn't include the first create of a new name pool
	Began    time.Time // when the type was counted, which is before Since for a new name pool
	At       time.Time // time to which the events count
	// Creates and Deletes count events since the time Since. Gaps is the number of lists after lost events. If Gaps is
	// above 0, Creates and Deletes are lower bounds.
	Creates, Deletes int64
	Gaps             int
	Weighed          Weighed
	// Peak is the largest number of names since the first event, or 0 without events.
	Peak int64
}

// Near is the prefix most similar to a named prefix that has no names. The zero value means that no prefix is similar.
type Near struct {
	Prefix string
	// IsObject is true if the named prefix is the full name of an object with the prefix Prefix.
	IsObject bool

	distance int
	names    int64
}

// Offer records a prefix if it is nearer to the named prefix than all earlier prefixes. count is its number of names.
func (n *Near) Offer(named, prefix string, count int64) {
	near := Near{Prefix: prefix, distance: distance(named, prefix), names: count}
	in, _, _ := names.Split(named)
	if prefix != "" && (in == prefix || stem.Of(named).Prefix == prefix) {
		near.IsObject, near.distance = true, -1
	}
	far := near.distance > min(humanize.Farthest, len(named)/3) && !strings.HasPrefix(prefix, named)
	if named == prefix || count == 0 || far {
		return
	}
	if n.Prefix == "" || cmp.Or(cmp.Compare(n.distance, near.distance), cmp.Compare(near.names, n.names)) > 0 {
		*n = near
	}
}

// distance returns the number of bytes in which two prefixes differ, without dashes and dots at their ends. If prefix
// begins with named, the distance is 1, as for one typing error.
func distance(named, prefix string) int {
	typed, whole := strings.TrimRight(named, "-."), strings.TrimRight(prefix, "-.")
	if typed != whole && strings.HasPrefix(prefix, named) {
		return 1
	}
	return humanize.Distance(typed, whole)
}

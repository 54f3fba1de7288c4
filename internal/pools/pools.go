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

// GarbagePercent is the share of garbage at which a program that counts pools collects it. The counts stay in use, and
// can be most of the memory. So there is little garbage. Four times as many garbage collections cost little, and leave
// a quarter of it.
const GarbagePercent = 25

const (
	// Spans is the number of times in Rules.Since.
	Spans = 2
	// MaxRawPrefixes limits the different generateNames that are counted per pool.
	MaxRawPrefixes = maxHashes

	maxHashes = 64 // limits the different creators, too
	// maxGenerateNames limits the generateNames that are kept per pool.
	maxGenerateNames = 8
	// FewestOfStem is the smallest number of names with which a stem is a row of a report.
	FewestOfStem = 20
	// Other is the prefix that stands for the pools of a namespace above Rules.Limit.
	Other = ""
)

// Key identifies a name pool. A generateName and a stem with one prefix are two pools.
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
	// Generated is the number of Names whose generateName has the prefix. RawPrefixes is the number of their different
	// generateNames, up to MaxRawPrefixes. Only a prefix of 58 bytes can have several generateNames. If it has several,
	// GenerateNames has the first eight of these generateNames in byte order. Otherwise GenerateNames is nil.
	Generated     int64
	RawPrefixes   int
	GenerateNames []string
	// Recent has the number of Names created since each time in Rules.Since.
	Recent [Spans]int64
	// Oldest and Newest are the first and the last creationTimestamp of the objects, or zero if unknown.
	Oldest, Newest time.Time
	// Creator is the creator of the newest object. HasCreationID is true if that object has a creation
	// ID of this plugin. Creators is the number of different creators, up to 64.
	Creator       object.Creator
	HasCreationID bool
	Creators      int
	// ClientGenerated is true if no object has a generateName with the prefix, and the names show that
	// a client generated them.
	ClientGenerated bool
	// ReplicaBounded is true if all creators are controllers that limit the objects by replicas, or
	// Services, which have EndpointSlices.
	ReplicaBounded bool
	// OwnerKind is the kind of the objects' controllers, if each object has a controller and all controllers have the
	// same kind. Otherwise OwnerKind is empty. If OwnerKind is set, Owners has hashes of the controllers, which are
	// valid in this process only.
	OwnerKind string
	Owners    []uint64
	Leftovers
}

// timeOf returns the time of Unix seconds. 0 means unknown.
func timeOf(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// Windows are the lengths of decaying windows, in increasing order.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Weighed has the sums of the weights of creates and deletes in each of Windows. An event of now has the weight 1, and
// an event of one window length ago has the weight 1/e. A sum divided by Days is a rate per day.
type Weighed [len(Windows)]struct{ Creates, Deletes float64 }

// Days returns the length of a window in days, some seconds after its beginning, where each time has its weight.
func Days(window time.Duration, seconds float64) float64 {
	return window.Hours() / 24 * -math.Expm1(-seconds/window.Seconds())
}

// Row has a name pool and its counts, of a list or of a watch.
type Row struct {
	Pool Pool
	// Followed reports whether events are counted, so it is false for a list. If Followed is false, all fields except
	// Pool are empty.
	Followed bool
	Since    time.Time // time from which events count; Weighed doesn't include the first create of a new name pool
	Began    time.Time // when the type was counted, which is before Since for a new name pool
	At       time.Time // time to which the events count
	// Creates and Deletes count the events since the time Since. Both numbers are lower bounds if Gaps is above 0. Gaps
	// is the number of lists after lost events.
	Creates, Deletes int64
	Gaps             int
	Weighed          Weighed
	// Peak is the largest number of names since the first event, or 0 if there was none.
	Peak int64
}

// Near is the prefix most like a named one that has no names. The zero value is no prefix.
type Near struct {
	Prefix string
	// IsObject is true if the named prefix is the name of an object with the prefix.
	IsObject bool

	distance int
	names    int64
}

// Offer records a prefix with a number of names if it is nearer to a named prefix than all earlier ones.
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

// distance returns the number of bytes that differ between two prefixes. distance ignores dashes at the end. A prefix
// that begins with the named one is as near as one typing error.
func distance(named, prefix string) int {
	typed, whole := strings.TrimRight(named, "-."), strings.TrimRight(prefix, "-.")
	if typed != whole && strings.HasPrefix(prefix, named) {
		return 1
	}
	return humanize.Distance(typed, whole)
}

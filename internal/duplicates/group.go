package duplicates

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Grade is how much evidence there is that a group was meant to be one object.
type Grade string

// The grades.
const (
	// Confirmed groups have one creation ID, and every name follows from it.
	Confirmed Grade = "confirmed"
	// Likely groups are pairs of which exactly one object is referred to, or that one
	// field manager created without owners.
	Likely Grade = "likely"
	// Possible groups are all others.
	Possible Grade = "possible"
)

// Reason is why a group is only possible.
type Reason string

// The reasons.
const (
	MoreThanTwo    Reason = "moreThanTwo"    // equal objects are often meant: workers, shards
	OtherGroups    Reason = "otherGroups"    // the owner has other such groups
	Replicas       Reason = "replicas"       // a workload controller of Kubernetes owns them
	NoFieldManager Reason = "noFieldManager" // managedFields are missing
	Unreferenced   Reason = "unreferenced"   // none or all of them are referred to
	Creators       Reason = "creators"       // several field managers created them
	Unread         Reason = "unread"         // what may refer to them could not be read
)

// Group are objects that were probably meant to be one.
type Group struct {
	Grade     Grade
	Reason    Reason // empty unless the grade is Possible
	Resource  census.Resource
	Namespace string
	Prefix    string
	// Owners are the objects that own all members. They are read of groups of a high
	// grade, and of those that might have had one.
	Owners []string
	// Compared is what is equal, of the same groups.
	Compared Compared
	// StatusDiffers are the fields of status in which members differ, of the same groups.
	StatusDiffers []string
	// ReferencesRead is false if something that may refer to members could not be read.
	ReferencesRead bool

	members  candidates // those of this group
	managers []string
	inspected
}

// inspected is what a second look at a group has shown; nothing if there was none.
type inspected struct {
	objects   []Object
	dissolved bool // it is no group any more
}

// Compared is what the members of a group have in common.
type Compared struct {
	Fields int      // that the creating manager owns; 0 if managedFields are missing
	Of     []string // the top-level fields that they are of
}

// Object is a member of a group.
type Object struct {
	Name, UID string
	Created   time.Time
	Creator   string // the field manager; empty if it is not known
	State     string // in one word, from status; empty if status has none
	// ReferredBy is what refers to the object.
	ReferredBy []Reference
	// Proposed is true if nothing refers to this object, but something to the other one.
	Proposed bool
}

// Reference is something that refers to an object.
type Reference struct {
	// Owner is the object's owner, which names it outside of metadata.
	Owner string
	// Resource are the type of objects that have the object as an owner.
	Resource string
}

// Len is the number of members.
func (g *Group) Len() int { return len(g.members.records) }

// Objects returns the members, the oldest first. Those of a group that was not
// inspected are made with each call.
func (g *Group) Objects() []Object {
	if g.objects != nil {
		return g.objects
	}
	objects := make([]Object, g.Len())
	for i, r := range g.members.records {
		d := g.members.details[i]
		objects[i] = Object{
			Name: g.Prefix + r.end.String(), UID: d.uid.String(),
			Created: time.Unix(int64(r.created), 0).UTC(), Creator: g.managers[d.manager],
		}
	}
	return objects
}

// kin returns what all members have in common.
func (g *Group) kin() kin { return g.members.records[0].kin }

// group returns the groups of candidates that have been compared and sorted.
func (f *Finder) group(c *candidates, managers []string) []*Group {
	var groups []*Group
	begin := 0
	for i := range c.records {
		if i+1 < len(c.records) && f.together(c, i) {
			continue
		}
		if i > begin {
			groups = append(groups, &Group{
				Grade: Possible, Resource: c.resource, Namespace: c.namespace, Prefix: c.prefix, managers: managers,
				members: candidates{c.place, c.records[begin : i+1], c.details[begin : i+1]},
			})
		}
		begin = i + 1
	}
	return groups
}

// together reports whether a record and the next one are of one group. An object that
// was created after the one before had failed is meant.
func (f *Finder) together(c *candidates, i int) bool {
	a, b, x, y := c.records[i], c.records[i+1], c.details[i], c.details[i+1]
	switch {
	case a.kin != b.kin:
		return false
	case a.kin&hasID != 0:
		return true
	}
	retried := x.failed != 0 && x.failed <= b.created
	return x.content == y.content && isWithin(a.created, b.created, f.Within) && !retried
}

var order = map[Grade]int{Confirmed: 0, Likely: 1, Possible: 2}

// compare orders groups for people: the most certain first.
func (g *Group) compare(h *Group) int {
	return cmp.Or(
		cmp.Compare(order[g.Grade], order[h.Grade]),
		cmp.Compare(g.Namespace, h.Namespace),
		cmp.Compare(g.Resource.Group, h.Resource.Group), cmp.Compare(g.Resource.Resource, h.Resource.Resource),
		cmp.Compare(g.Prefix, h.Prefix),
		cmp.Compare(g.members.records[0].created, h.members.records[0].created),
		cmp.Compare(g.members.records[0].end, h.members.records[0].end),
	)
}

func sortGroups(groups []*Group) { slices.SortFunc(groups, (*Group).compare) }

package duplicates

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Grade is the strength of the evidence that a group was meant to be one object.
type Grade string

// The grades.
const (
	// Confirmed groups have one creation ID, and every name follows from this ID.
	Confirmed Grade = "confirmed"
	// Likely groups are pairs. Either exactly one object has references, or one field manager created both
	// objects, and they have no owners.
	Likely Grade = "likely"
	// Possible groups are all others.
	Possible Grade = "possible"
)

// Reason is the reason why a group is only possible.
type Reason string

// The reasons.
const (
	MoreThanTwo    Reason = "moreThanTwo"    // equal objects are often intended: workers, shards
	OtherGroups    Reason = "otherGroups"    // the owner has other such groups
	Replicas       Reason = "replicas"       // a workload controller of Kubernetes owns them
	NoFieldManager Reason = "noFieldManager" // managedFields are missing
	Unreferenced   Reason = "unreferenced"   // none or all of them have references
	Creators       Reason = "creators"       // several field managers created them
	Unread         Reason = "unread"         // objects that may refer to them could not be read
)

// Group is a group of objects that were probably meant to be one object.
type Group struct {
	Grade     Grade
	Reason    Reason // empty unless the grade is Possible
	Resource  census.Resource
	Namespace string
	Prefix    string
	// Owners are the objects that own all members. They are known only if the group was inspected.
	Owners []string
	// Compared is the equal part of the members. It is known only if the group was inspected.
	Compared Compared
	// StatusDiffers are the fields of status in which members differ. They are known only if the group was
	// inspected.
	StatusDiffers []string
	// ReferencesRead is false if objects that may refer to members could not be read.
	ReferencesRead bool

	members  candidates // those of this group
	managers []string
	inspected
}

// inspected is the result of an inspection. It is empty for a group that was not inspected.
type inspected struct {
	objects   []Object
	dissolved bool // it is no longer a group
}

// Compared is the common content of the members of a group.
type Compared struct {
	Fields int      // number of fields that the creating manager owns; 0 without managedFields
	Of     []string // their top-level fields
}

// Object is a member of a group.
type Object struct {
	Name, UID string
	Created   time.Time
	Creator   string // field manager; empty if unknown
	State     string // one word from status; empty if status has none
	// ReferredBy are the references to the object.
	ReferredBy []Reference
	// Proposed is true if this object has no references and the other one has some.
	Proposed bool
}

// Reference is a reference to an object.
type Reference struct {
	// Owner is the object's owner if it names the object outside of metadata.
	Owner string
	// Resource is the type of objects that have the object as an owner.
	Resource string
}

// Len is the number of members.
func (g *Group) Len() int { return len(g.members.records) }

// Objects returns the members, the oldest first. If the group was not inspected, each call builds them
// again.
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

// kin returns the kin that all members share.
func (g *Group) kin() kin { return g.members.records[0].kin }

// group returns the groups of compared and sorted candidates.
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

// together reports whether a record and the next one belong to one group. An object that was created
// after the previous one had failed is an intended retry.
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

// compare orders groups, the most certain first.
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

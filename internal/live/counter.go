package live

import (
	"time"
	"unique"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// counter counts one name pool. There may be very many counters, most of which see no
// event. So a counter has neither the ID by which it is found, nor rarely needed fields.
type counter struct {
	pool  tally
	since *time.Time // from when on its creates and deletes are counted
	seen  *seen      // nil until something happens
	gaps  int32
	young bool // whether it has been counted since its first name
}

// tally is the part of a census.NamePool that a counter keeps, in smaller fields: no
// server has two billion objects.
type tally struct {
	Names, Generated      int32
	Recent                [census.MaxWindows]int32
	RawPrefixes, Creators uint8
	ClientGenerated       bool
	ReplicaBounded        bool
	Oldest, Newest        int64     // Unix seconds; 0 if not known
	GenerateNames         *[]string // nil for none
	Creator               unique.Handle[census.Creator]
}

type seen struct {
	creates, deletes int64
	failures         float64
	rates            rates
	reuse            *reuse // nil unless it is counted
	// declared is the state at which a list has counted the objects with the generateName.
	declared uint64
}

func idOf(s census.NamePool) namepools.ID {
	return namepools.ID{Namespace: s.Namespace, Prefix: s.Prefix, SuffixLength: s.SuffixLength}
}

// newCounter returns the counter of a name pool as a list has it. Its since is to be set.
func newCounter(s census.NamePool) *counter {
	t := tally{
		Names: int32(s.Names), Generated: int32(s.Generated),
		RawPrefixes: uint8(s.RawPrefixes), Creators: uint8(s.Creators),
		ClientGenerated: s.ClientGenerated, ReplicaBounded: s.ReplicaBounded,
		Oldest: unixOf(s.Oldest), Newest: unixOf(s.Newest), Creator: unique.Make(s.Creator),
	}
	for i, recent := range s.Recent {
		t.Recent[i] = int32(recent)
	}
	if generateNames := s.GenerateNames; len(generateNames) > 0 {
		t.GenerateNames = &generateNames
	}
	return &counter{pool: t}
}

// unixOf is the inverse of census.TimeOf.
func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func (c *counter) poolOf(r census.Resource, id namepools.ID) census.NamePool {
	t := &c.pool
	s := census.NamePool{
		Resource: r, Namespace: id.Namespace, Prefix: id.Prefix, SuffixLength: id.SuffixLength,
		Names: int64(t.Names), Generated: int64(min(max(t.Generated, 0), t.Names)),
		RawPrefixes: int(t.RawPrefixes), Creators: int(t.Creators),
		ClientGenerated: t.ClientGenerated, ReplicaBounded: t.ReplicaBounded,
		Oldest: census.TimeOf(t.Oldest), Newest: census.TimeOf(t.Newest), Creator: t.Creator.Value(),
	}
	for i, recent := range t.Recent {
		s.Recent[i] = int64(recent)
	}
	if t.GenerateNames != nil {
		s.GenerateNames = *t.GenerateNames
	}
	return s
}

// generates reports whether o, which is in a name pool, has its generateName.
func generates(id namepools.ID, o *decode.Object) bool {
	return id.SuffixLength != names.SuffixLength || names.EffectivePrefix(o.GenerateName) == id.Prefix
}

func (c *counter) see(now time.Time) *seen {
	if c.seen == nil {
		c.seen = &seen{rates: rates{last: now}}
	}
	return c.seen
}

// happened counts creates and deletes that came evenly from one time to another. The first
// may be before the name pool was counted.
func (c *counter) happened(since, at time.Time, creates, deletes int32) *seen {
	seen := c.see(at)
	seen.creates += int64(creates)
	seen.deletes += int64(deletes)
	if since.Before(*c.since) {
		since = *c.since
	}
	seen.rates.add(since, at, float64(creates), float64(deletes))
	return seen
}

// declares reports whether the object of an event has the generateName, and no list has counted
// it yet.
func (c *counter) declares(id namepools.ID, what *changed) bool {
	return generates(id, &what.object) && (c.seen == nil || what.version > c.seen.declared)
}

// created counts a new object of the name pool, where a create fails with that chance.
func (c *counter) created(id namepools.ID, what changed, chance float64) {
	seen := c.happened(what.since, what.at, 1, 0)
	if generates(id, &what.object) || c.pool.ClientGenerated {
		seen.failures += chance
	}
	c.add(id, &what)
	if seen.reuse != nil {
		seen.reuse.created(what.object.Name)
	}
}

func (c *counter) add(id namepools.ID, what *changed) {
	s, o := &c.pool, &what.object
	if c.declares(id, what) {
		s.Generated++
		s.ClientGenerated = false
		s.RawPrefixes = max(s.RawPrefixes, 1)
	}
	s.Names++
	if o.Created == 0 || o.Created < s.Newest {
		return
	}
	s.Newest = o.Created
	if s.Oldest == 0 && s.Names == 1 {
		s.Oldest = o.Created
	}
	m := o.Creator
	s.Creator = unique.Make(census.Creator{
		Kind: m.Kind, Name: m.Name, Manager: m.Manager, Certain: m.Certain, HasCreationID: o.HasCreationID,
	})
	s.Creators = max(s.Creators, 1)
	s.ReplicaBounded = s.ReplicaBounded && namepools.BoundByReplicas(m)
}

// deleted counts that an object of the name pool was deleted. It reports whether no object
// may be left that has the generateName.
func (c *counter) deleted(id namepools.ID, what changed) (isLast bool) {
	if seen := c.happened(what.since, what.at, 0, 1); seen.reuse != nil {
		seen.reuse.removed(what.object.Name)
	}
	return c.remove(id, &what)
}

// remove removes the name of an object. It reports whether no object may be left that has
// the generateName.
func (c *counter) remove(id namepools.ID, what *changed) (isLast bool) {
	s, o := &c.pool, &what.object
	s.Names--
	if o.Created == 0 || o.Created == s.Oldest {
		s.Oldest = 0 // the time of the next one is not known
	}
	if o.Created == 0 || o.Created == s.Newest {
		s.Newest = 0 // nor is that of the one before
	}
	if !c.declares(id, what) {
		return false
	}
	s.Generated-- // below 0 if an update has changed generateName, which servers allow
	return s.Generated <= 0 && s.Names > 0
}

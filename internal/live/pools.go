package live

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxYoung is how many name pools of a type that have begun while it was watched keep a
// counter without MinCount names.
const maxYoung = 4_096

// pools are the name pools of a type. Each has a counter or, with fewer than MinCount
// names, only a number.
type pools struct {
	counters map[namepools.ID]*counter
	few      numbers
	long     sets.Set[uint64] // objects of longer suffixes with a creation ID annotation, by namepools.MemberOf
	// young are the name pools that have begun last, in a ring. A name pool whose place is
	// taken loses its counter, unless MinCount names were created in it.
	young     []namepools.ID
	nextYoung int
}

func (s *store) change(c changed) {
	o := &c.object
	in, declared := namepools.Of(o)
	s.at.newest = max(s.at.newest, o.Created)
	s.totals.change(int64(c.by()), s.isName(o, in, declared))
	if in.Prefix != "" && c.what != decode.Modified && s.takes(in) {
		s.changeIn(in, c)
	}
	if namepools.MayBeLong(o) {
		s.changeLong(c)
	}
	if declared.Prefix != "" && (declared != in || c.what == decode.Modified) && s.takes(declared) {
		s.changeDeclared(declared, c)
	}
}

func (s *store) takes(id namepools.ID) bool {
	return s.policy.takes(s.resource.GroupResource(), id.Prefix)
}

func (s *store) changeIn(id namepools.ID, c changed) {
	if s.inspection.flight != nil {
		s.inspection.flight.note(id, c)
	}
	counter := s.pools.counters[id]
	switch {
	case counter == nil:
		s.changeFew(id, c)
	case c.what == decode.Added:
		counter.created(id, c, s.policy.chance(counter.poolOf(s.resource, id)))
	default:
		if isLast := counter.deleted(id, c); isLast {
			s.inspection.ask(id, true, 0)
		}
	}
}

// changeFew counts a create or a delete in a name pool without a counter, which may get
// one.
func (s *store) changeFew(id namepools.ID, c changed) {
	hash := hashOf(id)
	before := s.pools.few.of(hash)
	n, by := before, c.by()
	n.names += by
	if generates(id, &c.object) {
		n.generated += by
	}
	if by > 0 && s.getsCounter(id, n) {
		s.pools.few.remove(hash)
		s.begin(id, before, c)
		return
	}
	s.pools.few.set(hash, n)
	least := s.policy.MinCount
	if n.generated <= 0 {
		least = max(least, census.MinEvident)
	}
	if by > 0 && int64(n.names) >= least {
		s.inspection.ask(id, n.generated > 0, int64(n.names))
	}
}

// getsCounter reports whether a name pool that has come to a number gets a counter: with
// MinCount names, or if it begins. If no object has its generateName, if a selector
// chooses, and if several generateNames may share it, an inspection tells.
func (s *store) getsCounter(id namepools.ID, n number) bool {
	return n.generated > 0 && !s.selects && len(id.Prefix) < names.MaxLength-names.MaxSuffixLength &&
		(n.names == 1 || int64(n.names) >= s.policy.MinCount)
}

// changeLong counts an event in the name pool of a longer suffix. An update may add an
// object to it or remove one, which is no create and no delete.
func (s *store) changeLong(c changed) {
	id, is := namepools.Long(&c.object)
	if !s.takes(id) {
		return
	}
	is = is && c.what != decode.Deleted
	member := namepools.MemberOf(&c.object)
	switch {
	case is == s.pools.long.Has(member):
		return
	case is:
		s.pools.long.Insert(member)
	default:
		s.pools.long.Delete(member)
	}
	if c.what == decode.Modified {
		s.moveLong(id, is, c)
	} else {
		s.changeIn(id, c)
	}
}

// moveLong takes an object into the name pool of a longer suffix, or out of it.
func (s *store) moveLong(id namepools.ID, in bool, c changed) {
	switch counter := s.pools.counters[id]; {
	case counter != nil && in:
		counter.add(id, &c)
	case counter != nil:
		counter.remove(id, &c)
	default:
		hash, by := hashOf(id), int32(-1)
		if in {
			by = 1
		}
		n := s.pools.few.of(hash)
		n.names, n.generated = n.names+by, n.generated+by
		s.pools.few.set(hash, n)
		if int64(n.names) >= s.policy.MinCount {
			s.inspection.ask(id, true, int64(n.names))
		}
	}
}

// changeDeclared inspects a name pool that an object's generateName has, or had, if it may be the
// first such object or the last one. The object is not in the name pool, or was updated.
func (s *store) changeDeclared(id namepools.ID, c changed) {
	counter := s.pools.counters[id]
	switch {
	case counter == nil && c.what != decode.Deleted:
		if n := s.pools.few.of(hashOf(id)); int64(n.names) >= s.policy.MinCount {
			s.inspection.ask(id, true, int64(n.names))
		}
	case counter != nil && c.what == decode.Deleted && counter.pool.Generated <= 0:
		s.inspection.ask(id, true, 0)
	}
}

// begin gives a counter to a name pool of a number of names, to which an event adds one.
// One is no rate yet: rates are of the names after it.
func (s *store) begin(id namepools.ID, before number, c changed) {
	id = cloned(id)
	begun := newCounter(census.NamePool{
		ReplicaBounded: true, // unless another one creates it
		Names:          int64(before.names), Generated: int64(before.generated),
	})
	since := c.since
	begun.since = &since
	begun.add(id, &c)
	begun.see(c.at).creates++
	s.pools.counters[id] = begun
	if before.names == 0 {
		s.raise(id, begun)
	}
}

// raise makes a name pool the youngest, in the place of the oldest of the young.
func (s *store) raise(id namepools.ID, begun *counter) {
	p := &s.pools
	begun.young = true
	if len(p.young) < maxYoung {
		p.young = append(p.young, id)
		return
	}
	oldest := &p.young[p.nextYoung]
	if c := p.counters[*oldest]; c != nil && c.young && c.seen.creates < s.policy.MinCount {
		s.demote(*oldest, c)
	}
	*oldest = id
	p.nextYoung = (p.nextYoung + 1) % maxYoung
}

// demote takes the counter of a name pool away, which keeps its number.
func (s *store) demote(id namepools.ID, c *counter) {
	delete(s.pools.counters, id)
	s.pools.few.set(hashOf(id), number{c.pool.Names, c.pool.Generated})
}

// cloned returns an ID that holds no memory of an event.
func cloned(id namepools.ID) namepools.ID {
	id.Namespace, id.Prefix = strings.Clone(id.Namespace), strings.Clone(id.Prefix)
	return id
}

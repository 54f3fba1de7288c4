package live

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

const (
	// maxAsked bounds the name pools that are to be inspected at once, maxNoted the events
	// that are kept meanwhile, and maxRefused the name pools that are known not to count.
	maxAsked   = 10_000
	maxNoted   = 1 << 16
	maxRefused = 1 << 14
	// maxNamespaces is in how many namespaces name pools are inspected one by one. For
	// more, the whole type is listed.
	maxNamespaces = 5
	// listPauses is how many times as long as a list took there is none after it, so that
	// lists take a tenth of the time at most.
	listPauses = 9
)

// inspection has the name pools of a type on which a list is to decide: whether the names
// are client-generated, whether a selector chooses them, and whether any object is left
// that has the generateName. Their numbers of names are known without.
type inspection struct {
	asked   map[namepools.ID]*inspected
	refused map[namepools.ID]refusal
	flight  *flight // the inspection in progress, or nil
	next    time.Time
}

// refusal is a name pool that does not count. It is inspected again if an object has its
// generateName, or from so many names on.
type refusal struct {
	declared bool // it does not count although an object has its generateName
	from     int64
}

// flight is an inspection in progress, which began at a state.
type flight struct {
	from  uint64
	pools map[namepools.ID]*inspected
	noted int
}

// inspected is a name pool that a list is to decide on. declared is whether an object has its
// generateName, and since are the changes of their number since the flight began.
type inspected struct {
	declared bool
	since    []change
}

// change is how many more objects have a generateName from a version on.
type change struct {
	version uint64
	by      int32
}

// ask asks for an inspection of a name pool that has so many names. It is inspected in any
// case if names is 0.
func (i *inspection) ask(id namepools.ID, declared bool, names int64) {
	if refused, is := i.refused[id]; is && names > 0 && names < refused.from && (refused.declared || !declared) {
		return
	}
	if before := i.asked[id]; before != nil {
		before.declared = before.declared || declared
		return
	}
	if len(i.asked) >= maxAsked {
		return // its next event asks again
	}
	if i.asked == nil {
		i.asked = map[namepools.ID]*inspected{}
	}
	i.asked[cloned(id)] = &inspected{declared: declared}
}

// refuse remembers that a name pool of so many names, or fewer, does not count.
func (i *inspection) refuse(id namepools.ID, declared bool, names int64) {
	if len(i.refused) >= maxRefused {
		clear(i.refused)
	}
	if i.refused == nil {
		i.refused = map[namepools.ID]refusal{}
	}
	i.refused[id] = refusal{declared, 2 * names}
}

// note keeps a change of a name pool that is being inspected.
func (f *flight) note(id namepools.ID, c changed) {
	pool := f.pools[id]
	if pool == nil || !generates(id, &c.object) {
		return
	}
	if f.noted++; f.noted > maxNoted {
		return
	}
	pool.since = append(pool.since, change{c.version, c.by()})
}

// sum returns how many more objects have the generateName than at a state.
func (p *inspected) sum(version uint64) (more int32) {
	for _, c := range p.since {
		if c.version > version {
			more += c.by
		}
	}
	return more
}

// declaredSince reports whether an object with the generateName came after a state.
func (p *inspected) declaredSince(version uint64) bool {
	return slices.ContainsFunc(p.since, func(c change) bool { return c.by > 0 && c.version > version })
}

// takeFlight begins an inspection if there is anything to inspect and it is time, or
// returns nil.
func (s *store) takeFlight() *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.inspection
	if s.standing.state != watched || len(i.asked) == 0 || i.flight != nil || time.Now().Before(i.next) {
		return nil
	}
	i.flight, i.asked = &flight{from: s.at.version, pools: i.asked}, nil
	return i.flight
}

// land ends an inspection, which took so long. The name pools that are left are inspected
// again.
func (s *store) land(f *flight, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &s.inspection
	i.next = time.Now().Add(listPauses * took)
	if i.flight != f {
		return // the type was counted again meanwhile
	}
	i.flight = nil
	for id, pool := range f.pools {
		i.ask(id, pool.declared, 0)
	}
}

// conclude takes a list of those of the name pools of a flight for which part is true.
func (s *store) conclude(f *flight, part func(namepools.ID) bool, list *listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inspection.flight != f || s.standing.state != watched || list.version < f.from || f.noted > maxNoted {
		return
	}
	for id, pool := range f.pools {
		if part(id) {
			delete(f.pools, id)
			s.decide(id, pool, list)
		}
	}
}

// decide gives a counter to an inspected name pool, or takes it away. The list may be
// ahead of the watch.
func (s *store) decide(id namepools.ID, pool *inspected, list *listing) {
	listed, counts := list.counters[id]
	counter, few := s.pools.counters[id], s.pools.few.of(hashOf(id))
	switch {
	case !counts && pool.declaredSince(list.version):
		s.inspection.ask(id, true, 0)
	case !counts:
		if counter != nil {
			s.demote(id, counter)
			few = s.pools.few.of(hashOf(id))
		}
		// Only a selector can make it not count although an object has its generateName.
		s.inspection.refuse(id, pool.declared && s.selects, int64(few.names))
	case counter == nil && few.names <= 0:
	default:
		now := s.clock.now()
		if counter == nil {
			s.pools.few.remove(hashOf(id))
			counter = listed
			counter.since, counter.pool.Names = &now, few.names
			s.pools.counters[id] = counter
		}
		counter.pool.ClientGenerated = listed.pool.ClientGenerated
		counter.pool.Generated = listed.pool.Generated + pool.sum(list.version)
		counter.see(now).declared = list.version
	}
}

func (r *reflector) inspect(ctx context.Context, f *flight) {
	began := time.Now()
	for namespace := range r.scopes(f) {
		part := func(id namepools.ID) bool { return namespace == "" || id.Namespace == namespace }
		want := func(id namepools.ID) bool { return part(id) && f.pools[id] != nil }
		begin := func() census.Batch { return newBatch(r.store.policy, r.source.clock.now(), want, true) }
		list, skipped := r.source.list(ctx, r.resource, namespace, time.Time{}, begin)
		if skipped == nil {
			r.store.conclude(f, part, list)
		}
	}
	r.store.land(f, time.Since(began))
}

// scopes returns the namespaces in which name pools are inspected, or that of all.
func (r *reflector) scopes(f *flight) map[string]bool {
	found := map[string]bool{}
	for id := range f.pools {
		found[id.Namespace] = true
	}
	if !r.resource.Namespaced || len(found) > maxNamespaces {
		return map[string]bool{r.source.namespaceOf(r.resource): true}
	}
	return found
}

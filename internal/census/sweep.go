package census

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// maxTargets is how many spaces are counted in one sweep: some megabytes.
const maxTargets = 1 << 14

// sweep counts a bounded number of spaces in one walk, in whatever order the
// objects come, and lists the spaces for the next one. The spaces of a list are
// taken in their order, so that what has been counted need not be remembered:
// it is all that lies at or before the last target.
type sweep struct {
	*rules
	// afterStems says that the spaces that stems can count are counted, in the
	// same state of the list; otherwise sweeps count all.
	afterStems bool
	targets    map[spaceID]*target
	last       spaceID // the greatest target, or zero
	next       shortlist
}

type target struct {
	tally
	chosenByStray bool
}

// add counts o.
func (s *sweep) add(o *object) error {
	if prefix, _, ok := names.Split(o.name); ok {
		id := spaceID{o.namespace, prefix}
		if t := s.targets[id]; t != nil {
			s.count(&t.tally, o, prefix)
		} else if s.prefixes[prefix] && !s.afterStems {
			s.propose(id)
		}
	}
	if o.generateName != "" {
		s.hear(o, names.EffectivePrefix(o.generateName))
	}
	return nil
}

// hear takes note of the prefix that o says.
func (s *sweep) hear(o *object, prefix string) {
	id := spaceID{o.namespace, prefix}
	stray := !strings.HasPrefix(o.name, prefix)
	switch t := s.targets[id]; {
	case t != nil && stray:
		t.chosenByStray = t.chosenByStray || s.chooses(o)
	case t != nil:
		s.say(&t.tally, o)
	case stray || !s.afterStems:
		s.propose(id)
	}
}

func (s *sweep) propose(id spaceID) {
	if id.compare(s.last) > 0 {
		s.next.offer(id)
	}
}

// finish emits the targets that stems have not.
func (s *sweep) finish(emit func(spaceID, *tally)) {
	for id, t := range s.targets {
		emitted := s.afterStems && t.said && t.chosen
		if !emitted && (t.chosen || t.chosenByStray) {
			emit(id, &t.tally)
		}
	}
}

// aim makes the listed spaces the targets. It is false if there are none.
func (s *sweep) aim(ids []spaceID) bool {
	s.targets = make(map[spaceID]*target, len(ids))
	for _, id := range ids {
		s.targets[id] = &target{}
		s.last = id
	}
	s.next = shortlist{limit: s.targetsAtOnce}
	return len(ids) > 0
}

// shortlist keeps the first of the spaces it is offered, at most limit.
type shortlist struct {
	limit int
	ids   map[spaceID]bool
}

func (l *shortlist) offer(id spaceID) {
	if l.ids[id] {
		return
	}
	if l.ids == nil {
		l.ids = map[spaceID]bool{}
	}
	l.ids[spaceID{strings.Clone(id.namespace), strings.Clone(id.prefix)}] = true
	if len(l.ids) == 2*l.limit {
		l.trim()
	}
}

func (l *shortlist) trim() {
	first := l.first()
	clear(l.ids)
	for _, id := range first {
		l.ids[id] = true
	}
}

// first is the spaces that it keeps, in their order.
func (l *shortlist) first() []spaceID {
	ids := slices.SortedFunc(maps.Keys(l.ids), spaceID.compare)
	return ids[:min(len(ids), l.limit)]
}

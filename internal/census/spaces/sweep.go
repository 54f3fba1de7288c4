package spaces

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// Sweep counts a bounded number of spaces in one walk, its targets, in whatever
// order the objects come, and lists the spaces for the walk after it. The spaces
// of a list are taken in their order, so that what has been counted need not be
// remembered: it is all that lies at or before the last target.
type Sweep struct {
	rules      *Rules
	emit       Emit
	afterStems bool
	targets    map[ID]*target
	last       ID // the greatest target, or zero
	later      shortlist
}

type target struct {
	tally         Tally
	chosenByStray bool
}

// NewSweep makes a count without targets, the first walk of which finds some,
// and which hands what it has counted to emit. All spaces are swept.
func NewSweep(rules *Rules, emit Emit) *Sweep {
	return &Sweep{rules: rules, emit: emit, later: shortlist{limit: rules.AtOnce}}
}

// NewSweepAfter makes the count of what is left after stems, in the same state
// of the list: the strays are its first targets.
func NewSweepAfter(stems *Stems) *Sweep {
	s := NewSweep(stems.rules, stems.emit)
	s.afterStems = true
	s.aim(stems.strays.first())
	return s
}

// AfterStems reports whether the sweep is only of what stems have left.
func (s *Sweep) AfterStems() bool { return s.afterStems }

// Add counts o, if it is in a target.
func (s *Sweep) Add(o *decode.Object) error {
	if prefix, _, ok := names.Split(o.Name); ok {
		id := ID{o.Namespace, prefix}
		if t := s.targets[id]; t != nil {
			t.tally.add(s.rules, o, prefix)
		} else if s.rules.Prefixes[prefix] && !s.afterStems {
			s.propose(id)
		}
	}
	if o.GenerateName != "" {
		s.addSaid(o, names.EffectivePrefix(o.GenerateName))
	}
	return nil
}

// addSaid notes that o says the prefix.
func (s *Sweep) addSaid(o *decode.Object, prefix string) {
	id := ID{o.Namespace, prefix}
	stray := !strings.HasPrefix(o.Name, prefix)
	switch t := s.targets[id]; {
	case t != nil && stray:
		t.chosenByStray = t.chosenByStray || s.rules.chooses(o)
	case t != nil:
		t.tally.addSaid(s.rules, o)
	case stray || !s.afterStems:
		s.propose(id)
	}
}

// propose lists a space for a later walk, if it has not had its turn.
func (s *Sweep) propose(id ID) {
	if id.compare(s.last) > 0 {
		s.later.offer(id)
	}
}

// Finish emits, at the end of a walk, the targets that stems have not, and aims
// at those of the next walk. It reports whether there are any.
func (s *Sweep) Finish() (more bool) {
	for id, t := range s.targets {
		emitted := s.afterStems && t.tally.said && t.tally.chosen
		if !emitted && (t.tally.chosen || t.chosenByStray) {
			s.emit(id, &t.tally)
		}
	}
	s.aim(s.later.first())
	return len(s.targets) > 0
}

// aim makes ids, which are in order, the targets.
func (s *Sweep) aim(ids []ID) {
	s.targets = make(map[ID]*target, len(ids))
	for _, id := range ids {
		s.targets[id] = &target{}
		s.last = id
	}
	s.later = shortlist{limit: s.rules.AtOnce}
}

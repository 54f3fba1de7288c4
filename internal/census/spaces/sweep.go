package spaces

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Sweep counts a bounded number of spaces in one walk, its targets, in whatever
// order the objects come, and lists the spaces for the walk after it. The spaces
// of a list are taken in their order, so that what has been counted need not be
// remembered: it is all that lies at or before the last target.
type Sweep struct {
	rules      *Rules
	emit       Emit
	count      Count
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

// NewSweepAfter makes the count of strays that stems have left, in the same state
// of the list and in order. One walk counts those that come first; the others
// stay uncounted, because anybody who may create an object can say any number.
func NewSweepAfter(stems *Stems) *Sweep {
	s := NewSweep(stems.rules, stems.emit)
	s.afterStems, s.count = true, stems.count
	s.aim(stems.strays.first())
	return s
}

// WantsCreator returns when Add needs to know who made o: never later, because there
// are many targets.
func (s *Sweep) WantsCreator(o *decode.Object) decode.When {
	if _, _, long := longSuffix(o); long && !s.afterStems {
		return decode.Now
	}
	if prefix, _, ok := names.Split(o.Name); ok {
		if t := s.targets[server(o.Namespace, prefix)]; t != nil && t.tally.isNewer(o) {
			return decode.Now
		}
	}
	return decode.Never
}

// Add counts o, if it is in a target.
func (s *Sweep) Add(o *decode.Object) error {
	if prefix, _, ok := names.Split(o.Name); ok {
		id := server(o.Namespace, prefix)
		if t := s.targets[id]; t != nil {
			if err := t.tally.add(s.rules, o, prefix); err != nil {
				return err
			}
		} else if s.rules.Prefixes[prefix] && !s.afterStems {
			s.propose(id)
		}
	} else if stem := otherStem(o.Name); stem > 0 {
		if t := s.targets[server(o.Namespace, o.Name[:stem])]; t != nil {
			t.tally.evidence.others++
		}
	}
	if s.afterStems {
		s.addStray(o)
		return nil
	}
	return s.addSaid(o)
}

// addStray notes that o says a prefix that its name does not have.
func (s *Sweep) addStray(o *decode.Object) {
	if o.GenerateName == "" {
		return
	}
	prefix := names.EffectivePrefix(o.GenerateName)
	t := s.targets[server(o.Namespace, prefix)]
	switch {
	case t == nil:
	case strings.HasPrefix(o.Name, prefix):
		t.tally.addSaid(s.rules, o)
	default:
		t.chosenByStray = t.chosenByStray || s.rules.chooses(o)
		s.count.Uncounted--
	}
}

// addSaid notes what o says, where no stems have been.
func (s *Sweep) addSaid(o *decode.Object) error {
	s.count.Objects++
	if o.GenerateName == "" {
		return nil
	}
	left := false // for a later walk
	if prefix, length, ok := longSuffix(o); ok && o.Marked {
		id := ID{o.Namespace, prefix, length}
		if t := s.targets[id]; t != nil {
			if err := t.tally.addLong(s.rules, o); err != nil {
				return err
			}
		} else {
			left = s.propose(id)
		}
	}
	id := server(o.Namespace, names.EffectivePrefix(o.GenerateName))
	if t := s.targets[id]; t != nil {
		t.tally.addSaid(s.rules, o)
	} else {
		left = s.propose(id) || left
	}
	if left {
		s.count.Uncounted++
	}
	return nil
}

// propose lists a space for a later walk, and reports whether it has not had its
// turn.
func (s *Sweep) propose(id ID) bool {
	if id.compare(s.last) <= 0 {
		return false
	}
	s.later.offer(id)
	return true
}

// Finish emits, at the end of a walk, the targets that stems have not, and
// returns what has been counted. It reports whether another walk can count more,
// at whose targets the sweep then aims.
func (s *Sweep) Finish() (count Count, more bool) {
	for id, t := range s.targets {
		counted := s.afterStems && t.tally.close(s.rules)
		if !counted {
			s.count.add(&t.tally)
		}
		emitted := counted && t.tally.chosen
		if !emitted && (t.tally.chosen || t.chosenByStray) {
			t.tally.Extra = false
			s.emit(id, &t.tally)
		}
	}
	count = s.count
	s.count.Objects, s.count.Uncounted = 0, 0
	s.aim(s.later.first())
	return count, len(s.targets) > 0
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

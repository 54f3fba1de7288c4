package namepools

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Sweep counts a limited number of name pools per walk, its targets, with objects in any order. During
// a walk it also collects the targets of the next walk. The name pools of a list are counted in their
// order. So the sweep need not remember them, because all name pools up to the last target are
// counted.
type Sweep struct {
	rules      *Rules
	emit       Emit
	count      Count
	afterStems bool
	targets    map[ID]*target
	last       ID // the last target in order, or zero
	later      shortlist
}

type target struct {
	tally         Tally
	chosenByStray bool
}

// NewSweep returns a sweep of all name pools. It passes counted name pools to emit. The first walk has
// no targets, and only finds those of the next walk.
func NewSweep(rules *Rules, emit Emit) *Sweep {
	return &Sweep{rules: rules, emit: emit, later: shortlist{limit: rules.AtOnce}}
}

// NewSweepAfter returns a sweep of the strays of stems. It needs the same resourceVersion in the same
// order. One walk counts the first strays, up to the limit. The others stay uncounted, because every
// user who can create objects can add any number of strays.
func NewSweepAfter(stems *Stems) *Sweep {
	s := NewSweep(stems.rules, stems.emit)
	s.afterStems, s.count = true, stems.count
	s.aim(stems.strays.first())
	return s
}

// Add counts o if it belongs to a target.
func (s *Sweep) Add(o *decode.Object) error {
	if prefix, _, ok := names.Split(o.Name); ok {
		id := server(o.Namespace, prefix)
		if t := s.targets[id]; t != nil {
			t.tally.add(s.rules, o, prefix)
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
	} else {
		s.addDeclared(o)
	}
	return nil
}

// addStray counts a generateName whose prefix the object's name lacks.
func (s *Sweep) addStray(o *decode.Object) {
	if o.GenerateName == "" {
		return
	}
	prefix := names.EffectivePrefix(o.GenerateName)
	t := s.targets[server(o.Namespace, prefix)]
	switch {
	case t == nil:
	case strings.HasPrefix(o.Name, prefix):
		t.tally.addDeclared(s.rules, o)
	default:
		t.chosenByStray = t.chosenByStray || s.rules.chooses(o)
		s.count.Uncounted--
	}
}

// addDeclared counts the generateName of o if stems did not.
func (s *Sweep) addDeclared(o *decode.Object) {
	s.count.Objects++
	if o.GenerateName == "" {
		return
	}
	left := false // a later walk counts it
	if prefix, length, ok := longSuffix(o); ok && o.HasCreationID {
		id := ID{o.Namespace, prefix, length}
		if t := s.targets[id]; t != nil {
			t.tally.addLong(s.rules, o)
		} else {
			left = s.propose(id)
		}
	}
	id := server(o.Namespace, names.EffectivePrefix(o.GenerateName))
	if t := s.targets[id]; t != nil {
		t.tally.addDeclared(s.rules, o)
	} else {
		left = s.propose(id) || left
	}
	if left {
		s.count.Uncounted++
	}
}

// propose collects a name pool for a later walk, and reports whether it was not counted yet.
func (s *Sweep) propose(id ID) bool {
	if id.compare(s.last) <= 0 {
		return false
	}
	s.later.offer(id)
	return true
}

// Finish emits the targets at the end of a walk, except those that stems emitted, and returns the
// count. more reports whether another walk can count more. The sweep then has the targets of that
// walk.
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

// aim makes ids the targets. ids must be sorted.
func (s *Sweep) aim(ids []ID) {
	s.targets = make(map[ID]*target, len(ids))
	for _, id := range ids {
		s.targets[id] = &target{}
		s.last = id
	}
	s.later = shortlist{limit: s.rules.AtOnce}
}

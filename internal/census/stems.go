package census

import (
	"errors"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// errUnsorted says that the order of a list does not let it be counted in
// stems.
var errUnsorted = errors.New("the list is not in the order of names")

// stems counts the spaces of a list that comes in order, in one walk and
// constant memory.
//
// Names that begin with a prefix are neighbours. The spaces that can still get
// names when one comes are therefore those whose prefix it begins with: one of
// each length at most. When a name no longer begins with the prefix of an open
// space, the space is closed: it is emitted if a generateName said its prefix.
// What a name outside of a prefix says comes too late or too early; such
// prefixes are strays.
type stems struct {
	*rules
	emit   func(spaceID, *tally)
	strays shortlist

	namespace, name string // of the last object
	// open is the open spaces by the length of their prefix; nil is one
	// without names that nobody has said. None is longer than deepest.
	open    [names.MaxPrefixLength + 1]*tally
	deepest int
	free    []*tally
}

// add counts o, or gives errUnsorted. The same object twice counts once.
func (s *stems) add(o *object) error {
	switch order := compareKeys(s.namespace, s.name, o.namespace, o.name); {
	case order > 0:
		return errUnsorted
	case order == 0:
		return nil
	}
	s.closeBeyond(s.shared(o))
	s.namespace, s.name = o.namespace, o.name
	if prefix, _, ok := names.Split(o.name); ok {
		s.count(s.at(len(prefix)), o, prefix)
	}
	if o.generateName == "" {
		return nil
	}
	if prefix := names.EffectivePrefix(o.generateName); strings.HasPrefix(o.name, prefix) {
		s.say(s.at(len(prefix)), o)
	} else {
		s.strays.offer(spaceID{o.namespace, prefix})
	}
	return nil
}

// finish closes what is open at the end of the list.
func (s *stems) finish() { s.closeBeyond(0) }

// shared is the length of the longest prefix that the last object's name and
// o's have in common, as far as a space can be open there.
func (s *stems) shared(o *object) int {
	if s.namespace != o.namespace {
		return 0
	}
	n := min(s.deepest, len(o.name))
	for i := range n {
		if s.name[i] != o.name[i] {
			return i
		}
	}
	return n
}

// closeBeyond closes the spaces whose prefix is longer than length.
func (s *stems) closeBeyond(length int) {
	for ; s.deepest > length; s.deepest-- {
		t := s.open[s.deepest]
		if t == nil {
			continue
		}
		if t.said && t.chosen {
			s.emit(spaceID{s.namespace, s.name[:s.deepest]}, t)
		}
		*t = tally{raw: t.raw[:0]}
		s.free = append(s.free, t)
		s.open[s.deepest] = nil
	}
}

// at is the space whose prefix is the first length bytes of the last name.
func (s *stems) at(length int) *tally {
	t := s.open[length]
	if t == nil {
		t = &tally{}
		if last := len(s.free) - 1; last >= 0 {
			t, s.free = s.free[last], s.free[:last]
		}
		s.open[length] = t
		s.deepest = max(s.deepest, length)
	}
	return t
}

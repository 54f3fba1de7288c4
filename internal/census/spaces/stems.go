package spaces

import (
	"errors"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// ErrUnsorted says that the order of a list does not let it be counted in
// stems.
var ErrUnsorted = errors.New("the list is not in the order of names")

// Stems counts the spaces of a list that comes in order, in one walk and
// constant memory.
//
// Names that begin with a prefix are neighbours. The spaces that can still get
// names when one comes are therefore those whose prefix it begins with: one of
// each length at most. When a name no longer begins with the prefix of an open
// space, the space is closed: it is emitted if a generateName said its prefix.
// What a name outside of a prefix says comes too late or too early; such
// prefixes are strays.
type Stems struct {
	rules  *Rules
	emit   Emit
	strays shortlist

	namespace, name string // of the last object
	// open is the open spaces by the length of their prefix; nil is one
	// without names that nobody has said. None is longer than deepest.
	open    [names.MaxPrefixLength + 1]*Tally
	deepest int
	free    []*Tally
}

// NewStems makes the count of one list, which hands what it has counted to emit.
func NewStems(rules *Rules, emit Emit) *Stems {
	return &Stems{rules: rules, emit: emit, strays: shortlist{limit: rules.AtOnce}}
}

// Add counts o, or gives ErrUnsorted. The same object twice counts once.
func (s *Stems) Add(o *decode.Object) error {
	switch order := StorageOrder(s.namespace, s.name, o.Namespace, o.Name); {
	case order > 0:
		return ErrUnsorted
	case order == 0:
		return nil
	}
	s.closeBeyond(s.shared(o))
	s.namespace, s.name = o.Namespace, o.Name
	if prefix, _, ok := names.Split(o.Name); ok {
		s.at(len(prefix)).add(s.rules, o, prefix)
	}
	if o.GenerateName == "" {
		return nil
	}
	if prefix := names.EffectivePrefix(o.GenerateName); strings.HasPrefix(o.Name, prefix) {
		s.at(len(prefix)).addSaid(s.rules, o)
	} else {
		s.strays.offer(ID{o.Namespace, prefix})
	}
	return nil
}

// Finish closes what is open at the end of the list. It reports whether there
// are strays, which are left to a Sweep.
func (s *Stems) Finish() (strays bool) {
	s.closeBeyond(0)
	return len(s.strays.ids) > 0
}

// shared is the length of the longest prefix that the last object's name and
// o's have in common, as far as a space can be open there.
func (s *Stems) shared(o *decode.Object) int {
	if s.namespace != o.Namespace {
		return 0
	}
	n := min(s.deepest, len(o.Name))
	for i := range n {
		if s.name[i] != o.Name[i] {
			return i
		}
	}
	return n
}

// closeBeyond closes the spaces whose prefix is longer than length.
func (s *Stems) closeBeyond(length int) {
	for ; s.deepest > length; s.deepest-- {
		t := s.open[s.deepest]
		if t == nil {
			continue
		}
		if t.said && t.chosen {
			s.emit(ID{s.namespace, s.name[:s.deepest]}, t)
		}
		*t = Tally{raw: t.raw[:0]}
		s.free = append(s.free, t)
		s.open[s.deepest] = nil
	}
}

// at is the space whose prefix is the first length bytes of the last name.
func (s *Stems) at(length int) *Tally {
	t := s.open[length]
	if t == nil {
		t = &Tally{}
		if last := len(s.free) - 1; last >= 0 {
			t, s.free = s.free[last], s.free[:last]
		}
		s.open[length] = t
		s.deepest = max(s.deepest, length)
	}
	return t
}

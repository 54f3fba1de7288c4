package spaces

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// ErrUnsorted says that the order of a list does not let it be counted in
// stems.
var ErrUnsorted = errors.New("the list is not in the order of names")

// Stems counts the spaces of a list that comes in order, in one walk and
// constant memory.
//
// Names that begin with a prefix are neighbors. The spaces that can still get
// names when one comes are therefore those whose prefix it begins with: one of
// each length at most. When a name no longer begins with the prefix of an open
// space, the space is closed: it is emitted if a generateName said its prefix, or
// its names show that a client's generator made them. What a name outside of a
// prefix says comes too late or too early; such prefixes are strays.
type Stems struct {
	rules  *Rules
	emit   Emit
	count  Count
	strays shortlist

	namespace, name string // of the last object
	// open is the open spaces by the length of their prefix; nil is one
	// without names that nobody has said. None is longer than deepest.
	open    [names.MaxPrefixLength + 1]*Tally
	deepest int
	// long is the open spaces of longer suffixes, of which there are few.
	long []openLong
	free []*Tally
}

// openLong is an open space whose suffixes are longer than a server's.
type openLong struct {
	prefix, suffix int // their lengths
	tally          *Tally
}

// NewStems makes the count of one list, which hands what it has counted to emit.
func NewStems(rules *Rules, emit Emit) *Stems {
	return &Stems{rules: rules, emit: emit, strays: shortlist{limit: rules.AtOnce}}
}

// WantsCreator returns when Add needs to know who made o.
func (s *Stems) WantsCreator(o *decode.Object) decode.When {
	prefix, _, ok := names.Split(o.Name)
	if !ok || prefix != names.EffectivePrefix(o.GenerateName) {
		if _, _, long := longSuffix(o); long {
			return decode.Now
		}
	}
	if !ok {
		return decode.Never
	}
	n, before := len(prefix), int64(0)
	if s.open[n] != nil && s.namespace == o.Namespace && strings.HasPrefix(s.name, prefix) {
		if !s.open[n].isNewer(o) {
			if s.open[n].wantsOwner(s.rules) {
				return decode.Later
			}
			return decode.Never
		}
		before = s.open[n].Names
	}
	if before+1 < s.rules.creatorsFrom() {
		return decode.Later
	}
	return decode.Now
}

// Add counts o, or gives ErrUnsorted or the decoder's error. The same object twice
// counts once.
func (s *Stems) Add(o *decode.Object) error {
	switch order := StorageOrder(s.namespace, s.name, o.Namespace, o.Name); {
	case order > 0:
		return ErrUnsorted
	case order == 0:
		return nil
	}
	s.closeBeyond(s.shared(o))
	s.namespace, s.name = o.Namespace, o.Name
	s.count.Objects++
	if prefix, _, ok := names.Split(o.Name); ok {
		if err := s.at(len(prefix)).add(s.rules, o, prefix); err != nil {
			return err
		}
	} else if stem := otherStem(o.Name); stem > 0 {
		s.at(stem).evidence.others++
	}
	if o.GenerateName == "" {
		return nil
	}
	return s.addSaid(o)
}

// addSaid takes what o says.
func (s *Stems) addSaid(o *decode.Object) error {
	if prefix, length, ok := longSuffix(o); ok && o.Marked {
		if err := s.longAt(len(prefix), length).addLong(s.rules, o); err != nil {
			return err
		}
	}
	if prefix := names.EffectivePrefix(o.GenerateName); strings.HasPrefix(o.Name, prefix) {
		s.at(len(prefix)).addSaid(s.rules, o)
	} else {
		s.count.Uncounted++ // unless a sweep counts it
		s.strays.offer(server(o.Namespace, prefix))
	}
	return nil
}

// Finish closes what is open at the end of the list. It reports whether there
// are strays, which are left to a Sweep.
func (s *Stems) Finish() (strays bool) {
	s.closeBeyond(0)
	return len(s.strays.ids) > 0
}

// Count is what has been counted, with all strays uncounted.
func (s *Stems) Count() Count { return s.count }

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
	for _, l := range s.long {
		if l.prefix > length {
			s.close(ID{s.namespace, s.name[:l.prefix], l.suffix}, l.tally)
		}
	}
	s.long = slices.DeleteFunc(s.long, func(l openLong) bool { return l.prefix > length })
	for ; s.deepest > length; s.deepest-- {
		if t := s.open[s.deepest]; t != nil {
			s.close(server(s.namespace, s.name[:s.deepest]), t)
			s.open[s.deepest] = nil
		}
	}
}

// close emits a space, if it counts, and keeps the memory of its tally.
func (s *Stems) close(id ID, t *Tally) {
	counts := t.close(s.rules)
	if counts {
		s.count.add(t)
	}
	t.Extra = !counts || !t.chosen
	if !t.Extra || s.rules.All && t.Names > 0 {
		s.emit(id, t)
	}
	t.clear()
	s.free = append(s.free, t)
}

// at is the space whose prefix is the first length bytes of the last name.
func (s *Stems) at(length int) *Tally {
	if s.open[length] == nil {
		s.open[length] = s.tally()
		s.deepest = max(s.deepest, length)
	}
	return s.open[length]
}

// longAt is that of names with so many characters after it.
func (s *Stems) longAt(length, suffix int) *Tally {
	for _, l := range s.long {
		if l.prefix == length && l.suffix == suffix {
			return l.tally
		}
	}
	t := s.tally()
	s.long = append(s.long, openLong{length, suffix, t})
	s.deepest = max(s.deepest, length)
	return t
}

// tally is an empty one.
func (s *Stems) tally() *Tally {
	last := len(s.free) - 1
	if last < 0 {
		return &Tally{}
	}
	t := s.free[last]
	s.free = s.free[:last]
	return t
}

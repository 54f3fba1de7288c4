package namepools

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// ErrUnsorted reports that a list is not sorted, so stems can't count it.
var ErrUnsorted = errors.New("the list is not in the order of names")

// Stems counts the name pools of a sorted list in one walk and constant memory.
//
// Names with the same prefix are adjacent. So a name pool is open only while the current name has its
// prefix, and at most one name pool per prefix length is open. When the next name lacks the prefix,
// the name pool is closed. It is emitted if a generateName had its prefix, or if the evidence shows a
// client's generator. A generateName whose prefix the object's own name lacks comes too late or too
// early. Such prefixes are strays.
type Stems struct {
	rules  *Rules
	emit   Emit
	count  Count
	strays shortlist

	namespace, name string // of the last object
	// open has the open name pools by the length of their prefix. A nil entry has had no names and no
	// generateName. No entry is longer than deepest.
	open    [names.MaxPrefixLength + 1]*Tally
	deepest int
	// long has the open name pools with longer suffixes, which are few.
	long []openLong
	free []*Tally
}

// openLong is an open name pool whose suffixes are longer than a server's.
type openLong struct {
	prefix, suffix int // their lengths
	tally          *Tally
}

// NewStems returns the count of one list. It passes counted name pools to emit.
func NewStems(rules *Rules, emit Emit) *Stems {
	return &Stems{rules: rules, emit: emit, strays: shortlist{limit: rules.AtOnce}}
}

// Add counts o. It returns ErrUnsorted, or nil. A repeated object counts once.
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
		s.at(len(prefix)).add(s.rules, o, prefix)
	} else if stem := otherStem(o.Name); stem > 0 {
		s.at(stem).evidence.others++
	}
	if o.GenerateName != "" {
		s.addDeclared(o)
	}
	return nil
}

// addDeclared counts the generateName of o.
func (s *Stems) addDeclared(o *decode.Object) {
	if prefix, length, ok := longSuffix(o); ok && o.HasCreationID {
		s.longAt(len(prefix), length).addLong(s.rules, o)
	}
	if prefix := names.EffectivePrefix(o.GenerateName); strings.HasPrefix(o.Name, prefix) {
		s.at(len(prefix)).addDeclared(s.rules, o)
	} else {
		s.count.Uncounted++ // a sweep may count it later
		s.strays.offer(server(o.Namespace, prefix))
	}
}

// Finish closes the open name pools at the end of the list. It reports whether a Sweep must count
// strays.
func (s *Stems) Finish() (strays bool) {
	s.closeBeyond(0)
	return len(s.strays.ids) > 0
}

// Count returns the count. All strays are uncounted.
func (s *Stems) Count() Count { return s.count }

// shared returns the length of the longest common prefix of o's name and the previous name. It is
// limited to deepest, the longest open prefix.
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

// closeBeyond closes the name pools whose prefix is longer than length.
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

// close emits a name pool if it counts, and keeps the memory of its tally.
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

// at returns the name pool whose prefix is the first length bytes of the current name.
func (s *Stems) at(length int) *Tally {
	if s.open[length] == nil {
		s.open[length] = s.tally()
		s.deepest = max(s.deepest, length)
	}
	return s.open[length]
}

// longAt is like at for names with a suffix of that many characters.
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

// tally returns an empty tally.
func (s *Stems) tally() *Tally {
	last := len(s.free) - 1
	if last < 0 {
		return &Tally{}
	}
	t := s.free[last]
	s.free = s.free[:last]
	return t
}

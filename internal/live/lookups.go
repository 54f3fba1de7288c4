package live

import (
	"maps"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

const (
	// maxAsked bounds what is to be looked up at once, maxNoted the events that are
	// kept while it is, and maxRefused what is remembered not to count.
	maxAsked   = 10_000
	maxNoted   = 1 << 16
	maxRefused = 1 << 14
	// lookupPauses is how many times as long as a look-up took there is none after
	// it, so that they cost a tenth of the time at most.
	lookupPauses = 9
)

// lookups are the spaces of a type that are to be looked up in a list.
type lookups struct {
	asked   map[spaces.ID]bool // whether an object says the prefix
	refused map[spaces.ID]refusal

	// flying are those that are looked up now, and noted what has happened to them
	// since that began, in order.
	flying   map[spaces.ID]bool
	noted    []noted
	overflow bool
	next     time.Time // not before then
}

// refusal is a space that does not count: it is looked up again if an object says
// it, or from so many names on.
type refusal struct {
	said bool // even though one says it
	from int64
}

type noted struct {
	id spaces.ID
	changed
}

// ask asks for a space that has so many names, or more.
func (l *lookups) ask(id spaces.ID, said bool, estimate int64) {
	if refused, is := l.refused[id]; is && estimate > 0 && estimate < refused.from && (refused.said || !said) {
		return
	}
	if before, is := l.asked[id]; is {
		if said && !before {
			l.asked[id] = true
		}
		return
	}
	if len(l.asked) >= maxAsked {
		return // the next event of it asks again
	}
	if l.asked == nil {
		l.asked = map[spaces.ID]bool{}
	}
	l.asked[spaces.ID{
		Namespace: strings.Clone(id.Namespace), Prefix: strings.Clone(id.Prefix), SuffixLength: id.SuffixLength,
	}] = said
}

// refuse remembers that a space of so many names, or fewer, does not count.
func (l *lookups) refuse(id spaces.ID, said bool, estimate int64) {
	if len(l.refused) >= maxRefused {
		clear(l.refused)
	}
	if l.refused == nil {
		l.refused = map[spaces.ID]refusal{}
	}
	l.refused[id] = refusal{said, 2 * estimate}
}

// note keeps what happens to a space while it is looked up.
func (l *lookups) note(id spaces.ID, c changed) {
	if _, is := l.flying[id]; !is {
		return
	}
	if len(l.noted) == maxNoted {
		l.overflow = true
		return
	}
	c.object.Labels = nil
	l.noted = append(l.noted, noted{id, c})
}

// take begins a look-up of all that is asked for, if there is any and it is time.
func (l *lookups) take(now time.Time) map[spaces.ID]bool {
	if len(l.asked) == 0 || l.flying != nil || now.Before(l.next) {
		return nil
	}
	l.flying, l.asked = l.asked, nil
	return l.flying
}

// end ends the look-up, which took so long; what of it is left is asked for again.
func (l *lookups) end(now time.Time, took time.Duration, left map[spaces.ID]bool) {
	l.flying, l.noted, l.overflow = nil, nil, false
	l.next = now.Add(lookupPauses * took)
	if len(left) > 0 && l.asked == nil {
		l.asked = map[spaces.ID]bool{}
	}
	maps.Copy(l.asked, left)
}

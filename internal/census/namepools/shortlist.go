package namepools

import (
	"maps"
	"slices"
	"strings"
)

// shortlist keeps the first of the IDs that it is offered, at most limit.
type shortlist struct {
	limit int
	ids   map[ID]bool
}

func (l *shortlist) offer(id ID) {
	if l.ids[id] {
		return
	}
	if l.ids == nil {
		l.ids = map[ID]bool{}
	}
	l.ids[ID{strings.Clone(id.Namespace), strings.Clone(id.Prefix), id.SuffixLength}] = true
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

// first returns the IDs that it keeps, sorted.
func (l *shortlist) first() []ID {
	ids := slices.SortedFunc(maps.Keys(l.ids), ID.compare)
	return ids[:min(len(ids), l.limit)]
}

package live

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// install makes the first list of a type its counts.
func (k *kind) install(list *listing, now time.Time) {
	k.counters = make(map[spaces.ID]*counter, len(list.found))
	for id, s := range list.found {
		k.counters[id] = &counter{space: s, version: list.version, since: now, last: now}
	}
	k.adopt(list, now)
}

// installAgain makes a list of a type its counts that were those of an earlier state.
// A list cannot say what came and went between: at least what has a creationTimestamp
// later than all that have been seen came, which the recent creations of index gap
// are, and at least what is missing went.
func (k *kind) installAgain(list *listing, gap int, now time.Time) {
	before := k.counters
	k.counters = make(map[spaces.ID]*counter, len(list.found))
	for id, s := range list.found {
		c := before[id]
		if c == nil {
			k.counters[id] = &counter{space: s, version: list.version, since: now, last: now}
			continue
		}
		created := max(s.Recent[gap], s.Names-c.space.Names, 0)
		deleted := c.space.Names + created - s.Names
		c.space, c.version = s, list.version
		c.gaps++
		if created > 0 || deleted > 0 {
			c.happened(now, created, deleted)
		}
		k.counters[id] = c
	}
	k.gaps++
	k.adopt(list, now)
}

// adopt takes from a list what is not about single spaces.
func (k *kind) adopt(list *listing, now time.Time) {
	k.sketch, k.version, k.objects = list.sketch, list.version, list.objects
	k.newest = max(k.newest, list.newest)
	k.listed, k.took, k.hidden = now, list.took, list.hidden
	k.atList, k.unprefixed = list.objects, list.objects-list.prefixed
	k.unsteady = list.version == 0
	k.skipped, k.behind, k.cause = nil, time.Time{}, nil
	k.lookups = lookups{next: k.lookups.next, flying: k.lookups.flying, overflow: k.lookups.flying != nil}
	k.state = quiet
	if list.prefixes > 0 {
		k.state = watched
	}
}

package live

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// maxNamespaces is in how many namespaces spaces are looked up one by one: of more,
// the type is listed as a whole.
const maxNamespaces = 5

// lookUp begins what is to be looked up.
func (e *Engine) lookUp(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range e.kinds {
		if k.state != watched {
			continue
		}
		if ids := k.lookups.take(time.Now()); ids != nil {
			e.running.Go(func() { e.pass(ctx, k, ids) })
		}
	}
}

// pass counts spaces of a type in lists, from where they are counted exactly, if
// they count. What happens to them meanwhile is noted, and what is not in the list
// counts after it.
func (e *Engine) pass(ctx context.Context, k *kind, ids map[spaces.ID]bool) {
	began := time.Now()
	from := e.versionOf(k)
	left := maps.Clone(ids)
	for namespace := range e.scopes(k, ids) {
		part := func(id spaces.ID) bool {
			_, is := ids[id]
			return is && (namespace == "" || id.Namespace == namespace)
		}
		begin := func() census.Batch { return e.newBatch(part, true) }
		list, skipped := e.list(ctx, k, namespace, time.Time{}, begin)
		e.mu.Lock()
		if skipped == nil && list.version >= from && !k.lookups.overflow && k.state == watched {
			for id, said := range ids {
				if part(id) {
					k.pass(e, id, said, list)
					delete(left, id)
				}
			}
		}
		e.mu.Unlock()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k.lookups.end(time.Now(), time.Since(began), left)
}

// scopes returns the namespaces that spaces are looked up in, or that of all.
func (e *Engine) scopes(k *kind, ids map[spaces.ID]bool) map[string]bool {
	found := map[string]bool{}
	for id := range ids {
		found[id.Namespace] = true
	}
	if !k.resource.Namespaced || len(found) > maxNamespaces {
		return map[string]bool{e.namespaceOf(k): true}
	}
	return found
}

// pass makes a counter of a space, or remembers that it does not count.
func (k *kind) pass(e *Engine, id spaces.ID, said bool, list *listing) {
	c, counts := list.found[id]
	before := k.counters[id]
	switch {
	case !counts && k.saidSince(id, list.version):
		k.lookups.ask(id, true, 0)
	case !counts:
		delete(k.counters, id)
		// Who said it has gone since, unless the selector does not choose it.
		k.lookups.refuse(id, said && e.selects(), k.sketch.estimate(id))
	case before != nil:
		before.space.ClientGenerated = c.space.ClientGenerated
		before.space.Generated = c.space.Generated + k.generatedSince(id, list.version)
		before.see(e.clock.now()).said = list.version // which may be ahead of the watch
	default:
		since := list.began
		c.version, c.since = list.version, &since
		if k.counters == nil {
			k.counters = map[spaces.ID]*counter{}
		}
		k.counters[id] = c
		for _, n := range k.lookups.noted {
			if n.id == id && n.version > list.version {
				k.count(e, id, c, n.changed)
			}
		}
	}
}

// saidSince reports whether an object that says a space which is looked up came after a
// state.
func (k *kind) saidSince(id spaces.ID, version uint64) bool {
	return slices.ContainsFunc(k.lookups.noted, func(n noted) bool {
		return n.id == id && n.version > version && n.what == decode.Added && generates(id, &n.object)
	})
}

// generatedSince returns how many more objects of a space say it than at a state that is
// not before its look-up.
func (k *kind) generatedSince(id spaces.ID, version uint64) (more int32) {
	for _, n := range k.lookups.noted {
		switch {
		case n.id != id || n.version <= version || !generates(id, &n.object):
		case n.what == decode.Added:
			more++
		case n.what == decode.Deleted:
			more--
		}
	}
	return more
}

// listing is what a list has come to.
type listing struct {
	began    time.Time     // about when it was so
	took     time.Duration // 0 for the first list of a type
	version  uint64        // 0 if it is not all of one state, or that is no number
	unsteady bool          // it is not all of one state
	found    map[spaces.ID]*counter
	sketch   *sketch // nil of a look-up
	hidden   small
	newest   int64
	objects  int64
	prefixed, uncounted,
	prefixes int64
}

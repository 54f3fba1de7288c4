package live

import (
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// store guards the counts of one resource type, which several goroutines use. The engine and its reflectors have only
// stores. Methods of counts never lock.
type store struct {
	mu     sync.Mutex
	counts *counts
}

// do calls f with the counts while no other goroutine has them. f must not call a method of the store.
func (s *store) do(f func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.counts)
}

// get returns the result of f, like do.
func get[T any](s *store, f func(*counts) T) (result T) {
	s.do(func(c *counts) { result = f(c) })
	return result
}

// look returns a copy of the outline.
func (s *store) look() outline { return get(s, func(c *counts) outline { return c.outline }) }

// update changes the health of the type.
func (s *store) update(change func(*health)) { s.do(func(c *counts) { change(&c.health) }) }

// replace makes a list the counts of the type.
func (s *store) replace(list *listing, kept state) { s.do(func(c *counts) { c.replace(list, kept) }) }

// inPart is the number of name pools that a snapshot reads from a type at a time. Events of the type wait while a
// part is read. The events don't wait while the caller uses the name pools.
const inPart = 1 << 10

// eachRow calls each with the name pools of the type, except those above the limit of prefixes.
func (s *store) eachRow(now time.Time, each func(pools.Row)) {
	keys := get(s, (*counts).keys)
	for len(keys) > 0 {
		part := keys[:min(inPart, len(keys))]
		for _, row := range get(s, func(c *counts) []pools.Row { return c.rows(part, now) }) {
			each(row)
		}
		keys = keys[len(part):]
	}
}

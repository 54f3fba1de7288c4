package live

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// store has the counts of one resource type, and how the type is kept.
type store struct {
	resource census.Resource
	policy   *Policy
	selects  bool // whether a selector chooses among the name pools
	clock    *clock

	mu sync.Mutex // guards the rest
	outline
	pools      pools
	comparison comparison
	inspection inspection
}

// outline has the facts about a type as a whole.
type outline struct {
	standing standing
	at       position
	totals   totals
	listed   facts
	listedAt time.Time // zero if there was no list
}

var (
	errBackwards = errors.New("the server is at an earlier state than before")
	errMute      = errors.New("its watches deliver no events, but the server has another number of objects")
	errMissed    = errors.New("its watch did not deliver every event: the server has another number of objects")
	errNoNumber  = errors.New("its resourceVersions are no numbers")
	errNoState   = errors.New("its lists are not of one state")
)

func newStore(r census.Resource, policy *Policy, selects bool, clock *clock) *store {
	return &store{
		resource: r, policy: policy, selects: selects, clock: clock,
		pools: pools{counters: map[namepools.ID]*counter{}},
	}
}

// look returns the outline of now.
func (s *store) look() outline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outline
}

// update changes how the type is kept.
func (s *store) update(change func(*standing)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.standing)
}

// changed is an event of an object, which happened from one time to another.
type changed struct {
	version   uint64
	what      decode.EventType
	object    decode.Object
	since, at time.Time
}

// by is how many objects the event adds.
func (c *changed) by() int32 {
	switch c.what {
	case decode.Added:
		return 1
	case decode.Deleted:
		return -1
	}
	return 0
}

// Apply counts an event.
func (s *store) Apply(event *decode.Event) error {
	version, err := strconv.ParseUint(event.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %.64q", errNoNumber, event.ResourceVersion)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	since, known, ok := s.at.goTo(version, event, now)
	if !ok {
		return fmt.Errorf("%w: %d after %d", errBackwards, version, s.at.version)
	}
	if s.comparison.missed(version, event.Type, s.totals.objects) {
		return errMissed
	}
	if known || event.Type == decode.Bookmark {
		return nil
	}
	s.totals.events++
	if event.Type == decode.Modified {
		s.totals.idle++
	}
	s.change(changed{version, event.Type, *event.Object, since, now})
	s.comparison.note(s.at.version, s.totals.objects)
	return nil
}

// resumesAt returns the state from which a watch goes on, or why there is none.
func (o *outline) resumesAt() (uint64, error) {
	switch {
	case o.at.version > 0:
		return o.at.resumesAt(), nil
	case o.listed.unsteady:
		return 0, errNoState
	}
	return 0, errNoNumber
}

// resume prepares for the events that came while no watch was open. It reports whether the
// server has another number of objects, or may have.
func (s *store) resume(behind backlog, asked census.Estimate) (differs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at.backlog = behind
	if !asked.Known {
		return time.Since(s.listedAt) > unknownQuiet
	}
	return asked.Objects != s.totals.objects
}

func (s *store) has(id namepools.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pools.counters[id] != nil
}

// forget drops the counters of name pools that have been empty for an hour, or for the
// longest window if they had MinCount names in that time.
func (s *store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	for id, c := range s.pools.counters {
		if c.pool.Names > 0 || c.seen == nil {
			continue
		}
		after := time.Hour
		if c.seen.creates >= s.policy.MinCount {
			after = Windows[len(Windows)-1]
		}
		if now.Sub(c.seen.rates.last) > after {
			delete(s.pools.counters, id)
		}
	}
}

package live

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// maxTrail bounds the numbers that are kept while the server is asked for its own.
const maxTrail = 1 << 14

// expected is the number of objects at a state.
type expected struct {
	version uint64 // 0 for none
	objects int64
}

// comparison compares the number of objects with the number that the server has at a
// state, when the watch has passed that state.
type comparison struct {
	due   expected
	trail []expected // the numbers since the server was asked for its own; nil if it is not
}

// note keeps the number of objects at the state that the counts are at now.
func (c *comparison) note(version uint64, objects int64) {
	if c.trail != nil && len(c.trail) < maxTrail {
		c.trail = append(c.trail, expected{version, objects})
	}
}

// missed reports whether events were lost: all events up to the state of the server's
// number have been counted, now that an event of a version has come and doesn't count yet,
// and come to another number.
func (c *comparison) missed(version uint64, what decode.EventType, objects int64) bool {
	passed := version > c.due.version || what == decode.Bookmark && version == c.due.version
	if c.due.version == 0 || !passed {
		return false
	}
	missed := c.due.objects != objects
	c.due = expected{}
	return missed
}

// with compares the numbers with that of the server, if the watch is past its state.
// Otherwise missed does. A state before the first one of the trail is an error.
func (c *comparison) with(server expected, version uint64) error {
	trail := c.trail
	c.trail = nil
	if len(trail) == 0 || server.version >= version {
		c.due = server
		return nil
	}
	if server.version < trail[0].version {
		return fmt.Errorf("%w: %d after %d", errBackwards, server.version, trail[0].version)
	}
	after := slices.IndexFunc(trail, func(e expected) bool { return e.version > server.version })
	if after > 0 && trail[after-1].objects != server.objects {
		return errMissed
	}
	return nil
}

// expectNumber prepares a comparison with the number that the server is about to be asked
// for.
func (s *store) expectNumber() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.comparison.trail = nil
	if s.standing.state == watched {
		s.comparison.trail = []expected{{s.at.version, s.totals.objects}}
	}
}

// compare compares the counts with the response of the server, and returns why the watch
// is not to be trusted. A watch that holds events back is to be opened again.
func (s *store) compare(asked census.Estimate) error {
	version, err := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if err != nil || version == 0 || !asked.Known {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.comparison.due
	silent := due.version > 0 && s.clock.now().Sub(s.at.heard) > quietEvery
	if silent && due.objects != s.totals.objects && asked.Objects != s.totals.objects {
		return errSilent
	}
	return s.comparison.with(expected{version, asked.Objects}, s.at.version)
}

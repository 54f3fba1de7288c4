package live

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// position is the state that the counts of a type are of.
type position struct {
	version uint64
	ended   ended
	heard   time.Time // the last time at which the counts were known to be up to date
	backlog backlog
	newest  int64 // the latest creationTimestamp, in Unix seconds
}

// ended are the objects that the counts have lost at their state. There are several if
// etcd has ended a lease, as the lease of Events: it deletes their objects at one version.
// A watch that breaks there resumes from the state before, because it may not have
// delivered all of them.
type ended struct {
	before uint64
	names  []string
}

// backlog are the events that came while no watch was open, up to the state at which the
// watch was opened. Deletes have no time, and creates have that of another clock. So they
// are taken to have come evenly since a time.
type backlog struct {
	since time.Time
	until uint64
}

// goTo goes to the state of an event. It returns the time from which on the event may have
// come. It reports whether the event was counted before, and whether its state is not an
// earlier one.
func (p *position) goTo(version uint64, event *decode.Event, now time.Time) (since time.Time, known, ok bool) {
	ends := version == p.version && event.Type == decode.Deleted && len(p.ended.names) > 0
	isBookmark := version == p.version && event.Type == decode.Bookmark
	if version <= p.version && !ends && !isBookmark {
		return now, false, false
	}
	p.heard = now
	if version > p.version {
		p.ended, p.version = ended{p.version, p.ended.names[:0]}, version
	}
	since = now
	if version <= p.backlog.until {
		since = p.backlog.since
	}
	if event.Type != decode.Deleted {
		return since, isBookmark, true
	}
	name := event.Object.Namespace + "/" + event.Object.Name
	if known = slices.Contains(p.ended.names, name); !known {
		p.ended.names = append(p.ended.names, name)
	}
	return since, known, true
}

// resumesAt returns the state from which a watch goes on.
func (p *position) resumesAt() uint64 {
	if len(p.ended.names) > 0 {
		return p.ended.before
	}
	return p.version
}

// caughtUp returns the last time at which all events had been counted.
func (p *position) caughtUp() time.Time {
	if p.version < p.backlog.until {
		return p.backlog.since
	}
	return p.heard
}

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
	s.do(func() {
		s.comparison.trail = nil
		if s.standing.state == watched {
			s.comparison.trail = []expected{{s.at.version, s.totals.objects}}
		}
	})
}

// compare compares the counts with the response of the server, and returns why the watch
// is not to be trusted. A watch that holds events back is to be opened again.
func (s *store) compare(asked census.Estimate) (err error) {
	version, bad := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if bad != nil || version == 0 || !asked.Known {
		return nil
	}
	s.do(func() {
		due := s.comparison.due
		silent := due.version > 0 && s.clock.now().Sub(s.at.heard) > quietEvery
		if silent && due.objects != s.totals.objects && asked.Objects != s.totals.objects {
			err = errSilent
			return
		}
		err = s.comparison.with(expected{version, asked.Objects}, s.at.version)
	})
	return err
}

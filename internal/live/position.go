package live

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// position is the state of the cluster at which the counts of a type are right.
type position struct {
	version uint64
	ended   ended
	heard   time.Time // last time at which the counts were up to date
	backlog backlog
	newest  int64 // latest creationTimestamp of an object, in Unix seconds
}

// ended are the objects that were deleted at the current state. There can be several, because etcd deletes
// all objects of a lease at one version, for example Events. If a watch breaks at such a state, the next
// watch starts at the state before, because some of these deletes might be missing.
type ended struct {
	before uint64
	names  []string
}

// backlog describes the events of the time without a watch, up to the state at which the next watch was
// opened. The time of these events isn't known, because deletes have no time, and the times of creates are
// from another clock. So the engine spreads these events evenly over the time from since on.
type backlog struct {
	since time.Time
	until uint64
}

// goTo moves the position to the state of an event. since is the earliest time at which the event can have
// happened. known reports whether the event was counted before. ok is false if the state is earlier than the
// position.
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

// maxTrail limits the length of a trail.
const maxTrail = 1 << 14

// expected is a number of objects at a state.
type expected struct {
	version uint64 // 0 means none
	objects int64
}

// comparison compares the counted number of objects with the server's number at the same state. comparison has to
// wait until the watch has passed that state.
type comparison struct {
	due   expected
	trail []expected // counted numbers since the request for the server's number; nil without a request
}

// note records the counted number of objects at the current state.
func (c *comparison) note(version uint64, objects int64) {
	if c.trail != nil && len(c.trail) < maxTrail {
		c.trail = append(c.trail, expected{version, objects})
	}
}

// missed reports whether events were lost. missed is called with the version of a new event before that event counts.
// The server reported a number of objects at a resourceVersion. When all events up to that version have been counted,
// our count must equal the number.
func (c *comparison) missed(version uint64, what decode.EventType, objects int64) bool {
	passed := version > c.due.version || what == decode.Bookmark && version == c.due.version
	if c.due.version == 0 || !passed {
		return false
	}
	missed := c.due.objects != objects
	c.due = expected{}
	return missed
}

// with compares the counts with the server's number if the watch has passed the state of that number. Otherwise
// missed compares them later. with returns an error if the state is before the trail begins. If there is no
// trail, the type was listed after the request, and the earlier number says nothing about the list.
func (c *comparison) with(server expected, version uint64) error {
	trail := c.trail
	c.trail = nil
	switch {
	case server.version >= version:
		c.due = server
		return nil
	case len(trail) == 0:
		return nil
	case server.version < trail[0].version:
		return fmt.Errorf("%w: %d after %d", errBackwards, server.version, trail[0].version)
	}
	after := slices.IndexFunc(trail, func(e expected) bool { return e.version > server.version })
	if after > 0 && trail[after-1].objects != server.objects {
		return errNumber
	}
	return nil
}

// expectNumber prepares a comparison. expectNumber is called before the request for the server's number.
func (c *counts) expectNumber() {
	c.comparison.trail = nil
	if c.health.state == watched {
		c.comparison.trail = []expected{{c.at.version, c.totals.objects}}
	}
}

// compare compares the counts with the server's number. compare returns the reason if the watch must end. If the
// watch seems to hold back events, it must be opened again.
func (c *counts) compare(asked census.Size) error {
	version, _ := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if version == 0 || !asked.Known {
		return nil
	}
	due := c.comparison.due
	silent := due.version > 0 && c.clock.now().Sub(c.at.heard) > quietEvery
	if silent && due.objects != c.totals.objects && asked.Objects != c.totals.objects {
		return errSilent
	}
	return c.comparison.with(expected{version, asked.Objects}, c.at.version)
}

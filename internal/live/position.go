package live

import (
	"slices"
	"time"

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

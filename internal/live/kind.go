package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// kind is one type: what is counted of it, and how far.
type kind struct {
	resource census.Resource
	state    state
	cancel   context.CancelFunc // ends what follows it; nil if nothing does

	version uint64 // the state that the counts are of
	ended   ended
	heard   time.Time // when they were last known to be those of now
	backlog backlog
	check   expected
	trail   []expected // the numbers since the server was asked for its own; nil if it is not
	// interrupt ends the watch with a cause; nil if none is open.
	interrupt context.CancelCauseFunc
	counters  map[spaces.ID]*counter
	sketch    *sketch
	objects   int64
	newest    int64 // the latest creationTimestamp seen, in Unix seconds
	lookups   lookups
	young     young

	listed     time.Time        // when it was last
	rests      time.Time        // not to be listed for its number before then
	atList     int64            // how many objects it had then
	unprefixed int64            // then
	uncounted  int64            // then: those that say a prefix which was not counted
	hidden     small            // then
	skipped    []census.Skipped // what of it is not read: all, or namespaces
	unsteady   bool             // what was listed is not all of one state

	behind time.Time // since when it is not followed, or zero
	cause  error     // and why
	// unverified is why the counts could not be compared with the server at the end.
	unverified *census.Skipped

	gaps                  int
	events, idle, traffic int64 // idle are those that changed no count; traffic is in bytes
	tally                 typeTally
}

// ended are the objects that the counts have lost at their state: several, if etcd has
// ended a lease, as those of Events, whose objects it deletes at one version. A watch that
// breaks there goes on from the state before: not all of them may have been told.
type ended struct {
	before uint64
	names  []string
}

// backlog is what came while a watch was not open: the events up to a state, that of when
// it was opened. Deletes have no time, and creates that of another clock, so they are
// taken to have come evenly since a time.
type backlog struct {
	since time.Time
	until uint64
}

// state is how a type is kept.
type state int

const (
	uncounted state = iota // never listed, or skipped
	quiet                  // has no prefix, and is asked for its number
	watched
	unwatched // is counted again and again
	gone      // was not there any more, and is asked whether it is
)

// small is what is hidden of a list: prefixes with fewer names than MinCount.
type small struct{ prefixes, names int64 }

var (
	errBackwards = errors.New("the server tells of an earlier state than before")
	errMute      = errors.New("its watches tell nothing, and the number of its objects is another")
	errMissed    = errors.New("its watch did not deliver every event: the server has another number of objects")
	errNoNumber  = errors.New("its resourceVersions are no numbers")
	errNoState   = errors.New("its lists are not of one state")
)

// whenCreator says when it is to be read who made an object: where that matters, now.
// It does in a space that is being looked up, too, whose events count after its list.
func (k *kind) whenCreator(e *Engine, o *decode.Object) decode.When {
	in, _ := spaces.Of(o)
	e.mu.Lock()
	defer e.mu.Unlock()
	_, flying := k.lookups.flying[in]
	if k.counters[in] == nil && !flying && !spaces.MayBeLong(o) && !k.begins(e, in) {
		return decode.Never
	}
	return decode.Now
}

// apply makes an event count.
func (k *kind) apply(e *Engine, event *decode.Event) error {
	version, err := strconv.ParseUint(event.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %.64q", errNoNumber, event.ResourceVersion)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	known, ok := k.goTo(version, event)
	if !ok {
		return fmt.Errorf("%w: %d after %d", errBackwards, version, k.version)
	}
	now := e.clock.now()
	k.heard = now
	k.traffic += event.Bytes
	if k.check.passedBy(version, event.Type) {
		missed := k.check.objects != k.objects
		if k.check = (expected{}); missed {
			return errMissed
		}
	}
	if known || event.Type == decode.Bookmark {
		return nil
	}
	k.events++
	if event.Type == decode.Modified {
		k.idle++
	}
	since := now
	if version <= k.backlog.until {
		since = k.backlog.since
	}
	k.change(e, changed{version, event.Type, *event.Object, since, now})
	k.leaveTrail()
	return nil
}

// goTo goes to the state of an event, and reports whether that has counted, and whether
// the state is none before.
func (k *kind) goTo(version uint64, event *decode.Event) (known, ok bool) {
	ends := version == k.version && event.Type == decode.Deleted && len(k.ended.names) > 0
	switch {
	case version == k.version && event.Type == decode.Bookmark:
		return true, true
	case version <= k.version && !ends:
		return false, false
	case !ends:
		k.ended, k.version = ended{k.version, k.ended.names[:0]}, version
	}
	if event.Type != decode.Deleted {
		return false, true
	}
	name := event.Object.Namespace + "/" + event.Object.Name
	if slices.Contains(k.ended.names, name) {
		return true, true
	}
	k.ended.names = append(k.ended.names, name)
	return false, true
}

// watchedFrom returns the state from which a watch goes on, or 0.
func (e *Engine) watchedFrom(k *kind) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(k.ended.names) > 0 {
		return k.ended.before
	}
	return k.version
}

// changed is an event of an object, which happened from one time to another.
type changed struct {
	version   uint64
	what      decode.EventType
	object    decode.Object
	since, at time.Time
}

// change makes it count in each space that it is of.
func (k *kind) change(e *Engine, c changed) {
	o := &c.object
	in, said := spaces.Of(o)
	switch c.what {
	case decode.Added:
		k.objects++
		k.newest = max(k.newest, o.Created)
	case decode.Deleted:
		k.objects--
	}
	if k.isName(o, in, said) {
		k.tally.change(c.what)
	}
	if in.Prefix != "" && k.takes(e, in) {
		if c.what == decode.Added && said == in && k.begins(e, in) {
			k.begin(e, in, c)
		}
		k.changeIn(e, in, c)
		if said != in && c.what != decode.Deleted && k.mayFill(e, in) {
			k.lookups.ask(in, false, k.sketch.estimate(in))
		}
	}
	if long, ok := spaces.Long(o); ok && k.takes(e, long) {
		if c.what == decode.Added && k.begins(e, long) {
			k.begin(e, long, c)
		}
		k.changeIn(e, long, c)
		if c.what == decode.Added && k.mayFill(e, long) {
			k.lookups.ask(long, true, k.sketch.estimate(long))
		}
	}
	if said.Prefix == "" || !k.takes(e, said) {
		return
	}
	counter := k.counters[said]
	switch {
	case c.what != decode.Deleted && k.mayFill(e, said):
		k.lookups.ask(said, true, k.sketch.estimate(said))
	case c.what == decode.Deleted && said != in && counter != nil && counter.space.Generated <= 0:
		k.lookups.ask(said, true, 0) // nobody else may say it
	}
}

// takes reports whether a space is of interest.
func (k *kind) takes(e *Engine, id spaces.ID) bool {
	return e.Takes == nil || e.Takes(k.resource.GroupResource(), id.Prefix)
}

// mayFill reports whether a space that is not counted exactly may have enough names
// for it.
func (k *kind) mayFill(e *Engine, id spaces.ID) bool {
	return k.counters[id] == nil && k.sketch.estimate(id) >= e.MinCount
}

// changeIn makes an event count in one space whose name the object has.
func (k *kind) changeIn(e *Engine, id spaces.ID, c changed) {
	switch c.what {
	case decode.Added:
		k.sketch.add(id, 1)
	case decode.Deleted:
		k.sketch.add(id, -1)
	default:
		return
	}
	k.lookups.note(id, c)
	if counter := k.counters[id]; counter != nil && c.version > counter.version {
		k.count(e, id, counter, c)
	}
}

// count makes it count in a counter.
func (k *kind) count(e *Engine, id spaces.ID, counter *counter, c changed) {
	switch c.what {
	case decode.Added:
		counter.created(id, c, e.chance(counter.spaceOf(k.resource, id)))
	case decode.Deleted:
		if unsaid := counter.deleted(id, c); unsaid {
			k.lookups.ask(id, true, 0)
		}
	}
}

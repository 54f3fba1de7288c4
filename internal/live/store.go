package live

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// MaxPrefixes limits the prefixes of a resource type. Names under further prefixes count together. Tests lower it.
var MaxPrefixes = 100_000

// Policy chooses the name pools that are reported.
type Policy struct {
	// MinCount is the smallest number of client-generated names that makes a prefix. A type without prefixes is
	// listed again if its number of objects changes by MinCount.
	MinCount int64
	// Takes reports whether a prefix is to be reported. If Takes is nil, all prefixes are reported.
	Takes func(resource schema.GroupResource, prefix string) bool
}

// store has the counts of one resource type, and its state. Several goroutines use a store, so each of them accesses
// the fields below mu only in do.
type store struct {
	resource census.Resource
	policy   *Policy
	rules    *pools.Rules
	clock    *clock

	mu sync.Mutex // guards the fields below
	outline
	comparison comparison
	witnesses  witnesses
	set        *pools.Set
	// members are the counted objects in name pools, by a hash of their UID. A million objects have two equal
	// hashes with a probability of 1 in 37 million.
	members map[uint64]pools.Member
	// pools have the creates and deletes of name pools, by the number of the pool. A pool without events has no
	// entry.
	pools map[uint32]*activity
	// began is the time from which creates and deletes count. gapsBefore is the number of gaps before that.
	began      time.Time
	gapsBefore int
	sweep      *sweep // list that is being read, or nil
	crowded    bool   // the engine has reported that there are too many prefixes
}

// outline has the facts about the whole type.
type outline struct {
	standing standing
	at       position
	totals   totals
	listed   listing // the last list
	listedAt time.Time
}

// totals are counted apart from the members, so that two equal hashes don't change them.
type totals struct {
	objects int64
	creates int64 // creates under prefixes
	gaps    int
	// idle is the number of events that changed no count.
	events, idle int64
}

// activity has the creates and deletes of a name pool.
type activity struct {
	since            time.Time
	creates, deletes int64
	gaps             int // number of gaps of the type before since
	rates            rates
}

var (
	errBackwards = errors.New("the server is at an earlier state than before")
	errMute      = errors.New("its watches deliver no events, but the server has another number of objects")
	errMissed    = errors.New("its watch did not deliver every event")
	errNumber    = fmt.Errorf("%w: the server has another number of objects", errMissed)
	errUnknown   = fmt.Errorf("%w: an object was deleted that was not counted", errMissed)
	errRewritten = fmt.Errorf("%w: an object is missing that was not deleted", errMissed)
	errNoNumber  = errors.New("its resourceVersions are no numbers")
	errNoState   = errors.New("its lists are not of one state")
	errStale     = errors.New("objects were deleted while the list was read several times")
)

// newStore returns a store of a type that has not been listed.
func newStore(r census.Resource, policy *Policy, rules *pools.Rules, clock *clock) *store {
	s := &store{resource: r, policy: policy, rules: rules, clock: clock}
	s.reset()
	return s
}

// do runs f while no other goroutine is in do. f must not call do.
func (s *store) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// look returns a copy of the outline.
func (s *store) look() (now outline) {
	s.do(func() { now = s.outline })
	return now
}

// update changes the standing of the type.
func (s *store) update(change func(*standing)) { s.do(func() { change(&s.standing) }) }

// reset drops all counted objects.
func (s *store) reset() {
	s.set = pools.New(s.resource.GroupVersionResource, s.rules)
	s.members, s.pools = map[uint64]pools.Member{}, map[uint32]*activity{}
}

// changed is an event of an object that happened between two times.
type changed struct {
	what      decode.EventType
	object    *object.Object
	since, at time.Time
}

// Apply counts an event.
func (s *store) Apply(event *decode.Event) (err error) {
	version, err := strconv.ParseUint(event.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %.64q", errNoNumber, event.ResourceVersion)
	}
	s.do(func() { err = s.apply(version, event) })
	return err
}

func (s *store) apply(version uint64, event *decode.Event) error {
	now := s.clock.now()
	since, known, ok := s.at.goTo(version, event, now)
	if !ok {
		return fmt.Errorf("%w: %d after %d", errBackwards, version, s.at.version)
	}
	if s.comparison.missed(version, event.Type, s.totals.objects) {
		return errNumber
	}
	if known || event.Type == decode.Bookmark {
		return nil
	}
	if event.Type == decode.Deleted && s.lacks(event.Object) {
		return fmt.Errorf("%w: %.256q", errUnknown, event.Object.Name)
	}
	s.totals.events++
	s.change(changed{event.Type, event.Object, since, now})
	if key := keyOf(event.Object); event.Type == decode.Added && s.counts(key) {
		s.witnesses.add(witness{key, event.Object.Namespace, event.Object.Name, now})
	}
	s.comparison.note(s.at.version, s.totals.objects)
	return nil
}

// change counts an event. If an update moves an object into another name pool, change counts neither a create nor a
// delete.
func (s *store) change(c changed) {
	s.at.newest = max(s.at.newest, c.object.Created)
	switch c.what {
	case decode.Added:
		s.totals.objects++
	case decode.Deleted:
		s.totals.objects--
	default:
		s.totals.idle++
	}
	if !s.concerns(c.object) {
		return
	}
	key := keyOf(c.object)
	m, known := s.members[key]
	switch {
	case c.what == decode.Deleted:
		delete(s.members, key)
		s.witnesses.forget(key)
		s.deleted(m, c)
	case c.what == decode.Added && !known:
		s.created(key, c)
	default:
		s.keep(key, s.set.Update(m, c.object))
	}
}

// lacks reports whether an object should be a member, because its name pool has members, and is none. So an earlier
// event was lost, or the object has no UID although it had one.
func (s *store) lacks(o *object.Object) bool {
	if !s.concerns(o) {
		return false
	}
	prefix, _ := object.PoolOf(o)
	number, known := s.set.Number(o.Namespace, prefix)
	return prefix != "" && known && s.set.Names(number) > 0 && !s.counts(keyOf(o))
}

// counts reports whether an object is a member.
func (s *store) counts(key uint64) bool {
	_, is := s.members[key]
	return is
}

// concerns reports whether an object is to be counted by its name. This is so if Policy takes the prefix of the
// object, or if the object might get a prefix later.
func (s *store) concerns(o *object.Object) bool {
	if s.policy.Takes == nil {
		return true
	}
	prefix, _ := object.PoolOf(o)
	return prefix == "" || s.policy.Takes(s.resource.GroupResource(), prefix)
}

// keep keeps an object as a member if it is in a name pool. keep reports whether it is.
func (s *store) keep(key uint64, m pools.Member) (is bool) {
	if _, is = m.In(); is {
		s.members[key] = m
	} else {
		delete(s.members, key)
	}
	return is
}

// created counts a new object.
func (s *store) created(key uint64, c changed) {
	prefix, isGenerated := object.PoolOf(c.object)
	counted := s.set.Counts(c.object.Namespace, prefix)
	m := s.set.Add(c.object)
	if !s.keep(key, m) {
		return
	}
	number, _ := m.In()
	isNew := s.set.Names(number) == 1 && s.pools[number] == nil
	a := s.activityOf(number, c.at)
	if isNew { // the rates begin after the first create
		a.since, a.gaps = c.since, s.totals.gaps
		a.creates++
	} else {
		a.happened(c.since, c.at, 1, 0)
	}
	if counted || isGenerated || s.set.Counts(c.object.Namespace, prefix) {
		s.totals.creates++
	}
}

// deleted counts a deleted object.
func (s *store) deleted(m pools.Member, c changed) {
	s.set.Remove(m, c.object)
	number, ok := m.In()
	if !ok {
		return
	}
	s.activityOf(number, c.at).happened(c.since, c.at, 0, 1)
}

func (s *store) activityOf(number uint32, now time.Time) *activity {
	a := s.pools[number]
	if a == nil {
		a = &activity{since: s.began, gaps: s.gapsBefore, rates: rates{last: now}}
		s.pools[number] = a
	}
	return a
}

// happened counts creates and deletes that are spread evenly between two times. since can be before the time from
// which the name pool counts.
func (a *activity) happened(since, at time.Time, creates, deletes int64) {
	a.creates += creates
	a.deletes += deletes
	if since.Before(a.since) {
		since = a.since
	}
	a.rates.add(since, at, float64(creates), float64(deletes))
}

// forget drops the name pools that have had no object and no event for an hour.
func (s *store) forget() {
	s.do(func() {
		now := s.clock.now()
		s.set.Forget(func(number uint32) bool {
			if a := s.pools[number]; a != nil && now.Sub(a.rates.last) <= time.Hour {
				return false
			}
			delete(s.pools, number)
			return true
		})
	})
}

// resumesAt returns the state from which the next watch starts, or the reason why there is none.
func (o *outline) resumesAt() (uint64, error) {
	switch {
	case o.at.version > 0:
		return o.at.resumesAt(), nil
	case o.listed.unsteady:
		return 0, errNoState
	}
	return 0, errNoNumber
}

// resume prepares for the events of the time without a watch. resume reports whether the server's number of objects
// differs, or might differ.
func (s *store) resume(behind backlog, asked census.Estimate) (differs bool) {
	s.do(func() {
		s.at.backlog = behind
		differs = asked.Objects != s.totals.objects
		if !asked.Known {
			differs = time.Since(s.listedAt) > unknownQuiet
		}
	})
	return differs
}

var hashSeed = maphash.MakeSeed()

// keyOf returns a hash of the UID of an object.
func keyOf(o *object.Object) uint64 {
	if o.UID == "" {
		return maphash.Comparable(hashSeed, [2]string{o.Namespace, o.Name})
	}
	return maphash.String(hashSeed, o.UID)
}

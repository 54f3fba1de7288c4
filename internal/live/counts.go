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

// MaxPrefixes limits the prefixes of a resource type. Names under further prefixes are counted together. Tests lower
// the limit.
var MaxPrefixes = 100_000

// Policy chooses the types that are watched, and the name pools that are reported.
type Policy struct {
	// WatchAll means that types without prefixes are watched, too. Otherwise, only their numbers of objects are
	// requested, which takes fewer watches.
	WatchAll bool
	// MinCount is the number of client-generated names from which on the engine reports their prefix. A type
	// without prefixes that is not watched is listed again if its number of objects changes by MinCount.
	MinCount int64
	// Gated means that a gate checks each prefix. Then a type with too many prefixes without a generateName is skipped.
	Gated bool
	// Takes reports whether a prefix is to be reported. If Takes is nil, all prefixes are reported.
	Takes func(resource schema.GroupResource, prefix string) bool
}

// counts are the counts of one resource type, and its state. Only a store calls their methods, one at a time.
type counts struct {
	resource census.Resource
	policy   *Policy
	rules    *pools.Rules
	clock    *clock

	outline
	comparison comparison
	set        *pools.Set
	// members are the counted objects in name pools, by a hash of their UID. A million objects have two equal
	// hashes with a probability of 1 in 37 million.
	members map[uint64]pools.Member
	// pools have the creates and deletes of name pools, by the number of the pool. A pool without events has no
	// entry.
	pools  map[uint32]*activity
	others others
	// The engine counts creates and deletes from the time began on. gapsBefore is the number of gaps before began.
	began      time.Time
	gapsBefore int
	sweep      *sweep // list that is being read, or nil
	crowded    bool   // the engine has reported that there are too many prefixes
}

// outline has the facts about the whole type.
type outline struct {
	health   health
	at       position
	totals   totals
	listed   listing // the last list
	listedAt time.Time
}

// totals are counted separately from the members, so that two equal hashes don't change the totals.
type totals struct {
	objects int64
	creates int64 // number of creates under prefixes
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
	peak             int64 // largest number of names since the first event
	inOthers         bool  // others also has these events, because the name pool isn't counted yet
}

var (
	errBackwards = errors.New("the server is at an earlier state than before")
	errMute      = errors.New("its watches deliver no events, but the server has another number of objects")
	errMissed    = errors.New("its watch did not deliver every event")
	errNumber    = fmt.Errorf("%w: the server has another number of objects", errMissed)
	errUnknown   = fmt.Errorf("%w: an object was deleted that was not counted", errMissed)
	errNoNumber  = errors.New("its resourceVersions are no numbers")
	errNoState   = errors.New("its lists are not of one state")
	errStale     = errors.New("objects were deleted while the list was read several times")
)

func newCounts(r census.Resource, policy *Policy, rules *pools.Rules, clock *clock) *counts {
	c := &counts{resource: r, policy: policy, rules: rules, clock: clock}
	c.reset()
	return c
}

// successor returns new counts for a type that the server no longer has. The server can serve the type
// again later, perhaps in another version.
func (c *counts) successor(of census.Resource) *counts {
	next := newCounts(of, c.policy, c.rules, c.clock)
	next.totals = c.totals
	next.totals.objects = 0
	next.health = health{state: gone, skipped: c.health.skipped, restarts: c.health.restarts}
	return next
}

// reset drops all counted objects.
func (c *counts) reset() {
	c.set = pools.New(c.resource.GroupVersionResource, c.rules)
	c.members, c.pools = map[uint64]pools.Member{}, map[uint32]*activity{}
}

// changed is an event of an object that happened between two times.
type changed struct {
	what      decode.EventType
	object    *object.Object
	since, at time.Time
}

// apply counts an event.
func (c *counts) apply(event *decode.Event) error {
	version, err := strconv.ParseUint(event.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %.64q", errNoNumber, event.ResourceVersion)
	}
	now := c.clock.now()
	since, known, ok := c.at.goTo(version, event, now)
	switch {
	case !ok:
		return fmt.Errorf("%w: %d after %d", errBackwards, version, c.at.version)
	case c.comparison.missed(version, event.Type, c.totals.objects):
		return errNumber
	case known, event.Type == decode.Bookmark:
		return nil
	case event.Type == decode.Deleted && c.lacks(event.Object):
		return fmt.Errorf("%w: %.256q", errUnknown, event.Object.Name)
	}
	c.totals.events++
	c.change(changed{event.Type, event.Object, since, now})
	c.comparison.note(c.at.version, c.totals.objects)
	return nil
}

// change counts an event. If an update moves an object into another name pool, change counts neither a create nor a
// delete.
func (c *counts) change(by changed) {
	c.at.newest = max(c.at.newest, by.object.Created)
	switch by.what {
	case decode.Added:
		c.totals.objects++
	case decode.Deleted:
		c.totals.objects--
	default:
		c.totals.idle++
	}
	if !c.concerns(by.object) {
		c.others.event(by)
		return
	}
	key := keyOf(by.object)
	m, known := c.members[key]
	switch {
	case by.what == decode.Deleted:
		delete(c.members, key)
		c.deleted(m, by)
	case by.what == decode.Added && !known:
		c.created(key, by)
	default:
		c.keep(key, c.set.Update(m, by.object))
	}
}

// lacks reports whether an object is no member although its name pool has members. Then an earlier event
// was lost, or the server sent the object without its UID.
func (c *counts) lacks(o *object.Object) bool {
	if !c.concerns(o) {
		return false
	}
	prefix, naming := object.PoolOf(o)
	number, known := c.set.Number(o.Namespace, prefix, naming)
	return naming != object.Fixed && known && c.set.Names(number) > 0 && !c.has(keyOf(o))
}

// has reports whether an object is a member.
func (c *counts) has(key uint64) bool {
	_, is := c.members[key]
	return is
}

// concerns reports whether an object is counted by its name. It is if Policy takes the prefix of the
// object, or if the object might get a prefix later.
func (c *counts) concerns(o *object.Object) bool {
	if c.policy.Takes == nil {
		return true
	}
	prefix, naming := object.PoolOf(o)
	return naming == object.Fixed || c.policy.Takes(c.resource.GroupResource(), prefix)
}

// keep keeps an object as a member if the object is in a name pool, and removes it otherwise. keep reports whether it
// is a member now.
func (c *counts) keep(key uint64, m pools.Member) (is bool) {
	if _, is = m.In(); is {
		c.members[key] = m
	} else {
		delete(c.members, key)
	}
	return is
}

// created counts a new object.
func (c *counts) created(key uint64, by changed) {
	prefix, naming := object.PoolOf(by.object)
	counted := c.set.Counts(by.object.Namespace, prefix, naming)
	m := c.set.Add(by.object)
	counts := c.set.Counts(by.object.Namespace, prefix, naming)
	if !counts {
		c.others.event(by)
	}
	if !c.keep(key, m) {
		return
	}
	number, _ := m.In()
	isNew := c.set.Names(number) == 1 && c.pools[number] == nil
	a := c.activityOf(number, by.at)
	if counts && a.inOthers {
		c.others.lose(a)
	}
	a.inOthers = !counts
	if isNew { // the rates begin after the first create
		a.since, a.gaps = by.since, c.totals.gaps
		a.creates++
	} else {
		a.happened(by.since, by.at, 1, 0)
	}
	a.peak = max(a.peak, c.set.Names(number))
	if counted || counts || naming == object.FromGenerateName {
		c.totals.creates++
	}
}

// deleted counts a deleted object.
func (c *counts) deleted(m pools.Member, by changed) {
	prefix, naming := object.PoolOf(by.object)
	counts := c.set.Counts(by.object.Namespace, prefix, naming)
	if !counts {
		c.others.event(by)
	}
	if number, ok := m.In(); ok {
		a := c.activityOf(number, by.at)
		a.happened(by.since, by.at, 0, 1)
		a.inOthers = a.inOthers || !counts
	}
	c.set.Remove(m, by.object)
}

func (c *counts) activityOf(number uint32, now time.Time) *activity {
	a := c.pools[number]
	if a == nil {
		a = &activity{since: c.began, gaps: c.gapsBefore, rates: rates{last: now}, peak: c.set.Names(number)}
		c.pools[number] = a
	}
	return a
}

// happened counts creates and deletes, spread evenly between two times. since can be before the activity
// begins.
func (a *activity) happened(since, at time.Time, creates, deletes int64) {
	a.creates += creates
	a.deletes += deletes
	if since.Before(a.since) {
		since = a.since
	}
	a.rates.add(since, at, float64(creates), float64(deletes))
}

// becameCrowded reports once that the type has too many prefixes.
func (c *counts) becameCrowded() bool {
	before := c.crowded
	c.crowded = c.set.Overflowed()
	return c.crowded && !before
}

// crowdsGate reports whether a gate can't check each prefix.
func (c *counts) crowdsGate() bool { return c.policy.Gated && c.set.Refused() }

// forget drops the name pools that have had no object and no event for an hour.
func (c *counts) forget() {
	now := c.clock.now()
	c.set.Forget(func(number uint32) bool {
		if a := c.pools[number]; a != nil && now.Sub(a.rates.last) <= time.Hour {
			return false
		}
		delete(c.pools, number)
		return true
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

// resume prepares the counts for events from the time without a watch. resume reports whether the server's
// number of objects differs, or might differ.
func (c *counts) resume(behind backlog, asked census.Size) (differs bool) {
	c.at.backlog = behind
	differs = asked.Objects != c.totals.objects
	if !asked.Known {
		differs = time.Since(c.listedAt) > unknownQuiet
	}
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

// store guards the counts of one resource type, which several goroutines use. The engine and its reflectors have only
// stores. Methods of counts never lock.
type store struct {
	mu     sync.Mutex
	counts *counts
}

// do calls f with the counts while no other goroutine can use the counts. f must not call a method of the store.
func (s *store) do(f func(*counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.counts)
}

// get calls f as do does, and returns its result.
func get[T any](s *store, f func(*counts) T) (result T) {
	s.do(func(c *counts) { result = f(c) })
	return result
}

func (s *store) look() outline { return get(s, func(c *counts) outline { return c.outline }) }

func (s *store) update(change func(*health)) { s.do(func(c *counts) { change(&c.health) }) }

// replace replaces the counts of the type by a list.
func (s *store) replace(list *listing, kept state) { s.do(func(c *counts) { c.replace(list, kept) }) }

// A snapshot reads inPart name pools of a type at a time. Events of the type wait while it reads them. The
// events don't wait while the caller uses the name pools.
const inPart = 1 << 10

// eachRow calls each for every name pool of the type, except the pools above the limit of prefixes.
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

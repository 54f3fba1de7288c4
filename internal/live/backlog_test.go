package live

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// Events from before a watch was opened aren't a burst when they arrive. This is true of
// name pools that were counted before, and of new ones.
func TestBacklog(t *testing.T) {
	const absence, perSecond = 20 * time.Minute, 2
	k := newTestStore()
	now := k.clock.now()
	random := rand.New(rand.NewPCG(1, 1))
	counted := now.Add(-absence)
	old := namepools.ID{Namespace: "prod", Prefix: "old-", SuffixLength: suffixLength}
	k.standing.state, k.at = watched, position{version: 7, backlog: backlog{now.Add(-absence), 1 << 20}}
	k.pools.counters[old] = &counter{since: &counted, pool: newCounter(census.NamePool{Names: 6}).pool}
	arrive := func(what decode.EventType, prefix string) {
		o := &decode.Object{Namespace: "prod", Name: generated(prefix, random), GenerateName: prefix}
		event := &decode.Event{Type: what, ResourceVersion: strconv.FormatUint(k.at.version+1, 10), Object: o}
		if err := k.Apply(event); err != nil {
			t.Fatal(err)
		}
	}
	for range int(perSecond * absence.Seconds()) {
		arrive(decode.Added, "old-")
		arrive(decode.Deleted, "old-")
		arrive(decode.Added, "new-")
	}
	for id, c := range k.pools.counters {
		rates := k.row(id, c, k.clock.now()).Rates
		for i := range 2 { // the longer ones are of a time without any, too
			if creates := rates[i].CreatesPerDay / 86_400; creates < 0.9*perSecond || creates > 1.1*perSecond {
				t.Errorf("%s: %.2f creates a second in %v", id.Prefix, creates, Windows[i])
			}
		}
		if deletes := rates[0].DeletesPerDay / 86_400; id == old && (deletes < 0.9*perSecond || deletes > 1.1*perSecond) {
			t.Errorf("%.2f deletes a second", deletes)
		}
	}
	k.at.version = k.at.backlog.until
	arrive(decode.Added, "live-")
	arrive(decode.Added, "live-")
	live := namepools.ID{Namespace: "prod", Prefix: "live-", SuffixLength: suffixLength}
	if since := *k.pools.counters[live].since; since.Before(now) {
		t.Errorf("what comes after the backlog came since %v", since)
	}
}

// How much is behind a watch is asked before it is opened again, and for the first time
// after a long list.
func TestBacklogIsAsked(t *testing.T) {
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	e := prepare(server, pods)
	r := e.reflectorOf(t, pods)
	now := e.Now()
	before := now.Add(-time.Minute)
	asked := func(since time.Time) backlog { return backlog{since, uint64(server.version)} }
	for name, test := range map[string]struct {
		heard  time.Time
		before backlog
		t      backoff
		want   backlog
	}{
		"again":                     {now, backlog{before, 3}, backoff{before: true}, asked(now)},
		"again, with some left":     {now, backlog{before, 9}, backoff{before: true}, asked(before)},
		"first, after a long list":  {now.Add(-longList), backlog{}, backoff{}, asked(now.Add(-longList))},
		"first, after a short list": {now, backlog{}, backoff{}, backlog{}},
	} {
		r.store.at = position{version: 3, heard: test.heard, backlog: test.before}
		if err := r.compare(t.Context(), 1, &test.t); err != nil || r.store.at.backlog != test.want {
			t.Errorf("%s: %v, %+v, want %+v", name, err, r.store.at.backlog, test.want)
		}
	}
}

// A name pool is counted since the state of its list, however long that took.
func TestSinceItsList(t *testing.T) {
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	var asked atomic.Pointer[time.Time]
	server.refuses = func(_ string, watch bool) int {
		if now := time.Now(); !watch && asked.CompareAndSwap(nil, &now) {
			time.Sleep(50 * time.Millisecond)
		}
		return 0
	}
	began := time.Now().Round(0)
	if since := start(t, server, pods).Snapshot().Rows[0].Since; since.Before(began) || since.After(*asked.Load()) {
		t.Errorf("since %v, and it was asked for at %v", since, asked.Load())
	}
}

// A look-up can show a later state than the watch has reached. Events up to that state
// don't count again, neither as names nor as objects with this generateName.
func TestListAhead(t *testing.T) {
	id := namepools.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
	k := newTestStore()
	list := func(version uint64, names, generated int64) *listing {
		c := newCounter(census.NamePool{
			Resource: pods, Namespace: id.Namespace, Prefix: id.Prefix, SuffixLength: suffixLength, Names: names, Generated: generated,
		})
		return &listing{began: k.clock.now(), version: version, counters: map[namepools.ID]*counter{id: c}}
	}
	k.Replace(list(5, 6, 1), watched)
	event := func(version uint64, what decode.EventType, suffix string) {
		now := k.clock.now()
		o := decode.Object{Namespace: "prod", Name: "run-" + suffix, GenerateName: "run-"}
		k.change(changed{version, what, o, now, now})
	}
	f := fly(k, id)
	event(6, decode.Added, "bbbbb")
	k.conclude(f, everything, list(8, 9, 4))
	event(7, decode.Added, "ccccc")
	event(8, decode.Added, "ddddd")
	if s := k.pools.counters[id].pool; s.Names != 9 || s.Generated != 4 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
	event(9, decode.Added, "fffff")
	event(10, decode.Deleted, "bbbbb")
	event(11, decode.Deleted, "ccccc")
	if s := k.pools.counters[id].pool; s.Names != 8 || s.Generated != 3 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
	// An etcd that was restored counts on from an earlier state.
	k.ReplaceAfterGap(list(3, 2, 2), 0, nil)
	event(4, decode.Added, "ggggg")
	if s := k.pools.counters[id].pool; s.Names != 3 || s.Generated != 3 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
}

// fly begins an inspection of a name pool.
func fly(s *store, id namepools.ID) *flight {
	s.standing.state = watched
	s.inspection.ask(id, true, 0)
	return s.takeFlight()
}

func everything(namepools.ID) bool { return true }

// A name pool that reaches MinCount has a counter at once, with all of its names, and rates
// of the creates from then on.
func TestReachesMinCount(t *testing.T) {
	id := namepools.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
	k := newTestStore()
	began := time.Unix(1_700_000_000, 0)
	k.pools.few.set(hashOf(id), number{4, 1})
	last := began
	for i := range 120 {
		last = began.Add(time.Duration(i) * time.Second)
		o := decode.Object{Namespace: "prod", Name: generated("run-", rand.New(rand.NewPCG(1, uint64(i)))), GenerateName: "run-"}
		k.change(changed{uint64(10 + i), decode.Added, o, last, last})
	}
	c := k.pools.counters[id]
	rate := c.seen.rates.at(last, began)[0].CreatesPerDay / 86_400
	if c.seen.creates != 120 || c.pool.Names != 124 || c.pool.Generated != 121 || rate < 0.9 || rate > 1.2 || len(toMap(&k.pools.few)) > 0 {
		t.Errorf("%+v, %+v, %.2f a second", c.pool, c.seen, rate)
	}
}

// The times of the oldest and of the newest are not known any more once it has gone.
func TestNewestGone(t *testing.T) {
	id := namepools.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
	since := time.Unix(0, 0)
	c := newCounter(census.NamePool{Names: 3, Oldest: time.Unix(100, 0), Newest: time.Unix(300, 0)})
	c.since = &since
	happens := func(created int64) changed {
		return changed{object: decode.Object{Name: "run-bbbbb", Created: created}, since: since, at: since}
	}
	for _, step := range []struct {
		what           func()
		oldest, newest int64
	}{
		{func() { c.deleted(id, happens(200)) }, 100, 300},
		{func() { c.deleted(id, happens(300)) }, 100, 0},
		{func() { c.created(id, happens(400), 0) }, 100, 400},
		{func() { c.deleted(id, happens(100)) }, 0, 400},
	} {
		step.what()
		if c.pool.Oldest != step.oldest || c.pool.Newest != step.newest {
			t.Errorf("%+v, want %+v", c.pool, step)
		}
	}
}

// No report has a negative number, even after updates of generateName.
func TestGeneratedIsWithinNames(t *testing.T) {
	for _, generated := range []int32{-1, 4} {
		c := &counter{pool: newCounter(census.NamePool{Names: 3}).pool}
		c.pool.Generated = generated
		if s := c.poolOf(pods, namepools.ID{}); s.Generated != int64(min(max(generated, 0), 3)) {
			t.Errorf("%d of 3 are generated", s.Generated)
		}
	}
}

// An empty name pool is dropped later if it had enough creates to be shown.
func TestForget(t *testing.T) {
	k := newTestStore()
	now := k.clock.now()
	gone := func(names int32, creates int64, ago time.Duration) *counter {
		return &counter{pool: tally{Names: names}, seen: &seen{creates: creates, rates: rates{last: now.Add(-ago)}}}
	}
	want := map[string]bool{}
	for i, test := range []struct {
		c    *counter
		left bool
	}{
		{gone(0, 4, 50*time.Minute), true},
		{gone(0, 4, 2*time.Hour), false},
		{gone(0, 5, 23*time.Hour), true},
		{gone(0, 5, 25*time.Hour), false},
		{gone(1, 5, 25*time.Hour), true},
		{&counter{}, true},
	} {
		prefix := fmt.Sprint(i)
		k.pools.counters[namepools.ID{Prefix: prefix}] = test.c
		want[prefix] = test.left
	}
	k.forget()
	for prefix, left := range want {
		if got := k.has(namepools.ID{Prefix: prefix}); got != left {
			t.Errorf("%s is left: %v", prefix, got)
		}
	}
}

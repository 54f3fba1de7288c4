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
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// What came while a watch was not open is no burst when it arrives, be it of a space that
// was counted before or of one that begins.
func TestBacklog(t *testing.T) {
	const away, perSecond = 20 * time.Minute, 2
	e := New(census.Scanner{})
	e.MinCount = 5
	now := e.clock.now()
	random := rand.New(rand.NewPCG(1, 1))
	counted := now.Add(-away)
	old := spaces.ID{Namespace: "prod", Prefix: "old-", SuffixLength: suffixLength}
	k := &kind{
		resource: pods, state: watched, version: 7, sketch: newSketch(), backlog: backlog{now.Add(-away), 1 << 20},
		counters: map[spaces.ID]*counter{old: {since: &counted, space: newCounter(census.NamePool{Names: 6}).space}},
	}
	k.sketch.add(old, 6)
	arrive := func(what decode.EventType, prefix string) {
		o := &decode.Object{Namespace: "prod", Name: generated(prefix, random), GenerateName: prefix}
		event := &decode.Event{Type: what, ResourceVersion: strconv.FormatUint(k.version+1, 10), Object: o}
		if err := k.apply(e, event); err != nil {
			t.Fatal(err)
		}
	}
	for range int(perSecond * away.Seconds()) {
		arrive(decode.Added, "old-")
		arrive(decode.Deleted, "old-")
		arrive(decode.Added, "new-")
	}
	for id, c := range k.counters {
		rates := k.row(id, c, e.clock.now()).Rates
		for i := range 2 { // the longer ones are of a time without any, too
			if creates := rates[i].CreatesPerDay / 86_400; creates < 0.9*perSecond || creates > 1.1*perSecond {
				t.Errorf("%s: %.2f creates a second in %v", id.Prefix, creates, Windows[i])
			}
		}
		if deletes := rates[0].DeletesPerDay / 86_400; id == old && (deletes < 0.9*perSecond || deletes > 1.1*perSecond) {
			t.Errorf("%.2f deletes a second", deletes)
		}
	}
	k.version = k.backlog.until
	arrive(decode.Added, "live-")
	arrive(decode.Added, "live-")
	live := spaces.ID{Namespace: "prod", Prefix: "live-", SuffixLength: suffixLength}
	if since := *k.counters[live].since; since.Before(now) {
		t.Errorf("what comes after the backlog came since %v", since)
	}
}

// How much is behind a watch is asked before it is opened again, and for the first time
// after a long list.
func TestBacklogIsAsked(t *testing.T) {
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	e := prepare(server, pods)
	now := e.clock.now()
	before := now.Add(-time.Minute)
	asked := func(since time.Time) backlog { return backlog{since, uint64(server.version)} }
	for name, test := range map[string]struct {
		heard  time.Time
		before backlog
		t      trouble
		want   backlog
	}{
		"again":                     {now, backlog{before, 3}, trouble{before: true}, asked(now)},
		"again, with some left":     {now, backlog{before, 9}, trouble{before: true}, asked(before)},
		"first, after a long list":  {now.Add(-longList), backlog{}, trouble{}, asked(now.Add(-longList))},
		"first, after a short list": {now, backlog{}, trouble{}, backlog{}},
	} {
		k, want := &kind{resource: pods, version: 3, heard: test.heard, backlog: test.before}, test.want
		if err := e.compare(t.Context(), k, 1, &test.t); err != nil || k.backlog != want {
			t.Errorf("%s: %v, %+v, want %+v", name, err, k.backlog, want)
		}
	}
}

// A space is counted since the state of its list, however long that took.
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

// A look-up is of a state that the watch may not have come to: what it has counted of who
// says a prefix does not count again.
func TestListAhead(t *testing.T) {
	e := New(census.Scanner{})
	id := spaces.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
	counted := func(names, generated int64) *counter {
		return newCounter(census.NamePool{
			Resource: pods, Namespace: id.Namespace, Prefix: id.Prefix, SuffixLength: suffixLength, Names: names, Generated: generated,
		})
	}
	k := &kind{resource: pods, state: watched, sketch: newSketch()}
	k.install(&listing{began: e.clock.now(), found: map[spaces.ID]*counter{id: counted(6, 1)}, sketch: newSketch(), version: 5, prefixes: 1})
	event := func(version uint64, what decode.EventType, suffix string) {
		now := e.clock.now()
		o := decode.Object{Namespace: "prod", Name: "run-" + suffix, GenerateName: "run-"}
		k.change(e, changed{version, what, o, now, now})
	}
	k.lookups.flying = map[spaces.ID]bool{id: true}
	event(6, decode.Added, "bbbbb")
	k.pass(e, id, true, &listing{found: map[spaces.ID]*counter{id: counted(9, 4)}, version: 8})
	event(7, decode.Added, "ccccc")
	event(8, decode.Added, "ddddd")
	if s := k.counters[id].space; s.Names != 9 || s.Generated != 4 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
	event(9, decode.Added, "fffff")
	event(10, decode.Deleted, "bbbbb")
	event(11, decode.Deleted, "ccccc")
	if s := k.counters[id].space; s.Names != 8 || s.Generated != 3 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
	// An etcd that was restored counts on from an earlier state.
	k.installAgain(&listing{began: e.clock.now(), found: map[spaces.ID]*counter{id: counted(2, 2)}, sketch: newSketch(), version: 3}, 0, nil)
	event(4, decode.Added, "ggggg")
	if s := k.counters[id].space; s.Names != 3 || s.Generated != 3 {
		t.Errorf("%d names, %d of them generated", s.Names, s.Generated)
	}
}

// What comes while a space is looked up came then, and not when that ends.
func TestNotedInTime(t *testing.T) {
	e := New(census.Scanner{})
	id := spaces.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
	k := &kind{resource: pods, sketch: newSketch()}
	began := time.Unix(1_700_000_000, 0)
	k.lookups.flying = map[spaces.ID]bool{id: true}
	k.sketch.add(id, 6)
	last := began
	for i := range 120 {
		last = began.Add(time.Duration(i) * time.Second)
		o := decode.Object{Namespace: "prod", Name: generated("run-", rand.New(rand.NewPCG(1, uint64(i)))), GenerateName: "run-"}
		k.change(e, changed{uint64(10 + i), decode.Added, o, last, last})
	}
	k.pass(e, id, true, &listing{began: began, version: 9, found: map[spaces.ID]*counter{id: newCounter(census.NamePool{Names: 6})}})
	c := k.counters[id]
	if rate := c.seen.rates.at(last, began)[0].CreatesPerDay / 86_400; c.seen.creates != 120 || rate < 0.9 || rate > 1.2 {
		t.Errorf("%d creates, %.2f a second", c.seen.creates, rate)
	}
}

// The times of the oldest and of the newest are not known any more once it has gone.
func TestNewestGone(t *testing.T) {
	id := spaces.ID{Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength}
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
		if c.space.Oldest != step.oldest || c.space.Newest != step.newest {
			t.Errorf("%+v, want %+v", c.space, step)
		}
	}
}

// No report has a negative number, whatever updates have made of generateName.
func TestGeneratedIsWithinNames(t *testing.T) {
	for _, generated := range []int32{-1, 4} {
		c := &counter{space: newCounter(census.NamePool{Names: 3}).space}
		c.space.Generated = generated
		if s := c.spaceOf(pods, spaces.ID{}); s.Generated != int64(min(max(generated, 0), 3)) {
			t.Errorf("%d of 3 are generated", s.Generated)
		}
	}
}

// What is shown although it has gone again is forgotten later than what is not.
func TestForget(t *testing.T) {
	e := &Engine{MinCount: 5}
	now := e.clock.now()
	gone := func(names int32, creates int64, ago time.Duration) *counter {
		return &counter{space: tally{Names: names}, seen: &seen{creates: creates, rates: rates{last: now.Add(-ago)}}}
	}
	k := &kind{counters: map[spaces.ID]*counter{}}
	e.kinds = []*kind{k}
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
		k.counters[spaces.ID{Prefix: prefix}], want[prefix] = test.c, test.left
	}
	e.forget()
	for prefix, left := range want {
		if got := k.counters[spaces.ID{Prefix: prefix}] != nil; got != left {
			t.Errorf("%s is left: %v", prefix, got)
		}
	}
}

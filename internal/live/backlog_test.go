package live

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// arrives applies an event about an object with the name and the prefix.
func (c *counts) arrives(t *testing.T, what decode.EventType, name, prefix string) {
	t.Helper()
	o := &object.Object{Namespace: "prod", Name: name, GenerateName: prefix}
	event := &decode.Event{Type: what, ResourceVersion: strconv.FormatUint(c.at.version+1, 10), Object: o}
	if err := c.apply(event); err != nil {
		t.Fatal(err)
	}
}

// listedAs replaces the counts by a list without objects.
func (c *counts) listedAs(list *listing) {
	c.beginSweep()
	c.replace(list, uncounted)
}

func rowsOf(s *store) map[string]pools.Row {
	rows := map[string]pools.Row{}
	now := get(s, func(c *counts) time.Time { return c.clock.now() })
	s.eachRow(now, func(r pools.Row) { rows[r.Pool.Prefix] = r })
	return rows
}

func (c *counts) rowsOf() map[string]pools.Row { return rowsOf(&store{counts: c}) }

// rateOf returns the creates and deletes per second in a window, some time after its beginning.
func rateOf(sums pools.Weighed, window int, after time.Duration) (creates, deletes float64) {
	seconds := pools.Days(pools.Windows[window], after.Seconds()) * 86_400
	return sums[window].Creates / seconds, sums[window].Deletes / seconds
}

// Events from before a watch was opened aren't a burst when they arrive. This is true of
// name pools that were counted before, and of new ones.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const absence, perSecond = 20 * time.Minute, 2
		k := newTestCounts()
		now := k.clock.now()
		random := rand.New(rand.NewPCG(1, 1))
		k.listedAs(&listing{began: now.Add(-absence)})
		k.arrives(t, decode.Added, "old-bcdfg", "old-")
		k.beginSweep()
		visit(k, &object.Object{Namespace: "prod", Name: "old-bcdfg", GenerateName: "old-"})
		k.replace(&listing{began: now.Add(-absence), version: 7}, watched)
		k.at.backlog = backlog{now.Add(-absence), 1 << 20}
		for range int(perSecond * absence.Seconds()) {
			name := generated("old-", random)
			k.arrives(t, decode.Added, name, "old-")
			k.arrives(t, decode.Deleted, name, "old-")
			k.arrives(t, decode.Added, generated("new-", random), "new-")
		}
		for prefix, row := range k.rowsOf() {
			for i := range 2 { // the longer windows also cover a time without events
				if creates, _ := rateOf(row.Weighed, i, row.At.Sub(row.Since)); creates < 0.9*perSecond || creates > 1.1*perSecond {
					t.Errorf("%s: %.2f creates a second in %v", prefix, creates, pools.Windows[i])
				}
			}
			_, deletes := rateOf(row.Weighed, 0, row.At.Sub(row.Since))
			if prefix == "old-" && (deletes < 0.9*perSecond || deletes > 1.1*perSecond) {
				t.Errorf("%.2f deletes a second", deletes)
			}
		}
		k.at.version = k.at.backlog.until
		k.arrives(t, decode.Added, "live-bcdfg", "live-")
		if since := k.rowsOf()["live-"].Since; since.Before(now) {
			t.Errorf("what comes after the backlog came since %v", since)
		}
	})
}

// visit passes objects of a list to a store.
func visit(c *counts, objects ...*object.Object) {
	v := &visitor{store: &store{counts: c}}
	for _, o := range objects {
		_ = v.Visit(o)
	}
	v.Commit()
}

// After any updates and interrupted lists, a client-generated prefix is reported as if its type had just
// been counted. The input has names that only begin with the prefix, because two such names hide it.
func TestClientGeneratedPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(1, 1))
		var all []*object.Object
		for range 20 {
			all = append(all, &object.Object{Namespace: "prod", Name: generated("run-", random)})
		}
		for _, name := range []string{"run-00001", "run-0000a", "run-eeeee"} {
			all = append(all, &object.Object{Namespace: "prod", Name: name})
		}
		k, alive := newTestCounts(), slices.Clone(all[:20])
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			o := rapid.SampledFrom(all[15:]).Draw(t, "object")
			at := slices.Index(alive, o)
			switch what := rapid.IntRange(0, 2).Draw(t, "what"); {
			case what == 0 || k.listedAt.IsZero():
				k.beginSweep()
				interrupted := &visitor{store: &store{counts: k}}
				for _, o := range alive {
					_ = interrupted.Visit(o)
				}
				interrupted.flush()
				visit(k, alive...)
				k.replaceAfterGap(&listing{}, nil)
			case at < 0:
				k.change(changed{what: decode.Added, object: o})
				alive = append(alive, o)
			case what == 1:
				k.change(changed{what: decode.Deleted, object: o})
				alive = slices.Delete(alive, at, at+1)
			default:
				k.change(changed{what: decode.Modified, object: o})
			}
		}
		fresh := newTestCounts()
		fresh.beginSweep()
		visit(fresh, alive...)
		fresh.replace(&listing{}, watched)
		if got, want := k.rowsOf()["run-"].Pool.Names, fresh.rowsOf()["run-"].Pool.Names; got != want {
			t.Fatalf("%d names, want %d", got, want)
		}
	})
}

// An empty prefix keeps its row only if it was reported before. Prefixes of names that only look
// client-generated, and of objects that the selector does not match, have no row.
func TestEmptyRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 1))
		selected := labels.Set{"app": "a"}
		for _, test := range []struct {
			selector labels.Selector
			want     string
		}{
			{nil, "[client-30 client-b-30 run-30 run-b-30 stem-30 stem-b-30]"},
			{selected.AsSelector(), "[client-30 run-30 stem-30]"},
		} {
			k := newTestCounts()
			k.rules.Selector = test.selector
			k.beginSweep()
			k.replace(&listing{began: k.clock.now(), version: 1}, watched)
			apply := func(what decode.EventType, prefix string, names ...string) {
				for _, name := range names {
					o := &object.Object{Namespace: "prod", Name: name, Labels: selected}
					if strings.HasSuffix(prefix, "b-") {
						o.Labels = nil
					}
					if strings.HasPrefix(prefix, "run-") {
						o.GenerateName = prefix
					}
					event := &decode.Event{Type: what, ResourceVersion: fmt.Sprint(k.at.version + 1), Object: o}
					if err := k.apply(event); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, prefix := range []string{"look-", "client-", "client-b-", "run-", "run-b-", "stem-", "stem-b-"} {
				var names []string
				for i := range 30 {
					names = append(names, generated(prefix, random))
					if strings.HasPrefix(prefix, "stem-") {
						names[i] = fmt.Sprint(prefix, i)
					}
					if prefix == "look-" { // so there are never enough of these names at the same time
						apply(decode.Added, prefix, names[i])
						apply(decode.Deleted, prefix, names[i])
					}
				}
				if prefix != "look-" {
					apply(decode.Added, prefix, names...)
					apply(decode.Deleted, prefix, names...)
				}
			}
			var got []string
			for prefix, row := range k.rowsOf() {
				got = append(got, fmt.Sprint(prefix, row.Deletes))
			}
			if slices.Sort(got); fmt.Sprint(got) != test.want {
				t.Errorf("selector %v: the rows %q, want %s", test.selector, got, test.want)
			}
		}
	})
}

// The engine drops an empty name pool an hour after its last event.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTestCounts()
		k.beginSweep()
		k.replace(&listing{began: k.clock.now(), version: 1}, watched)
		for _, name := range []string{"kept-bcdfg", "gone-bcdfg", "left-bcdfg"} {
			k.arrives(t, decode.Added, name, name[:5])
			if name != "left-bcdfg" {
				k.arrives(t, decode.Deleted, name, name[:5])
			}
		}
		number, _ := k.set.Number("prod", "gone-", object.FromGenerateName)
		k.pools[number].rates.last = k.clock.now().Add(-time.Hour - time.Second)
		k.forget()
		rows := k.rowsOf()
		if _, is := rows["gone-"]; is || len(rows) != 2 || rows["kept-"].Deletes != 1 || len(k.pools) != 2 {
			t.Errorf("rows %+v and %d pools after an hour, want kept- with one delete, left-, and two pools", rows, len(k.pools))
		}
	})
}

// Objects with a prefix don't change the numbers of the other names, because their prefix has its own row.
// This is also true for the first object of a prefix, and for a prefix that is empty for a while.
func TestOtherNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTestCounts()
		k.beginSweep()
		k.replace(&listing{began: k.clock.now(), version: 1}, watched)
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 30 {
			k.arrives(t, decode.Added, fmt.Sprintf("settings-%d-of-all", i), "")
			prefix := fmt.Sprintf("branch-%d-", i)
			k.arrives(t, decode.Added, generated(prefix, random), prefix)
			k.arrives(t, decode.Added, "run-bcdfg", "run-")
			k.arrives(t, decode.Deleted, "run-bcdfg", "run-")
		}
		s := Snapshot{At: k.clock.now()}
		k.addTo(&s, "", false)
		row := s.Others[0]
		if lasting := row.Weighed[0]; row.Creates != 30 || lasting.Creates != 30 || row.Deletes != 0 || lasting.Deletes != 0 {
			t.Errorf("%d creates and %d deletes with the weights %.1f, want 30 and 0", row.Creates, row.Deletes, lasting)
		}
	})
}

// The totals of a type that is removed and comes back don't decrease, but the type no longer has the earlier names.
func TestTotalsOfATypeThatLeft(t *testing.T) {
	k := newTestCounts()
	k.totals, k.health.restarts = totals{creates: 7, gaps: 2}, 3
	want := ResourceCount{Resource: pods, Creates: 7, Restarts: 3, Gaps: 2}
	if got := k.successor(pods).count(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Before a watch is opened again, the engine requests the server's state, to know which events are old. The
// engine also requests it before the first watch after a long list.
func TestBacklogIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		e := prepare(server, pods)
		r := e.reflectorOf(t, pods)
		now := e.Now()
		before := now.Add(-time.Minute)
		asked := func(since time.Time) backlog { return backlog{since, uint64(server.Version)} }
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
			r.store.counts.at = position{version: 3, heard: test.heard, backlog: test.before}
			if err := r.compare(t.Context(), 1, &test.t); err != nil || r.store.counts.at.backlog != test.want {
				t.Errorf("%s: %v, %+v, want %+v", name, err, r.store.counts.at.backlog, test.want)
			}
		}
	})
}

// A polite engine lists its types one after another, and pauses. The rates of each type begin at the state of its list,
// even after a long list. The engine has begun when it has counted all types.
func TestSinceItsPoliteList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		add(server, "/apis/batch/v1/jobs", "job-", 6)
		var asked sync.Map // the time of the first request, by resource type
		server.Fault = refuse(func(path string, _ bool) int {
			if _, known := asked.LoadOrStore(paths[path].GroupResource(), time.Now()); !known {
				time.Sleep(time.Second)
			}
			return 0
		})
		e := prepare(server, pods, jobs)
		e.Scanner.Polite = true
		e.run(t)
		s := e.Snapshot()
		for _, row := range s.Rows {
			at, _ := asked.Load(row.Pool.GroupResource)
			if !row.Since.Equal(at.(time.Time)) || s.Began.Before(row.Since.Add(time.Second)) {
				t.Errorf("%s is counted since %v, and all since %v, want %v and at least 1s later", row.Pool.Resource, row.Since, s.Began, at)
			}
		}
		if len(s.Rows) != 2 {
			t.Errorf("%d rows, want 2", len(s.Rows))
		}
	})
}

// The memory of an object limits the memory of a watch of a million objects.
func TestMemberMemory(t *testing.T) {
	const objects = 200_000
	k := newTestCounts()
	inUse := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := inUse()
	k.beginSweep()
	v := &visitor{store: &store{counts: k}}
	for i := range objects {
		prefix := fmt.Sprintf("run-%d-", i%2000)
		_ = v.Visit(&object.Object{Namespace: "prod", Name: prefix + censustest.SuffixOf(i), GenerateName: prefix, Created: 1_790_000_000})
	}
	v.Commit()
	k.replace(&listing{version: 1, objects: objects}, uncounted)
	if each := (inUse() - before) / objects; each > 50 {
		t.Errorf("an object takes %d bytes, want 50 at most", each)
	} else {
		t.Logf("%d bytes", each)
	}
	if row := k.rowsOf()["run-0-"]; row.Pool.Names != objects/2000 || !row.Followed {
		t.Errorf("%d names, followed %v, want %d followed names", row.Pool.Names, row.Followed, objects/2000)
	}
}

// The clock includes sleep, in which the monotonic clock stops, and ignores other changes of the wall clock.
func TestElapsed(t *testing.T) {
	for name, test := range map[string]struct{ monotonic, wall, want time.Duration }{
		"both agree":                        {time.Minute, time.Minute, time.Minute},
		"the computer slept":                {time.Minute, 8 * time.Hour, 8 * time.Hour},
		"the wall clock was corrected":      {time.Minute, 63 * time.Second, time.Minute},
		"the wall clock was set back":       {time.Minute, -time.Hour, time.Minute},
		"the wall clock was set back a bit": {time.Minute, 57 * time.Second, time.Minute},
	} {
		if got := elapsed(test.monotonic, test.wall); got != test.want {
			t.Errorf("%s: %v elapsed, want %v", name, got, test.want)
		}
	}
}

// The clock starts at the server's time, and advances.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{}
		c.start(time.Hour)
		began := time.Now().Round(0)
		for _, want := range []time.Duration{0, time.Minute, 24 * time.Hour} {
			time.Sleep(want)
			if got := c.now().Sub(began.Add(time.Hour)); got != want {
				t.Errorf("the clock advanced by %v, want %v", got, want)
			}
			began = began.Add(want)
		}
		if at := New(census.Scanner{}).Snapshot(func(pools.Row) {}).At; at != at.Round(0) {
			t.Errorf("the time of a snapshot is %v, want no monotonic reading, which stops in a sleep", at)
		}
	})
}

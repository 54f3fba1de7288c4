package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// A type is listed again when its number has changed since the last list. Changes under
// other prefixes count, too. Lists take at most a tenth of the time.
func TestDue(t *testing.T) {
	t.Run("after a quick list", func(t *testing.T) {
		k := newTestCounts()
		k.listedAs(&listing{objects: 200, took: time.Second})
		for after, want := range map[time.Duration]bool{leastQuiet: false, leastQuiet + time.Second: true} {
			if got := k.isDue(census.Size{Objects: 200, Known: true}, k.listedAt.Add(after)); got != want {
				t.Errorf("after %s: %v", after, got)
			}
		}
	})
	k := newTestCounts()
	k.listedAs(&listing{objects: 200, took: time.Minute})
	listed := k.listedAt
	var shown Snapshot
	k.addTo(&shown, "", false)
	if len(shown.Others) != 1 || shown.Others[0].Pool.Names != 200 || k.health.state != quiet {
		t.Fatalf("unprefixed %+v in state %v, want 200 objects of a quiet type", shown.Others, k.health.state)
	}
	for _, test := range []struct {
		objects int64
		known   bool
		after   time.Duration
		want    bool
	}{
		{200, true, 10 * time.Minute, false},
		{204, true, 10 * time.Minute, false},
		{205, true, 10 * time.Minute, true},
		{195, true, 10 * time.Minute, true},
		{205, true, 8 * time.Minute, false}, // the list took a minute
		{1, false, 11 * time.Minute, true},
		{201, true, 31 * time.Minute, true},
		{200, true, 31 * time.Minute, true}, // others may have replaced the objects
	} {
		if got := k.isDue(census.Size{Objects: test.objects, Known: test.known}, listed.Add(test.after)); got != test.want {
			t.Errorf("%+v: due %v", test, got)
		}
	}
	k.health.skipped, k.health.rests = []census.Skipped{{}}, listed.Add(time.Hour) // as after a list that broke off
	for after, want := range map[time.Duration]bool{59 * time.Minute: false, time.Hour: true} {
		if got := k.isDue(census.Size{Objects: 200, Known: true}, listed.Add(after)); got != want {
			t.Errorf("after %s: %v", after, got)
		}
	}
}

// A server that has just started doesn't know the changes before its start. Another server
// may know them, so that no event is lost.
func TestOneServerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for opens, gaps := range map[int32]int{expiredOpens - 1: 0, expiredOpens: 1} {
			server := newRuns(t)
			var refuses atomic.Int32
			server.Fault = refuse(func(_ string, watch bool) int {
				if watch && refuses.Add(-1) >= 0 {
					return http.StatusGone
				}
				return 0
			})
			e := start(t, server, pods)
			addRuns(server, 1)
			e.hasRuns(t, 7)
			refuses.Store(opens)
			server.Restart()
			addRuns(server, 2)
			eventually(t, func() string {
				if left := refuses.Load(); left > 0 {
					return fmt.Sprintf("%d requests are still to be refused", left)
				}
				if n := len(e.notices(Gap)); n < gaps {
					return fmt.Sprintf("%d gaps were reported, want %d", n, gaps)
				}
				return e.differs(map[string]int64{"pods prod/run-": 9})
			})
			if row := e.Snapshot().Rows[0]; len(e.notices(Gap)) != gaps || row.Gaps != gaps || row.Creates != 3 {
				t.Errorf("%d refusals: %d gaps and %d creates, reported %+v, want %d gaps and 3 creates",
					opens, row.Gaps, row.Creates, e.reported, gaps)
			}
		}
	})
}

// A type that can't be watched is counted repeatedly, and the engine reports it. The reason may pass. The engine
// retries, and reports that the type is watched.
func TestWatchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		refused := refusal(server, ofAWatch)
		refused.Store(http.StatusForbidden)
		e, began := start(t, server, pods), time.Now()
		until(t, func() (bool, any) { n := requests(server, true); return n >= firstOpens+2, n })
		addRuns(server, 1)
		e.hasRuns(t, 7)
		if reported := e.notices(Unwatched); len(reported) != 1 || reported[0].Cause == nil || e.Snapshot().Rows[0].Followed {
			t.Errorf("reported %+v, want once that the type is unwatched, with a cause, and no followed row", reported)
		}
		refused.Store(0)
		e.reportsOnce(t, Watched)
		takes(t, began, 31*time.Minute) // the third attempt succeeds, and a bookmark arrives a minute later
		addRuns(server, 2)
		e.hasRuns(t, 9)
		row := e.Snapshot().Rows[0]
		if !row.Followed || row.Creates != 2 || len(e.notices(Unwatched)) != 1 || len(e.notices(Gap)) > 0 {
			t.Errorf("followed %v, %d creates, reported %+v, want 2 creates of a followed row, and no gap",
				row.Followed, row.Creates, e.reported)
		}
	})
}

// removable makes a type of a server one that can be taken away.
func removable(server *fakeapi.Server) (removed *atomic.Bool) {
	removed = &atomic.Bool{}
	server.Fault = refuse(func(path string, _ bool) int {
		if removed.Load() && path == "/api/v1/pods" {
			return http.StatusNotFound
		}
		return 0
	})
	return removed
}

// The engine drops a removed type, and reports it once. The type may be watched, counted
// repeatedly, or asked for its number. It is counted again if it comes back.
func TestRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		objects int
		watch   int32 // the response to a watch
	}{
		"watched": {6, 0}, "unwatched": {6, http.StatusMethodNotAllowed}, "quiet": {0, 0},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			server := newFakeServer(t, 1)
			addRuns(server, test.objects)
			removed := removable(server)
			found := server.Fault
			refusal(server, ofAWatch).Store(test.watch)
			watched := server.Fault
			server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool { return found(n, w, r) || watched(n, w, r) }
			e := start(t, server, pods)
			for _, o := range server.Objects("/api/v1/pods") {
				server.Change("/api/v1/pods", "DELETED", o)
			}
			removed.Store(true)
			server.Restart()
			e.reportsOnce(t, Vanished)
			if s := e.Snapshot(); len(s.Skipped) > 0 || len(s.Types) > 0 || len(s.Rows) > 0 || s.Objects > 0 {
				t.Errorf("skipped %+v, types %v, %d rows, %d objects, want none", s.Skipped, s.Types, len(s.Rows), s.Objects)
			}
			lists := requests(server, false)
			time.Sleep(2 * quietEvery)
			more := requests(server, false) - lists
			if reported := e.notices(Vanished); more > 0 || len(reported) > 1 {
				t.Errorf("%d lists since then, reported %+v, want no list, and one report", more, reported)
			}
			removed.Store(false)
			addRuns(server, 7)
			e.hasRuns(t, 7)
			if len(e.notices(Appeared)) != 1 {
				t.Errorf("reported %+v, want once that the type appeared", e.reported)
			}
		}))
	}
}

// If discovery doesn't know a type, the type is gone only if a request for it fails, too, because a server that has
// just started knows few types. A type that comes back is counted again.
func TestDiscoveryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		removed := removable(server)
		var forgets atomic.Bool
		var forgot atomic.Int32
		e := prepare(server, pods, jobs)
		e.Discover = func(context.Context) ([]census.Resource, error) {
			if forgets.Load() {
				forgot.Add(1)
				return []census.Resource{jobs}, nil
			}
			return []census.Resource{jobs, pods}, nil
		}
		e.run(t)
		forgets.Store(true)
		until(t, func() (bool, any) { n := forgot.Load(); return n >= 3, n })
		if reported := e.notices(Vanished); len(reported) > 0 {
			t.Errorf("reported %+v, want nothing while the type responds", reported)
		}
		removed.Store(true)
		e.reportsOnce(t, Vanished)
		removed.Store(false)
		forgets.Store(false)
		e.hasRuns(t, 6)
		if len(e.notices(Vanished)) != 1 || len(e.notices(Appeared)) != 1 {
			t.Errorf("reported %+v, want once that the type vanished, and once that it appeared", e.reported)
		}
	})
}

// The counts of a type that is gone are freed. An exporter runs for months, and a type can be removed and installed
// each day.
func TestCountsOfAGoneTypeAreFreed(t *testing.T) {
	e := prepare(newFakeServer(t, 1))
	for name, leave := range map[string]func(*reflector){
		"it is dropped": e.drop,
		"its requests fail": func(r *reflector) {
			r.noteFailure(t.Context(), census.Skipped{Resource: "pods", Reason: census.NotFound}, time.Now())
		},
		"it is discovered again": func(r *reflector) {
			r.store.counts.health.state = gone
			e.discovered(pods)
		},
	} {
		r := e.reflectorOf(t, pods)
		counts := weak.Make(r.store.counts)
		leave(r)
		if e.types.of(pods.GroupResource()) == r {
			t.Errorf("%s: the reflector is still used", name)
		}
		if runtime.GC(); counts.Value() != nil {
			t.Errorf("%s: the counts are still in memory", name)
		}
	}
}

// If a removed type comes back but can't be read, it is neither gone nor counted.
func TestInstalledAgain(t *testing.T) {
	for refused, reason := range map[int]census.Reason{
		http.StatusForbidden: census.Forbidden, http.StatusInternalServerError: census.Failed,
	} {
		t.Run(string(reason), bubble(func(t *testing.T) {
			server := newRuns(t)
			code := refusal(server, nil)
			e := prepare(server, pods)
			e.Scanner.RetryTimeout = time.Millisecond
			e.Discover = func(context.Context) ([]census.Resource, error) { return []census.Resource{pods}, nil }
			e.run(t)
			code.Store(http.StatusNotFound)
			server.Restart()
			e.reportsOnce(t, Vanished)
			code.Store(int32(refused))
			e.until(t, func(s snapshot) bool {
				return len(s.Types) == 1 && len(s.Skipped) == 1 && s.Skipped[0].Reason == reason && s.Skipped[0].Message != errUncounted.Error()
			})
			for range 20 { // at no moment it is passed over
				time.Sleep(quietEvery / 10)
				if s := e.Snapshot(); len(s.Types) != 1 || len(s.Skipped) != 1 {
					t.Errorf("types %v, skipped %+v, want one type that is skipped", s.Types, s.Skipped)
				}
			}
			code.Store(0)
			e.hasRuns(t, 6)
			if s := e.Snapshot(); len(s.Skipped) > 0 || len(e.notices(Vanished)) != 1 || len(e.notices(Appeared)) != 1 {
				t.Errorf("skipped %+v, reported %+v, want nothing skipped, and one report of each kind", s.Skipped, e.reported)
			}
		}))
	}
}

// A type that exists and isn't counted yet makes a report incomplete. It is a new type, or
// a deleted type that discovery or a response shows again.
func TestNotCountedYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		e := prepare(server)
		e.connected(t)
		check := func(when string, types, skipped int) {
			t.Helper()
			s := e.Snapshot()
			if len(s.Types) != types || len(s.Skipped) != skipped || skipped > 0 && s.Skipped[0].Message != errUncounted.Error() {
				t.Errorf("%s: types %v, skipped %+v, want %d and %d", when, s.Types, s.Skipped, types, skipped)
			}
		}
		e.Discover = func(context.Context) ([]census.Resource, error) { return []census.Resource{pods}, nil }
		e.discover(t.Context())
		check("a new type", 1, 1)
		missing := census.Skipped{Resource: "pods", Reason: census.NotFound}
		noteFailure := func() {
			e.types.of(pods.GroupResource()).noteFailure(t.Context(), missing, time.Now())
		}
		noteFailure()
		check("one that is gone", 0, 0)
		e.discover(t.Context())
		check("one that is discovered again", 1, 1)
		noteFailure()
		check("one that is gone all the same", 0, 0)
		server.Fault = refuse(func(string, bool) int {
			check("one that is listed", 1, 1)
			return 0
		})
		e.types.of(pods.GroupResource()).listIfDue(t.Context(), census.Size{Resource: pods, Known: true}, e.Now())
		check("one that has been listed", 1, 0)
	})
}

// A selector chooses a prefix while it matches one of its objects. An update that moves an object in
// or out of it is no create and no delete, and all names of a prefix that is chosen count.
func TestSelectorAndUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		server.JSON = false // in protobuf, labels are left out if there is no selector
		random := rand.New(rand.NewPCG(1, 1))
		add := func(prefix string, in bool) meta {
			o := meta{Namespace: "prod", Name: generated(prefix, random), GenerateName: prefix}
			if in {
				o.Labels = map[string]string{"app": "a"}
			}
			server.Change("/api/v1/pods", "ADDED", o)
			o.CreationTimestamp = metav1.Unix(server.Clock, 0)
			return o
		}
		update := func(o meta, labels map[string]string) {
			o.Labels = labels
			server.Change("/api/v1/pods", "MODIFIED", o)
		}
		chosen, other := add("chosen-", true), add("other-", false)
		for range 5 {
			add("chosen-", false)
			add("other-", false)
		}
		e := prepare(server, pods)
		e.Scanner.Selector = labels.SelectorFromSet(labels.Set{"app": "a"})
		e.run(t)
		add("other-", false)
		add("chosen-", false)
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/chosen-": 7}) })
		update(chosen, nil)
		update(other, map[string]string{"app": "a"})
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/other-": 7}) })
		if row := e.Snapshot().Rows[0]; row.Creates != 1 || row.Deletes != 0 {
			t.Errorf("%d creates and %d deletes, want 1 and 0", row.Creates, row.Deletes)
		}
		server.Lock()
		defer server.Unlock()
		if uris := strings.Join(server.Requests, " "); strings.Contains(uris, "Selector=") {
			t.Errorf("requests with a selector: %s", uris)
		}
	})
}

// If one namespace is counted, the events of a cluster-scoped type are applied, too.
func TestPassageOfClusterScoped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		add(server, "/api/v1/nodes", "few-", 4)
		e := prepare(server, nodes)
		e.Namespace = "prod"
		e.run(t)
		add(server, "/api/v1/nodes", "few-", 2)
		eventually(t, func() string { return e.differs(map[string]int64{"nodes /few-": 6}) })
	})
}

// If the watches of a server never succeed, its types are not listed without end.
func TestCountedInVain(t *testing.T) {
	for name, inject := range map[string]func(*fakeapi.Server){
		"all states are gone": func(s *fakeapi.Server) {
			refusal(s, ofAWatch).Store(http.StatusGone)
		},
		"each watch begins at an earlier state": func(s *fakeapi.Server) {
			s.Fault = ofWatches(all, func(w http.ResponseWriter, _ *http.Request) {
				fakeapi.Open(w)
				o := s.Objects("/api/v1/pods")[0]
				o.ResourceVersion = "99"
				fakeapi.Send(w, "MODIFIED", o)
			})
		},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			server := newRuns(t)
			inject(server)
			e := start(t, server, pods)
			e.reportsOnce(t, Unwatched)
			if gaps := e.Snapshot().Gaps; gaps != maxInVain {
				t.Errorf("counted again %d times, want %d", gaps, maxInVain)
			}
			addRuns(server, 1)
			e.hasRuns(t, 7)
		}))
	}
}

// Repeated lists of a type take at most a tenth of the time, but one minute of listing needs no pause. Events in
// between change nothing.
func TestRestBetweenCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trouble := &backoff{}
		rests := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			trouble.rest(t.Context())
			if rested := time.Since(began); rested != want {
				t.Errorf("rested %v, want %v", rested, want)
			}
		}
		rests(0)
		trouble.counted(5*time.Second, time.Now())
		rests(0) // 45 seconds are owed
		trouble.counted(time.Minute, time.Now())
		trouble.heard()
		rests(listPauses*65*time.Second - ahead)
		rests(0)
		time.Sleep(time.Hour)
		trouble.counted(time.Minute, time.Now())
		rests(listPauses*time.Minute - ahead)
		if trouble.inVain != 1 {
			t.Errorf("%d lists in vain, want 1", trouble.inVain)
		}
	})
}

// If a list breaks off after some objects, requesting it again takes at most a tenth of the time.
func TestRestBetweenTornLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		const takes = 40 * time.Millisecond
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var began time.Time
		lists := 0
		server.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Has("continue") {
				fakeapi.Fail(w, http.StatusBadRequest, "torn")
				return true
			}
			if pause := time.Since(began); lists > 0 && pause < listPauses*takes {
				t.Errorf("list %d began %s after the one before", lists+1, pause)
			}
			if began, lists = time.Now(), lists+1; lists == 3 {
				stop()
			}
			time.Sleep(takes)
			return false
		}
		e := prepare(server, pods)
		e.Scanner.ChunkSize = 5
		e.reflectorOf(t, pods).listAgain(ctx, true)
		if lists != 3 {
			t.Errorf("%d lists, want 3", lists)
		}
	})
}

// If the user ends the watch while a list is read, that isn't a failure.
func TestEndInAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		var hangs atomic.Bool
		reached, release := make(chan struct{}, 100), make(chan struct{})
		server.Fault = refuse(func(_ string, watch bool) int {
			if watch {
				return http.StatusMethodNotAllowed
			}
			if hangs.Load() {
				reached <- struct{}{}
				<-release
			}
			return 0
		})
		e := start(t, server, pods)
		hangs.Store(true)
		<-reached
		e.stop()
		close(release)
		if skipped := e.Snapshot().Skipped; len(skipped) > 0 {
			t.Errorf("skipped %+v, want nothing skipped", skipped)
		}
	})
}

// A type of which only the number is read is skipped while the server doesn't respond, or refuses the request.
func TestQuietTypeSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		server.Change("/api/v1/pods", "ADDED", meta{Namespace: "prod", Name: "one"})
		code := refusal(server, nil)
		e := prepare(server, pods)
		e.Scanner.RetryTimeout = time.Millisecond
		e.run(t)
		for refused, reason := range map[int32]census.Reason{
			http.StatusServiceUnavailable: census.Unreachable, http.StatusForbidden: census.Forbidden,
		} {
			code.Store(refused)
			e.until(t, func(s snapshot) bool {
				return len(s.Skipped) == 1 && s.Skipped[0].Reason == reason && s.Skipped[0].Resource == "pods"
			})
			code.Store(0)
			e.until(t, func(s snapshot) bool { return len(s.Skipped) == 0 })
		}
	})
}

// The objects that etcd deletes with an ended lease have one resource version. Each counts
// once. A watch that breaks between these events resumes before them.
func TestLeaseEnds(t *testing.T) {
	k := newTestCounts()
	k.at.version, k.totals.objects = 7, 9
	random := rand.New(rand.NewPCG(1, 1))
	event := func(what decode.EventType, version string) *decode.Event {
		return &decode.Event{Type: what, ResourceVersion: version, Object: &object.Object{Namespace: "prod", Name: generated("run-", random)}}
	}
	first, second := event(decode.Deleted, "9"), event(decode.Deleted, "9")
	for _, step := range []struct {
		event   *decode.Event
		err     error
		objects int64
		from    uint64
	}{
		{first, nil, 8, 7},
		{first, nil, 8, 7},
		{second, nil, 7, 7},
		{event(decode.Added, "9"), errBackwards, 7, 7},
		{event(decode.Bookmark, "9"), nil, 7, 7},
		{event(decode.Added, "10"), nil, 8, 10},
		{event(decode.Deleted, "10"), errBackwards, 8, 10},
		{event(decode.Deleted, "9"), errBackwards, 8, 10},
	} {
		err := k.apply(step.event)
		from, _ := k.resumesAt()
		if !errors.Is(err, step.err) || k.totals.objects != step.objects || from != step.from {
			t.Errorf("%+v: %v, %d objects, resumes at %d, want %v, %d, %d",
				step.event, err, k.totals.objects, from, step.err, step.objects, step.from)
		}
	}
}

// The user's limit is for all requests together: lists, look-ups and numbers.
func TestOneRequestAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		var one sync.Mutex
		var two atomic.Bool
		server.Fault = refuse(func(_ string, watch bool) int {
			switch {
			case watch:
			case !one.TryLock():
				two.Store(true)
			default:
				time.Sleep(5 * time.Millisecond)
				one.Unlock()
			}
			return 0
		})
		e := prepare(server, pods, jobs, nodes)
		e.Scanner.Concurrency = 1
		e.run(t)
		var all sync.WaitGroup
		for range listsAtOnce {
			all.Go(func() {
				e.source.list(t.Context(), jobs, &store{counts: newCounts(jobs, &e.Policy, &e.rules, &clock{})})
			})
			all.Go(func() { e.poll(t.Context()) })
		}
		all.Wait()
		if two.Load() {
			t.Error("two at once")
		}
	})
}

// The engine gives up a watch that has no response or no events, and nothing is lost. If all watches have no events, it
// counts the type again.
func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		fault fault
		cause error // of a gap
	}{
		"no response":                   {ofWatches(1, hung), nil},
		"no events":                     {ofWatches(1, mute), nil},
		"no events of all watches":      {ofWatches(all, mute), errMute},
		"no events of watches that end": {ofWatches(all, func(w http.ResponseWriter, _ *http.Request) { fakeapi.Open(w) }), errMute},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			server := newRuns(t)
			server.Fault = test.fault
			e := start(t, server, pods)
			addRuns(server, 1)
			began := time.Now()
			e.hasRuns(t, 7)
			if test.cause == nil {
				takes(t, began, 2*time.Minute)
			}
			if gaps := e.notices(Gap); (len(gaps) > 0) != (test.cause != nil) || len(gaps) > 0 && !errors.Is(gaps[0].Cause, test.cause) {
				t.Errorf("gaps %+v, want the cause %v", gaps, test.cause)
			}
		}))
	}
}

// If nothing happens and the server sends no bookmarks, nothing is wrong.
func TestStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		server.Fault = ofWatches(all, mute)
		e := start(t, server, pods)
		until(t, func() (bool, any) {
			if behind := e.types.list()[0].store.look().health.behind; !behind.IsZero() {
				t.Errorf("behind since %v", behind)
			}
			n := requests(server, true)
			return n >= maxMute+2, n
		})
		if gaps := e.Snapshot().Gaps; gaps > 0 {
			t.Errorf("%d gaps, want none", gaps)
		}
	})
}

// All namespaces that were not read are skipped, unless the whole type was read since.
func TestLeaveOut(t *testing.T) {
	again, part, never := newTestCounts(), newTestCounts(), newTestCounts()
	part.resource, never.resource = jobs, nodes
	of := func(k *counts, namespace string) census.Skipped {
		return census.Skipped{Group: k.resource.Group, Resource: k.resource.Resource, Namespace: namespace}
	}
	all := []census.Skipped{of(again, "a"), of(part, "a"), of(part, "b"), of(never, "")}
	again.health.state, again.listed.took = quiet, time.Second
	for i, c := range []*counts{again, part, part, never} {
		c.leaveOut(all[i])
	}
	if got := slices.Concat(again.missing(again.count()), part.missing(part.count()), never.missing(never.count())); !slices.Equal(got, all[1:]) {
		t.Errorf("skipped %+v, want %+v", got, all[1:])
	}
}

// If a type is served in another version than before, the engine watches the new version. The type can be quiet.
func TestNewVersion(t *testing.T) {
	for _, objects := range []int{6, 0} {
		t.Run(fmt.Sprint(objects), bubble(func(t *testing.T) {
			server := newFakeServer(t, 1)
			beta := jobs
			beta.Version = "v1beta1"
			add(server, "/apis/batch/v1beta1/jobs", "run-", objects)
			var served atomic.Pointer[census.Resource]
			served.Store(&beta)
			server.Fault = refuse(func(path string, _ bool) int {
				if path == "/apis/batch/v1beta1/jobs" && served.Load() != &beta {
					return http.StatusNotFound
				}
				return 0
			})
			e := prepare(server, beta)
			e.Discover = func(context.Context) ([]census.Resource, error) { return []census.Resource{*served.Load()}, nil }
			e.run(t)
			add(server, "/apis/batch/v1/jobs", "run-", 8)
			served.Store(&jobs)
			server.Restart() // its watches end
			eventually(t, func() string { return e.differs(map[string]int64{"jobs.batch prod/run-": 8}) })
			add(server, "/apis/batch/v1/jobs", "run-", 1)
			eventually(t, func() string { return e.differs(map[string]int64{"jobs.batch prod/run-": 9}) })
			if rows := e.Snapshot().Rows; !rows[0].Followed || rows[0].Pool.Version != "v1" {
				t.Errorf("rows %+v, want a followed row of v1", rows)
			}
		}))
	}
}

// A type that fails comes after those that work, takes at most a tenth of the time, and delays no other type.
func TestFailingTypeHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		const takes = 10 * time.Millisecond
		var asked []string
		server.Fault = refuse(func(path string, _ bool) int {
			asked = append(asked, path) // a race, were there two at once
			if path == "/api/v1/pods" {
				time.Sleep(takes)
				return http.StatusServiceUnavailable
			}
			return 0
		})
		e := prepare(server)
		e.Scanner.RetryTimeout = time.Minute
		failing := e.reflectorOf(t, pods)
		failing.store.counts.health.skipped = []census.Skipped{{Reason: census.Failed}}
		well := e.reflectorOf(t, jobs).store.counts
		well.health.state, well.listedAt = quiet, time.Now()
		e.poll(t.Context())
		if !slices.Equal(asked, []string{"/apis/batch/v1/jobs", "/api/v1/pods"}) { // it was not asked again
			t.Errorf("requests %v, want one of jobs, then one of pods", asked)
		}
		e.source.scanner.RetryTimeout = time.Millisecond
		began := time.Now()
		failing.listIfDue(t.Context(), census.Size{Resource: pods, Known: true}, e.Now())
		if rests := failing.store.counts.health.rests.Sub(began); rests < (1+listPauses)*takes {
			t.Errorf("it is listed again after %v", rests)
		}
	})
}

// A type that could not be watched any more lists itself. A list because of a number that was requested before would mix
// with it.
func TestUnwatchedSinceTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		e := prepare(server, pods)
		r := e.reflectorOf(t, pods)
		r.life.Store(&life{})
		r.store.counts.health.state = watched
		server.Fault = refuse(func(string, bool) int {
			r.store.update(func(s *health) { s.state = unwatched })
			return 0
		})
		e.poll(t.Context())
		if n := requests(server, false); n > 0 || !r.is(unwatched) || len(e.notices(Watched)) > 0 {
			t.Errorf("%d lists, reported %+v, want no list, and an unwatched type", n, e.reported)
		}
	})
}

// A burst can come as soon as the server has responded with the number of objects, before the type has its turn.
func TestNumberIsFromBeforeTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		e := prepare(server)
		quietType := e.reflectorOf(t, pods).store.counts
		quietType.health.state, quietType.listedAt = quiet, time.Now()
		var responded time.Time
		server.Fault = refuse(func(string, bool) int {
			responded = e.Now()
			return 0
		})
		e.poll(t.Context())
		if heard := quietType.at.heard; heard.IsZero() || heard.After(responded) {
			t.Errorf("the number is of %v, and the server responded at %v", heard, responded)
		}
	})
}

// If the server doesn't report the number of objects, the number is unknown, and not 1.
func TestUnknownNumber(t *testing.T) {
	k := newTestCounts()
	k.listedAs(&listing{objects: 200})
	if due := k.noteNumber(census.Size{Resource: pods, Objects: 1}, k.clock.now()); due || k.totals.objects != 200 {
		t.Errorf("%d objects, due: %v, want 200, and not due", k.totals.objects, due)
	}
}

// A type whose resource version is no number needs one list for each repeated count.
func TestNoNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		server.Wordy = true
		r := prepare(server).reflectorOf(t, pods)
		for lists, must := range []bool{false, true} {
			list := r.listAgain(t.Context(), must)
			if n := requests(server, false); list == nil || list.objects != 6 || n != lists+1 {
				t.Errorf("%+v after %d lists, want 6 objects after %d", list, n, lists+1)
			}
		}
		e := start(t, server, pods)
		e.reportsOnce(t, Unwatched)
		if reported := e.notices(Unwatched); !errors.Is(reported[0].Cause, errNoNumber) {
			t.Errorf("reported %+v, want the cause %v", reported, errNoNumber)
		}
		if torn := e.Snapshot().Inconsistent; len(torn) > 0 {
			t.Errorf("the lists of %v have several states, want none", torn)
		}
	})
}

// Lists of a server without states, such as Pinniped's, are not of several states.
func TestNoState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, `{"kind": "PodList", "metadata": {"resourceVersion": "0"}, "items": []}`)
			return true
		}
		if s := start(t, server, pods).Snapshot(); len(s.Inconsistent) > 0 || len(s.Skipped) > 0 {
			t.Errorf("inconsistent are %v, and skipped %+v, want none", s.Inconsistent, s.Skipped)
		}
	})
}

// A different number of objects is an error only if the watch delivered no event after it.
func TestDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		r := prepare(server).reflectorOf(t, pods)
		r.store.do((*counts).beginSweep)
		r.store.replace(&listing{objects: 5}, watched)
		trouble := &backoff{before: true, mute: maxMute}
		for i, want := range []error{nil, errMute} {
			if err := r.compare(t.Context(), 1, trouble); !errors.Is(err, want) {
				t.Errorf("%d: %v, want %v", i, err, want)
			}
		}
		trouble.heard()
		trouble.mute = maxMute
		if err := r.compare(t.Context(), 1, trouble); err != nil {
			t.Errorf("something was heard: %v", err)
		}
	})
}

// Before a watch is opened, the engine asks for the server's state. It doesn't wait long,
// even if the server doesn't respond.
func TestAskTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		ctx, release := context.WithTimeout(t.Context(), time.Minute)
		defer release()
		server.Fault = refuse(func(string, bool) int {
			<-ctx.Done()
			return 0
		})
		e := prepare(server, pods)
		e.Scanner.Config.Timeout = 0
		began := time.Now()
		// The response would be an earlier state.
		if err := e.reflectorOf(t, pods).compare(t.Context(), 1_000, &backoff{before: true}); err != nil {
			t.Errorf("%v, want no error without a response", err)
		}
		takes(t, began, 5*time.Second)
	})
}

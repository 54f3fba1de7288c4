package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// addRuns adds so many Pods of the prefix run-.
func addRuns(server *fakeServer, n int) {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	for range n {
		server.change("/api/v1/pods", "ADDED", object{Namespace: "prod", Name: generated("run-", random), GenerateName: "run-"})
	}
}

// A type is listed again when its number has changed since the last list, whatever of
// that is under prefixes which are not asked for, and for a tenth of the time at most.
func TestDue(t *testing.T) {
	listed := time.Unix(0, 0)
	k := &kind{}
	k.install(&listing{objects: 200, prefixed: 190, took: time.Minute}, listed)
	if k.unprefixed != 10 || k.state != quiet {
		t.Fatalf("%+v", k)
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
		{200, true, 31 * time.Minute, false},
	} {
		if got := k.due(census.Estimate{Objects: test.objects, Known: test.known}, 5, listed.Add(test.after)); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// Where one namespace is counted, a space of a cluster-scoped type passes, too.
func TestPassageOfClusterScoped(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	add := func(n int) {
		for range n {
			server.change("/api/v1/nodes", "ADDED", object{Name: generated("few-", random), GenerateName: "few-"})
		}
	}
	add(4)
	e := prepare(server, nodes)
	e.Namespace = "prod"
	e.run(t)
	add(2)
	eventually(t, func() string { return e.differs(map[string]int64{"nodes /few-": 6}) })
}

// A server whose watches never get anywhere does not have its types listed for ever.
func TestCountedInVain(t *testing.T) {
	for name, injure := range map[string]func(*fakeServer){
		"all states are gone": func(s *fakeServer) {
			s.refuses = func(_ string, watch bool) int {
				if watch {
					return http.StatusGone
				}
				return 0
			}
		},
		"each watch tells of an earlier state": func(s *fakeServer) { s.lies = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newFakeServer(t, 1)
			addRuns(server, 6)
			injure(server)
			e := start(t, server, pods)
			eventually(t, func() string {
				if n := len(e.notices(Unwatched)); n != 1 {
					return fmt.Sprintf("it was told %d times that it cannot be watched", n)
				}
				return ""
			})
			if gaps := e.Snapshot().Gaps; gaps != maxInVain {
				t.Errorf("counted again %d times", gaps)
			}
			addRuns(server, 1)
			eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 7}) })
		})
	}
}

// Without an event between, a type is counted again for a tenth of the time.
func TestRestBetweenCounts(t *testing.T) {
	now := time.Unix(0, 0)
	trouble := &trouble{}
	trouble.counted(time.Minute, now)
	if passed := trouble.until.Sub(now); passed != lookupPauses*time.Minute {
		t.Errorf("%v", passed)
	}
	trouble.heard()
	if !trouble.until.IsZero() || trouble.inVain != 0 {
		t.Errorf("%+v after an event", trouble)
	}
}

// An answer that is final for a type may be that of a server that has just started.
func TestFirstOpenRefused(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	var refused atomic.Int32
	server.refuses = func(_ string, watch bool) int {
		if watch && refused.Add(1) < firstOpens {
			return http.StatusForbidden
		}
		return 0
	}
	e := start(t, server, pods)
	addRuns(server, 1)
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 7}) })
	if rows := e.Snapshot().Rows; !rows[0].Followed || len(e.notices(Unwatched)) > 0 {
		t.Errorf("%+v, %+v", rows, e.told)
	}
}

// That the user ends the watch while a list is read is no failure.
func TestEndInAList(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	var hangs atomic.Bool
	reached, release := make(chan struct{}, 100), make(chan struct{})
	server.refuses = func(_ string, watch bool) int {
		if watch {
			return http.StatusMethodNotAllowed
		}
		if hangs.Load() {
			reached <- struct{}{}
			<-release
		}
		return 0
	}
	e := start(t, server, pods)
	hangs.Store(true)
	<-reached
	e.stop()
	close(release)
	if skipped := e.Snapshot().Skipped; len(skipped) > 0 {
		t.Errorf("%+v", skipped)
	}
}

// What is not read is named, also if it was never its turn.
func TestSkippedIsNamed(t *testing.T) {
	server := newFakeServer(t, 1)
	e := prepare(server, pods)
	for range listsAtOnce {
		e.lists <- struct{}{}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, skipped := e.list(ctx, &kind{resource: jobs}, "", time.Time{}, nil); skipped == nil ||
		skipped.Group != "batch" || skipped.Resource != "jobs" || skipped.Reason != census.Interrupted {
		t.Errorf("%+v", skipped)
	}
}

// What says a prefix and is gone before that is looked up keeps no other from it.
func TestLookedUpTooLate(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	addRuns(server, 1) // so that the type is watched
	for range 8 {
		server.change("/api/v1/pods", "ADDED", object{Namespace: "prod", Name: generated("late-", random)})
	}
	e := start(t, server, pods)
	says := object{Namespace: "prod", Name: "stranger", GenerateName: "late-"}
	server.change("/api/v1/pods", "ADDED", says)
	server.change("/api/v1/pods", "DELETED", says)
	late := spaces.ID{Namespace: "prod", Prefix: "late-", SuffixLength: suffixLength}
	eventually(t, func() string {
		e.Engine.mu.Lock()
		defer e.Engine.mu.Unlock()
		if _, is := e.kinds[0].lookups.refused[late]; !is {
			return "it was not refused"
		}
		return ""
	})
	server.change("/api/v1/pods", "ADDED", says)
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/late-": 8}) })
}

// With a selector, that an object says a prefix is no reason to look it up each time.
func TestSelects(t *testing.T) {
	e := New(census.Scanner{})
	if e.selects() {
		t.Error("no selector selects")
	}
	e.Scanner.Selector = labels.Everything()
	if e.selects() {
		t.Error("one that chooses all selects")
	}
	if e.Scanner.Selector = labels.SelectorFromSet(labels.Set{"a": "b"}); !e.selects() {
		t.Error("one that chooses does not")
	}
}

// A type that is only asked for its number is not up to date while it does not answer.
func TestQuietTypeAway(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	server.change("/api/v1/pods", "ADDED", object{Namespace: "prod", Name: "one"})
	var away atomic.Bool
	server.refuses = func(string, bool) int {
		if away.Load() {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	e := prepare(server, pods)
	e.Scanner.RetryTimeout = time.Millisecond
	e.run(t)
	for _, is := range []bool{true, false} {
		away.Store(is)
		eventually(t, func() string {
			skipped := e.Snapshot().Skipped
			if (len(skipped) == 1 && skipped[0].Reason == census.Unreachable && skipped[0].Resource == "pods") != is {
				return fmt.Sprintf("away: %v, %+v", is, skipped)
			}
			return ""
		})
	}
}

// Who made an object matters in a space that is being looked up, too.
func TestMakerWhileLookedUp(t *testing.T) {
	k, e := &kind{sketch: newSketch()}, New(census.Scanner{})
	o := &decode.Object{Namespace: "prod", Name: "run-24567", GenerateName: "run-"}
	in, _ := spaces.Of(o)
	k.sketch.add(in, 1)
	if when := k.whenMaker(e, o); when != decode.Never {
		t.Errorf("%v", when)
	}
	k.lookups.flying = map[spaces.ID]bool{in: true}
	if when := k.whenMaker(e, o); when != decode.Now {
		t.Errorf("%v", when)
	}
}

// An update may change generateName, so that more objects that say a prefix go than
// came: whether one is left that says it, a list tells.
func TestChangedGenerateName(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	var all []object
	for range 6 { // the first alone says it
		o := object{Namespace: "prod", Name: generated("run-", random)}
		if len(all) == 0 {
			o.GenerateName = "run-"
		}
		all = append(all, o)
		server.change("/api/v1/pods", "ADDED", o)
	}
	e := start(t, server, pods)
	for i := range 3 {
		all[i].GenerateName = "run-"
		server.change("/api/v1/pods", "MODIFIED", all[i])
	}
	remove := func(i int) { server.change("/api/v1/pods", "DELETED", all[i]) }
	remove(2)
	eventually(t, func() string {
		row := e.Snapshot().Rows[0]
		if row.Space.Names != 5 || row.Space.Generated != 2 {
			return fmt.Sprintf("%+v", row)
		}
		return ""
	})
	remove(1)
	remove(0)
	eventually(t, func() string { // nobody says it any more
		if rows := e.Snapshot().Rows; len(rows) > 0 {
			return fmt.Sprintf("%+v", rows)
		}
		return ""
	})
}

// One more that says a prefix goes than is known to: it is looked up.
func TestUnsaid(t *testing.T) {
	c := &counter{space: census.Space{Prefix: "run-", SuffixLength: suffixLength, Names: 3}}
	o := &decode.Object{Name: "run-24567", GenerateName: "run-"}
	if unsaid := c.deleted(o, time.Unix(0, 0)); !unsaid {
		t.Errorf("%+v", c.space)
	}
}

// What has no number as its state is listed once where it is counted again and again.
func TestNoNumber(t *testing.T) {
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	server.wordy = true
	e := prepare(server, pods)
	if list := e.listAgain(t.Context(), &kind{resource: pods}, false); list == nil || list.objects != 6 || server.lists != 1 {
		t.Errorf("%+v, %d lists", list, server.lists)
	}
}

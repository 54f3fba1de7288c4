package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

func resource(group, name string, namespaced bool) census.Resource {
	return census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}, Namespaced: namespaced,
	}
}

var (
	pods  = resource("", "pods", true)
	jobs  = resource("batch", "jobs", true)
	nodes = resource("", "nodes", false)
	paths = map[string]census.Resource{"/api/v1/pods": pods, "/apis/batch/v1/jobs": jobs, "/api/v1/nodes": nodes}
)

func generated(prefix string, random *rand.Rand) string {
	suffix := make([]byte, names.SuffixLength)
	for i := range suffix {
		suffix[i] = names.Alphabet[random.IntN(len(names.Alphabet))]
	}
	return names.EffectivePrefix(prefix) + string(suffix)
}

// started is an engine that runs until the test ends, and its notices.
type started struct {
	*Engine
	stop     func() // ends the engine, and waits until it has
	mu       sync.Mutex
	reported []Notice
}

func (s *started) notices(what NoticeType) (found []Notice) {
	if what == Gap { // the engine counts a gap before it sends the notice
		for counted, deadline := s.Snapshot().Gaps, time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if len(s.reportedOf(Gap)) >= counted {
				break
			}
		}
	}
	return s.reportedOf(what)
}

// reportsOnce waits until the engine has reported a notice, and fails if the engine reports it again.
func (s *started) reportsOnce(t *testing.T, what NoticeType) {
	t.Helper()
	until(t, func() (bool, any) {
		n := len(s.notices(what))
		return n == 1, fmt.Sprintf("%s was reported %d times: %+v", what, n, s.Snapshot().Skipped)
	})
}

func (s *started) reportedOf(what NoticeType) (found []Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.reported {
		if n.Type == what {
			found = append(found, n)
		}
	}
	return found
}

// start runs an engine with a MinCount of 5 beside the test, and returns when the engine has counted all types.
func start(t *testing.T, server *fakeapi.Server, types ...census.Resource) *started {
	t.Helper()
	s := prepare(server, types...)
	s.run(t)
	return s
}

// prepare returns the engine that start runs.
func prepare(server *fakeapi.Server, types ...census.Resource) *started {
	s := &started{Engine: New(census.Scanner{Config: server.Config, Version: "v1.36.0"})}
	s.Types, s.MinCount = types, 5
	s.Notify = func(n Notice) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reported = append(s.reported, n)
	}
	return s
}

// newTestCounts returns counts of Pods with a MinCount of 5.
func newTestCounts() *counts {
	c := newCounts(pods, &Policy{MinCount: 5}, &pools.Rules{MinCount: 5}, &clock{})
	c.health.state = watched
	return c
}

// reflectorOf returns the reflector of a type in an engine that does not run.
func (s *started) reflectorOf(t *testing.T, r census.Resource) *reflector {
	t.Helper()
	s.connected(t)
	if s.types.of(r.GroupResource()) == nil {
		s.types.add(s.newReflector(r))
	}
	return s.types.of(r.GroupResource())
}

// connected prepares an engine that does not run for requests.
func (s *started) connected(t *testing.T) {
	t.Helper()
	if s.source == nil {
		if err := s.connect(); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *started) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	<-s.Counted()
}

// snapshot is a Snapshot with its rows.
type snapshot struct {
	Snapshot
	Rows []pools.Row
}

func (s *started) Snapshot() (all snapshot) {
	all.Snapshot = s.Engine.Snapshot(func(r pools.Row) { all.Rows = append(all.Rows, r) })
	return all
}

// until waits until a condition is true. If that takes too long, it fails and prints the state.
func until(t *testing.T, is func() (ok bool, state any)) {
	t.Helper()
	eventually(t, func() string {
		ok, state := is()
		if ok {
			return ""
		}
		return fmt.Sprintf("%+v", state)
	})
}

// until waits until a condition is true for the snapshot of the engine.
func (s *started) until(t *testing.T, is func(snapshot) bool) {
	t.Helper()
	until(t, func() (bool, any) { now := s.Snapshot(); return is(now), now })
}

// hasRuns waits until the engine has counted so many Pods of the prefix run-, and nothing else.
func (s *started) hasRuns(t *testing.T, names int64) {
	t.Helper()
	eventually(t, func() string { return s.differs(map[string]int64{"pods prod/run-": names}) })
}

// eventually waits up to a day of synthetic time, until check returns no complaint.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	complaint := ""
	for deadline := time.Now().Add(24 * time.Hour); time.Now().Before(deadline); time.Sleep(time.Second) {
		if complaint = check(); complaint == "" {
			return
		}
	}
	t.Fatal(complaint)
}

// fresh counts the server's objects again.
func fresh(t *testing.T, server *fakeapi.Server, types ...census.Resource) map[string]int64 {
	t.Helper()
	scanner := census.Scanner{Config: server.Config, Version: "v1.36.0"}
	counts, summary, err := scanner.Count(t.Context(), types, "")
	if err != nil || len(summary.Skipped) > 0 {
		t.Fatalf("skipped %+v, want none: %v", summary.Skipped, err)
	}
	found := map[string]int64{}
	for p := range counts.All() {
		found[labelOf(p.Key)] = p.Names
	}
	return found
}

func labelOf(key pools.Key) string {
	return fmt.Sprintf("%s %s/%s", key.GroupResource, key.Namespace, key.Prefix)
}

// differs returns the differences between the names of an engine and a fresh count. While the engine reads
// a list, it counts the objects one by one, and has not counted the gap yet.
func (s *started) differs(want map[string]int64) string {
	for _, r := range s.types.list() {
		if get(r.store, func(c *counts) bool { return c.sweep != nil }) {
			return r.resource.Resource + " is being listed"
		}
	}
	got := map[string]int64{}
	for _, row := range s.Snapshot().Rows {
		got[labelOf(row.Pool.Key)] = row.Pool.Names
	}
	var wrong []string
	for label, n := range want {
		if got[label] != n {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want %d", label, got[label], n))
		}
	}
	for label, n := range got {
		if n > 0 && want[label] != n {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want %d", label, n, want[label]))
		}
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "\n")
}

// churn makes random creates and deletes, and counts them.
type churn struct {
	server           *fakeapi.Server
	random           *rand.Rand
	alive            map[string][]meta // by path
	creates, deletes map[string]int64  // by label
}

func newChurn(server *fakeapi.Server, seed uint64) *churn {
	return &churn{
		server: server, random: rand.New(rand.NewPCG(seed, 2)), alive: map[string][]meta{},
		creates: map[string]int64{}, deletes: map[string]int64{},
	}
}

var prefixes = []string{"run-", "run-a-", "job-", strings.Repeat("x", 58) + "-one-", strings.Repeat("x", 58) + "-two-", "rare-"}

// step makes one change.
func (c *churn) step(deletes int) {
	all := []string{"/api/v1/pods", "/apis/batch/v1/jobs", "/api/v1/nodes"}
	path := all[c.random.IntN(len(all))]
	if alive := c.alive[path]; len(alive) > 0 && c.random.IntN(100) < deletes {
		at := c.random.IntN(len(alive))
		ended := slices.Clone(alive[at:min(at+1+2*(c.random.IntN(16)/15), len(alive))])
		c.alive[path] = slices.Delete(alive, at, at+len(ended))
		for _, o := range ended {
			c.count(c.deletes, path, o)
		}
		c.server.End(path, ended...)
		return
	}
	prefix := prefixes[min(c.random.IntN(len(prefixes)), c.random.IntN(len(prefixes)))]
	o := meta{Name: generated(prefix, c.random), GenerateName: prefix}
	switch c.random.IntN(20) {
	case 0: // with a fixed name
		o.GenerateName = ""
	case 2, 3: // a prefix that begins during the watch
		o.GenerateName = fmt.Sprintf("new-%d-", c.random.IntN(20))
		o.Name = generated(o.GenerateName, c.random)
	case 1: // has a generateName that its name does not begin with
		o.Name = fmt.Sprintf("named-%d", c.random.Int())
	}
	if paths[path].Namespaced {
		o.Namespace = []string{"prod", "prod-a", "test"}[c.random.IntN(3)]
	}
	o.CreationTimestamp = metav1.Unix(c.server.Clock, 0)
	c.alive[path] = append(c.alive[path], o)
	c.count(c.creates, path, o)
	c.server.Change(path, "ADDED", o)
	if c.random.IntN(3) == 0 {
		c.server.Change(path, "MODIFIED", o)
	}
}

func (c *churn) count(in map[string]int64, path string, o meta) {
	if prefix, _, ok := names.Split(o.Name); ok {
		in[labelOf(pools.Key{GroupResource: paths[path].GroupResource(), Namespace: o.Namespace, Prefix: prefix})]++
	}
}

// Objects are created and deleted while watches break, end in the middle of an event, or expire, and while
// a server shows earlier states. The names agree with a fresh count. The engine never counts too many
// creates and deletes. They add up, unless a watch was mute or lost events, and are exact without a gap.
func TestChurn(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), bubble(func(t *testing.T) {
			server := newFakeServer(t, seed)
			c := newChurn(server, seed)
			for range 600 {
				c.step(30)
			}
			before := fresh(t, server, pods, jobs, nodes)
			clear(c.creates)
			clear(c.deletes)
			e := start(t, server, pods, jobs, nodes)
			counted := time.Now()
			if wrong := e.differs(before); wrong != "" {
				t.Fatal(wrong)
			}
			server.Lock()
			server.Faults = seed > 1 // without faults, there is no gap
			server.Unlock()
			for i := range 1200 {
				c.step(45)
				if i%40 == 0 {
					time.Sleep(10 * time.Millisecond)
				}
				if seed > 3 && i%400 == 399 {
					server.Forget()
				}
			}
			server.Lock()
			server.Faults = false
			server.Unlock()
			for path := range paths { // the names can be right before the engine has counted the last create and delete
				add(server, path, "last-", 1)
			}
			want := fresh(t, server, pods, jobs, nodes)
			eventually(t, func() string { return e.differs(want) })
			check(t, e, c, before, counted, seed <= 1)
		}))
	}
}

// check compares the counted creates and deletes with those that the test made.
func check(t *testing.T, e *started, c *churn, before map[string]int64, counted time.Time, exact bool) {
	t.Helper()
	snapshot := e.Snapshot()
	if reported := e.notices(Gap); len(reported) != snapshot.Gaps || exact && len(reported) > 0 {
		t.Errorf("%d gaps, %d reported, want the same number, and none without faults", snapshot.Gaps, len(reported))
	}
	seen, asAfterABackup := 0, slices.ContainsFunc(e.notices(Gap), func(n Notice) bool { // then some never count
		return errors.Is(n.Cause, errMissed) || errors.Is(n.Cause, errMute)
	})
	for _, row := range snapshot.Rows {
		label := labelOf(row.Pool.Key)
		was, is := before[label]
		if !is || was < e.MinCount || row.Since.After(counted) {
			continue // the engine began to count later
		}
		seen++
		if row.Pool.Names != was+row.Creates-row.Deletes && (row.Gaps == 0 || !asAfterABackup) {
			t.Errorf("%s: %d names after %d, %d creates, %d deletes", label, row.Pool.Names, was, row.Creates, row.Deletes)
		}
		creates, deletes := c.creates[label], c.deletes[label]
		if row.Creates > creates || row.Deletes > deletes ||
			(exact || row.Gaps == 0) && (row.Creates != creates || row.Deletes != deletes) {
			t.Errorf("%s: %d creates and %d deletes with %d gaps, there were %d and %d",
				label, row.Creates, row.Deletes, row.Gaps, creates, deletes)
		}
	}
	if seen < 5 {
		t.Errorf("only %d spaces were counted from the beginning", seen)
	}
	if len(snapshot.Skipped) > 0 {
		t.Errorf("skipped %+v, want nothing skipped", snapshot.Skipped)
	}
}

// The engine reports a prefix as soon as an object has this generateName. All names with the prefix are
// counted, also older ones, until no object has the generateName. The engine needs no list for this.
func TestPassage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		random := rand.New(rand.NewPCG(1, 1))
		add(server, "/api/v1/pods", "other-", 1) // so that the type is watched
		for range 8 {                            // too few to be reported
			pod(server, generated("late-", random), "") // without a generateName
		}
		e := start(t, server, pods)
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/other-": 1}) })
		declaring := add(server, "/api/v1/pods", "late-", 1)[0]
		pod(server, "late-x7k2px7k2p", "late-") // created with a key
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/other-": 1, "pods prod/late-": 10}) })
		for _, row := range e.Snapshot().Rows {
			if row.Pool.Prefix == "late-" && (row.Creates != 2 || row.Pool.Generated != 2) {
				t.Errorf("%d creates and %d generated names, want 2 and 2", row.Creates, row.Pool.Generated)
			}
		}
		server.Change("/api/v1/pods", "DELETED", declaring)
		server.Change("/api/v1/pods", "DELETED", meta{Namespace: "prod", Name: "late-x7k2px7k2p", GenerateName: "late-"})
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/other-": 1}) })
		if reported, lists := e.notices(Gap), requests(server, false); len(reported) > 0 || lists != 1 {
			t.Errorf("%d lists and the gaps %+v, want one list and no gap", lists, reported)
		}
	})
}

// In a gap, the engine misses only objects that were both created and deleted in it. All other creates and
// deletes are counted exactly. The report has the gap.
func TestGapIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		old := addRuns(server, 500)
		down := refusal(server, nil)
		e := start(t, server, pods)
		down.Store(http.StatusServiceUnavailable)
		server.Restart()
		e.until(t, func(s snapshot) bool { return s.Resources[0].Behind != 0 })
		for range 8 {
			created := addRuns(server, 200)
			server.End("/api/v1/pods", created[:100]...) // created and deleted in the gap
			server.End("/api/v1/pods", old[:30]...)
			old = old[30:]
		}
		add(server, "/api/v1/pods", "new-", 40)
		server.Forget()
		down.Store(0)
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 1060, "pods prod/new-": 40}) })
		for _, row := range e.Snapshot().Rows {
			creates, deletes := int64(800), int64(240)
			if row.Pool.Prefix == "new-" {
				creates, deletes = 40, 0
			}
			if row.Creates != creates || row.Deletes != deletes || row.Gaps != 1 {
				t.Errorf("%s: %d creates and %d deletes, want %d and %d, %d gaps",
					row.Pool.Prefix, row.Creates, row.Deletes, creates, deletes, row.Gaps)
			}
		}
		s := e.Snapshot()
		if c := s.Resources[0]; c.Creates != 840 || c.Names != 1100 {
			t.Errorf("%d creates and %d names, want 840 and 1,100", c.Creates, c.Names)
		}
		if len(s.Others) > 0 {
			t.Errorf("%d creates of other names, want none", s.Others[0].Creates)
		}
	})
}

// While the engine lists a type after a gap, it shows the names from before the gap. It never counts names
// that were deleted in the gap together with names that were created in the gap.
func TestNamesWhileListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		old := addRuns(server, 600)
		down := refusal(server, ofAWatch)
		var holds atomic.Bool
		held, refuses := make(chan struct{}), server.Fault
		server.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if holds.Load() && r.URL.Query().Has("continue") {
				<-held
			}
			return refuses(n, w, r)
		}
		e := prepare(server, pods)
		e.Scanner.ChunkSize = 300
		e.run(t)
		down.Store(http.StatusServiceUnavailable)
		server.Restart()
		e.until(t, func(s snapshot) bool { return s.Resources[0].Behind != 0 })
		server.End("/api/v1/pods", old...)
		addRuns(server, 600)
		holds.Store(true)
		server.Forget()
		down.Store(0)
		r := e.types.of(pods.GroupResource())
		until(t, func() (bool, any) {
			seen := get(r.store, func(c *counts) int { return len(c.members) })
			return seen > 600, seen
		})
		if s := e.Snapshot(); namesOf(s) != 600 || s.Resources[0].Names != 600 {
			t.Errorf("%d names, and %d of the type, want 600", namesOf(s), s.Resources[0].Names)
		}
		close(held)
		e.hasRuns(t, 600)
	})
}

// The engine counts names under prefixes above the limit together. It reports the limit, and the type is
// incomplete.
func TestTooManyPrefixes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func(before int) { MaxPrefixes = before }(MaxPrefixes)
		MaxPrefixes = 3
		server := newRuns(t)
		e := start(t, server, pods)
		time.Sleep(5 * quietEvery)
		if early := e.reportedOf(Crowded); len(early) > 0 {
			t.Errorf("reported %+v, want nothing yet", early)
		}
		for i := range 5 {
			add(server, "/api/v1/pods", fmt.Sprintf("new-%d-", i), 1)
		}
		e.until(t, func(s snapshot) bool {
			c := s.Resources[0]
			return len(s.Rows) == 3 && c.Names == 11 && c.Other == 3 && len(s.Skipped) == 1 && len(e.notices(Crowded)) == 1
		})
		time.Sleep(5 * quietEvery)
		for _, n := range e.reportedOf(Crowded)[1:] {
			t.Errorf("reported again: %+v", n)
		}
	})
}

// Stems above the limit have no row, so a gate can't check them.
func TestTooManyStems(t *testing.T) {
	for gated, want := range map[bool]int{false: 0, true: 1} {
		t.Run(fmt.Sprintf("gated %t", gated), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer func(before int) { MaxPrefixes = before }(MaxPrefixes)
				MaxPrefixes = 3
				server := newFakeServer(t, 1)
				for i := range 30 {
					pod(server, fmt.Sprintf("a%c-1", 'a'+i%5), "")
					pod(server, fmt.Sprint("z-", i), "")
				}
				e := prepare(server, pods)
				e.Gated = gated
				e.run(t)
				e.until(t, func(s snapshot) bool { return len(s.Skipped) == want })
			})
		})
	}
}

// A server that is restored from a backup sends no events until it reaches the state where the watch
// begins. The engine counts its types again, and continues. The totals of a type include all prefixes.
// Neither the objects of the first list nor the restored objects count as creates.
func TestRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		few := add(server, "/api/v1/pods", "few-", 1)[0]
		pod(server, "plain", "")
		backup := server.Backup()
		e := start(t, server, pods)
		counts := func(names, least, most int64, gaps int) {
			t.Helper()
			e.until(t, func(s snapshot) bool {
				c := s.Resources[0]
				return c.Names == names && c.Creates >= least && c.Creates <= most && c.Gaps == gaps && c.Behind == 0
			})
		}
		counts(7, 0, 0, 0)
		addRuns(server, 10)
		pod(server, "plain-too", "")
		server.Change("/api/v1/pods", "DELETED", few)
		counts(16, 10, 10, 0)
		backup.Restore()
		addRuns(server, 1)
		counts(8, 10, 11, 1)
		addRuns(server, 2)
		counts(10, 12, 13, 1) // the restored server lacks ten objects, without an event
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 9, "pods prod/few-": 1}) })
		if reported := e.notices(Gap); len(reported) != 1 {
			t.Errorf("reported %+v, want one gap", reported)
		}
		for _, row := range e.Snapshot().Rows {
			if row.Gaps != 1 || row.Pool.Prefix == "run-" && (row.Creates < 12 || row.Creates > 13 || row.Deletes > 0) {
				t.Errorf("%s: %d gaps, %d creates and %d deletes, want one gap, 12 or 13 creates of run-, and no delete",
					row.Pool.Prefix, row.Gaps, row.Creates, row.Deletes)
			}
		}
	})
}

// While one type waits, the engine counts the events of another type.
func TestTypesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		add(server, "/apis/batch/v1/jobs", "b-", 1)
		e := prepare(server, pods, jobs)
		held, release := make(chan struct{}), make(chan struct{})
		reached := sync.OnceFunc(func() { close(held) })
		var holds atomic.Bool
		e.Takes = func(resource schema.GroupResource, _ string) bool {
			if holds.Load() && resource == pods.GroupResource() {
				reached()
				<-release
			}
			return true
		}
		e.run(t)
		holds.Store(true)
		addRuns(server, 1)
		<-held
		add(server, "/apis/batch/v1/jobs", "b-", 1)
		until(t, func() (bool, any) {
			names := rowsOf(e.types.of(jobs.GroupResource()).store)["b-"].Pool.Names
			return names == 2, names
		})
		close(release)
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 7, "jobs.batch prod/b-": 2}) })
	})
}

// The engine watches a type only when the type has a prefix. The objects that gave the type its prefix
// count as creates. Older objects don't.
func TestQuietTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		random := rand.New(rand.NewPCG(1, 1))
		server.Change("/api/v1/pods", "ADDED", meta{Namespace: "prod", Name: generated("run-", random)})
		e := prepare(server, pods)
		found := []census.Resource{pods, jobs} // the server adds Jobs later
		e.Discover = func(context.Context) ([]census.Resource, error) { return found, nil }
		e.run(t)
		server.Lock()
		server.Clock++
		server.Unlock()
		addRuns(server, 7)
		add(server, "/apis/batch/v1/jobs", "b-", 7)
		began := time.Now()
		eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 8, "jobs.batch prod/b-": 7}) })
		takes(t, began, time.Minute)
		eventually(t, func() string { // the names can be right before the rates, the notices and the watch are
			for _, row := range e.Snapshot().Rows {
				if row.Pool.Prefix == "run-" && (row.Creates != 7 || row.Gaps == 0 || row.Weighed[0].Creates == 0) {
					return fmt.Sprintf("%+v", row)
				}
			}
			if appeared, watched := e.notices(Appeared), e.notices(Watched); len(appeared) != 1 || len(watched) != 1 {
				return fmt.Sprintf("%+v, %+v", appeared, watched)
			}
			if requests(server, true) == 0 {
				return "it is not watched"
			}
			return ""
		})
	})
}

// A type that a user named is watched although it has no prefixes. So the engine counts the first create
// under a prefix at once, and exactly. The type stays watched when its last object is deleted.
func TestWatchAllTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		pod(server, "plain", "")
		e := prepare(server, pods)
		e.MinCount, e.WatchAll, e.Scanner.Prefixes = 1, true, []string{"run-"}
		e.run(t)
		until(t, func() (bool, any) { n := requests(server, true); return n == 1, n })
		for range 2 {
			began := time.Now()
			created := addRuns(server, 1)
			e.hasRuns(t, 1)
			takes(t, began, 0)
			server.Change("/api/v1/pods", "DELETED", created[0])
			e.until(t, func(s snapshot) bool { return s.Rows[0].Deletes == s.Rows[0].Creates })
		}
		time.Sleep(5 * quietEvery)
		s := e.Snapshot()
		if row := s.Rows[0]; row.Creates != 2 || row.Gaps != 0 || s.Gaps != 0 || s.Watched != 1 || s.Quiet != 0 {
			t.Errorf("%+v of %+v, want two creates without a gap of a type that is watched", row, s.Snapshot)
		}
	})
}

// A prefix with objects from before the burst isn't new, so the rates of its creates don't begin with the burst.
func TestBurstUnderAnOldPrefix(t *testing.T) {
	k := newTestCounts()
	k.beginSweep()
	visit(k, &object.Object{Namespace: "prod", Name: "old-bcdfg", Created: 10})
	k.replace(&listing{began: k.clock.now()}, uncounted)
	began, heard := k.began, k.clock.now()
	if k.health.state != quiet {
		t.Fatalf("the state is %v, want %v", k.health.state, quiet)
	}
	k.noteNumber(census.Size{Resource: pods, Known: true}, heard)
	k.beginSweep()
	visit(k, &object.Object{Namespace: "prod", Name: "old-bcdfg", Created: 10})
	for _, name := range []string{"bcdfh", "bcdfj"} {
		for _, prefix := range []string{"old-", "new-"} {
			visit(k, &object.Object{Namespace: "prod", Name: prefix + name, GenerateName: prefix, Created: 20})
		}
	}
	k.replace(&listing{began: k.clock.now()}, uncounted)
	rows := k.rowsOf()
	if row := rows["old-"]; !row.Since.Equal(began) || row.Creates != 2 || row.Gaps != 1 {
		t.Errorf("old-: since %v, %d creates, %d gaps, want since %v, 2 creates, one gap", row.Since, row.Creates, row.Gaps, began)
	}
	if row := rows["new-"]; !row.Since.Equal(heard) || row.Creates != 2 || row.Gaps != 1 {
		t.Errorf("new-: since %v, %d creates, %d gaps, want since %v, 2 creates, one gap", row.Since, row.Creates, row.Gaps, heard)
	}
}

// Each window shows a steady rate correctly from the beginning, and forgets old events.
func TestRates(t *testing.T) {
	began := time.Unix(0, 0)
	r := &rates{last: began}
	now := began
	for range 3 * 3600 { // two creates and a delete each second
		now = now.Add(time.Second)
		r.add(now, now, 2, 1)
		if passed := now.Sub(began); passed == 10*time.Second || passed == time.Minute || passed == 3*time.Hour {
			for i := range pools.Windows {
				if c, d := rateOf(r.at(now), i, passed); c < 1.85 || c > 2.2 || d < 0.92 || d > 1.1 {
					t.Errorf("after %v, in %v: %.2f creates and %.2f deletes a second, want 2 and 1", passed, pools.Windows[i], c, d)
				}
			}
		}
	}
	after := r.at(now.Add(time.Hour))
	minute, _ := rateOf(after, 0, 4*time.Hour)
	if hour, _ := rateOf(after, 2, 4*time.Hour); minute > 1e-9 || hour < 0.5 || hour > 0.9 {
		t.Errorf("an hour later, %v creates a second in the minute and %v in the hour, want 0 and 0.5 to 0.9", minute, hour)
	}
}

// A steady rate stays the same over a gap, in which the times of creates are unknown, and after it.
func TestSteadyOverAGap(t *testing.T) {
	began := time.Unix(0, 0)
	for _, gap := range []time.Duration{30 * time.Second, 10 * time.Minute, time.Hour} {
		k, now := newTestCounts(), began
		k.listedAs(&listing{began: now})
		var all []*object.Object
		add := func() *object.Object {
			o := &object.Object{Namespace: "prod", Name: fmt.Sprintf("run-%s", censustest.SuffixOf(len(all))), GenerateName: "run-"}
			all = append(all, o)
			return o
		}
		for range 2 * 3600 { // one each second
			now = now.Add(time.Second)
			k.change(changed{decode.Added, add(), now, now})
			k.at.heard = now
		}
		now = now.Add(gap)
		for range int(gap.Seconds()) {
			add()
		}
		k.beginSweep()
		visit(k, all...)
		k.replaceAfterGap(&listing{began: now}, nil)
		number, _ := k.set.Number("prod", "run-", object.FromGenerateName)
		for i := range pools.Windows {
			perSecond, _ := rateOf(k.pools[number].rates.at(now), i, now.Sub(began))
			if perSecond < 0.95 || perSecond > 1.05 {
				t.Errorf("a gap of %v: %v creates a second in %v, want 1", gap, perSecond, pools.Windows[i])
			}
		}
	}
}

// The engine rejects a list if an earlier attempt to read it flagged an object that no longer exists.
func TestStaleList(t *testing.T) {
	k := newTestCounts()
	one := &object.Object{Namespace: "prod", Name: "run-bcdfg", GenerateName: "run-"}
	two := &object.Object{Namespace: "prod", Name: "run-bcdfh", GenerateName: "run-"}
	k.beginSweep()
	for _, o := range []*object.Object{one, two} {
		if v := (&visitor{store: &store{counts: k}}); v.Visit(o) == nil {
			v.flush() // but not committed
		}
	}
	visit(k, two)
	if !k.isStale() {
		t.Error("an object that was deleted would stay")
	}
	k.beginSweep()
	visit(k, two)
	if k.isStale() {
		t.Error("a list of its own is stale")
	}
	k.replaceAfterGap(&listing{version: 1}, nil)
	if row := k.rowsOf()["run-"]; row.Creates != 1 || row.Deletes != 0 || row.Pool.Names != 1 {
		t.Errorf("%d creates, %d deletes, %d names, want one create and one name", row.Creates, row.Deletes, row.Pool.Names)
	}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// pod adds a Pod with the name and the generateName.
func pod(server *fakeapi.Server, name, generateName string) {
	server.Change("/api/v1/pods", "ADDED", meta{Namespace: "prod", Name: name, GenerateName: generateName})
}

// verified verifies the counts of an engine, and returns them.
func verified(t *testing.T, e *started) snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e.Verify(ctx)
	e.stop()
	return e.Snapshot()
}

// namesOf returns the names of the only row, or -1.
func namesOf(s snapshot) int64 {
	if len(s.Rows) != 1 {
		return -1
	}
	return s.Rows[0].Pool.Names
}

// Types that fill in the last minute are counted: types without prefixes, new types, and
// types whose plain objects others have replaced.
func TestVerifyWhatFills(t *testing.T) {
	for name, test := range map[string]struct {
		plain int
		found []census.Resource // at the end
	}{
		"a type without objects": {0, []census.Resource{pods}},
		"plain objects":          {60, []census.Resource{pods}},
		"a new type":             {0, []census.Resource{pods, jobs}},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			server := newFakeServer(t, 1)
			for i := range test.plain {
				pod(server, "p"+strings.Repeat("o", i), "") // no stem, so the type isn't watched
			}
			e := prepare(server, pods)
			e.Discover = func(context.Context) ([]census.Resource, error) { return test.found, nil }
			e.run(t)
			path := "/api/v1/pods"
			if len(test.found) > 1 {
				path = "/apis/batch/v1/jobs"
			}
			server.End(path, server.Objects(path)...)
			add(server, path, "run-", 60)
			if s := verified(t, e); namesOf(s) != 60 || len(s.Skipped) > 0 {
				t.Errorf("%d names, skipped %+v, want 60 names", namesOf(s), s.Skipped)
			}
		}))
	}
}

// Types that can't be verified at the end are skipped: a type that doesn't respond any
// more, all types if there is no time, and types that can't be discovered.
func TestVerifyInVain(t *testing.T) {
	for name, test := range map[string]struct {
		refusal int32 // of all requests at the end
		time    time.Duration
		err     error // of discovery
		want    census.Reason
	}{
		"unreachable":  {http.StatusServiceUnavailable, time.Minute, nil, census.Unreachable},
		"no time":      {0, 0, nil, census.Interrupted},
		"undiscovered": {0, time.Minute, errors.New("refused"), census.Undiscovered},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			server := newRuns(t)
			refused := refusal(server, ofAList)
			e := prepare(server, pods)
			e.Scanner.RetryTimeout = time.Millisecond
			e.Discover = func(context.Context) ([]census.Resource, error) { return []census.Resource{pods}, test.err }
			e.run(t)
			refused.Store(test.refusal)
			ctx, cancel := context.WithTimeout(t.Context(), test.time)
			defer cancel()
			e.Verify(ctx)
			if s := e.Snapshot(); len(s.Skipped) != 1 || s.Skipped[0].Reason != test.want {
				t.Errorf("skipped %+v, want one type because of %s", s.Skipped, test.want)
			}
		}))
	}
}

// Nothing is counted again, and nothing is skipped, where all is well.
func TestVerifyBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		e := start(t, server, pods, jobs)
		ctx, stop := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		busy.Go(func() {
			for apistatus.Sleep(ctx, 100*time.Millisecond) == nil {
				addRuns(server, 1)
			}
		})
		time.Sleep(3 * quietEvery) // the number is compared in between, too
		s := verified(t, e)
		stop()
		busy.Wait()
		if s.Gaps > 0 || len(s.Skipped) > 0 || namesOf(s) < 1800 {
			t.Errorf("%d names after %d gaps, skipped %+v, want 1,800 names and no gap", namesOf(s), s.Gaps, s.Skipped)
		}
	})
}

// A number that was requested before a list says nothing about the list, and causes no gap.
func TestNumberIsFromBeforeTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTestCounts()
		k.at.version, k.totals.objects = 7, 9
		k.expectNumber()
		k.beginSweep()
		k.replaceAfterGap(&listing{began: k.clock.now(), version: 20, objects: 30}, nil)
		if err := k.compare(census.Size{Objects: 12, Known: true, ResourceVersion: "10"}); err != nil {
			t.Error(err)
		}
		k.arrives(t, decode.Added, "run-bcdfg", "run-")
	})
}

// Lost events are noticed within a minute.
func TestLostEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		e := start(t, server, pods)
		server.Lock()
		server.Loses = 10
		server.Unlock()
		addRuns(server, 50)
		e.hasRuns(t, 56)
		row := e.Snapshot().Rows[0]
		if reported := e.notices(Gap); len(reported) == 0 || !errors.Is(reported[0].Cause, errMissed) && !errors.Is(reported[0].Cause, errMute) || row.Creates > 50 {
			t.Errorf("%d creates, reported %+v, want at most 50 creates and a gap because of missed events", row.Creates, reported)
		}
	})
}

// An etcd was restored under a running server, and has since passed the state of the watch. The number of objects
// shows this.
func TestRestoredAndAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		addRuns(server, 60)
		backup := server.Backup()
		e := start(t, server, pods)
		addRuns(server, 50)
		e.hasRuns(t, 110)
		backup.RestoreAhead(100)
		addRuns(server, 10)
		e.hasRuns(t, 70)
		row := e.Snapshot().Rows[0]
		if reported := e.notices(Gap); len(reported) != 1 || row.Creates > 60 || row.Deletes > 0 {
			t.Errorf("%d creates and %d deletes, reported %+v, want at most 60, none, and one gap", row.Creates, row.Deletes, reported)
		}
	})
}

// Some servers send deletes without the UID and the generateName. The type is listed again, because the deleted object
// isn't known.
func TestDeletesWithoutUID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		var objects []meta
		for i := range 30 {
			objects = append(objects, meta{
				Namespace: "prod", Name: "run-" + censustest.SuffixOf(i), GenerateName: "run-", UID: types.UID(fmt.Sprint("uid-", i)),
			})
			server.Change("/api/v1/pods", "ADDED", objects[i])
		}
		e := start(t, server, pods)
		for _, o := range objects[:8] {
			server.Change("/api/v1/pods", "DELETED", meta{Namespace: o.Namespace, Name: o.Name})
		}
		e.hasRuns(t, 22)
		if row := e.Snapshot().Rows[0]; row.Gaps == 0 || row.Creates > 0 {
			t.Errorf("%d gaps and %d creates, want at least one gap and no create", row.Gaps, row.Creates)
		}
	})
}

// Objects that a backup brings back don't count as creates.
func TestRestoredObjectsAreNotCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, 1)
		addRuns(server, 60)
		backup := server.Backup()
		server.End("/api/v1/pods", server.Objects("/api/v1/pods")[10:]...)
		e := start(t, server, pods)
		server.Lock()
		server.Clock++
		server.Unlock()
		backup.Restore()
		server.Lock()
		server.Clock += 10
		server.Unlock()
		addRuns(server, 5)
		e.hasRuns(t, 65)
		if row := e.Snapshot().Rows[0]; row.Creates > 5 || row.Gaps == 0 {
			t.Errorf("%d creates and %d gaps, want at most 5 and at least 1", row.Creates, row.Gaps)
		}
	})
}

// If types can't be discovered, the engine reports this once, and new types may be missing.
func TestUndiscovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		e := prepare(server, pods)
		var fails atomic.Bool
		fails.Store(true)
		e.Discover = func(context.Context) ([]census.Resource, error) {
			if fails.Load() {
				return nil, errors.New("refused")
			}
			return []census.Resource{pods}, nil
		}
		e.run(t)
		e.until(t, func(s snapshot) bool { return len(s.Skipped) == 1 && s.Skipped[0].Message == "refused" })
		time.Sleep(2 * quietEvery)
		if reported := e.notices(Undiscovered); len(reported) != 1 {
			t.Errorf("reported %+v, want one report", reported)
		}
		fails.Store(false)
		e.until(t, func(s snapshot) bool { return len(s.Skipped) == 0 })
	})
}

// Named types are discovered only while one of them is gone. When it is back, an earlier failure doesn't matter.
func TestUndiscoveredWhileGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := prepare(newFakeServer(t, 1), pods)
		e.Named = true
		e.Discover = func(context.Context) ([]census.Resource, error) { return nil, errors.New("refused") }
		health := &e.reflectorOf(t, pods).store.counts.health
		for _, step := range []struct {
			state   state
			skipped int
		}{{gone, 2}, {quiet, 0}} {
			health.state = step.state
			e.discover(t.Context())
			if s := e.Snapshot(); len(s.Skipped) != step.skipped {
				t.Errorf("state %d: skipped %+v, want %d", step.state, s.Skipped, step.skipped)
			}
		}
	})
}

// A type that a user named is skipped when it is gone, and counted again when it is
// back.
func TestNamedTypeIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newRuns(t)
		removed := removable(server)
		e := prepare(server, pods)
		e.Named = true
		e.Discover = func(context.Context) ([]census.Resource, error) {
			if removed.Load() {
				return nil, nil
			}
			return []census.Resource{pods}, nil
		}
		e.run(t)
		removed.Store(true)
		server.Restart()
		gone := func(s snapshot) bool {
			return len(s.Skipped) == 1 && s.Skipped[0].Reason == census.NotFound && len(s.Types) == 1
		}
		e.until(t, gone)
		for range 10 {
			time.Sleep(quietEvery / 5)
			if s := e.Snapshot(); !gone(s) {
				t.Fatalf("types %v, skipped %+v, want one type that isn't found", s.Types, s.Skipped)
			}
		}
		removed.Store(false)
		e.hasRuns(t, 6)
		if s := e.Snapshot(); len(s.Skipped) > 0 {
			t.Errorf("skipped %+v, want nothing skipped", s.Skipped)
		}
	})
}

package live

import (
	"fmt"
	"testing"
	"time"
)

// totalsAre returns a complaint unless the first type has these totals.
func (s *started) totalsAre(names, creates int64) string {
	c := s.Snapshot().Resources[0]
	if c.Names == names && c.Creates == creates {
		return ""
	}
	return fmt.Sprintf("%+v, want %d names and %d creates", c, names, creates)
}

// Totals include the prefixes that have no counter. The first list counts nothing as
// created, and neither does a server that was restored.
func TestTotals(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	few := object{Namespace: "prod", Name: "few-24567", GenerateName: "few-"}
	server.change("/api/v1/pods", "ADDED", few)
	server.change("/api/v1/pods", "ADDED", object{Namespace: "prod", Name: "plain"})
	restore := server.backup()
	e := start(t, server, pods)
	if complaint := e.totalsAre(7, 0); complaint != "" {
		t.Fatal(complaint)
	}
	addRuns(server, 10)
	server.change("/api/v1/pods", "ADDED", object{Namespace: "prod", Name: "plain-too"})
	server.change("/api/v1/pods", "DELETED", few)
	eventually(t, func() string { return e.totalsAre(16, 10) })
	restore()
	addRuns(server, 1)
	eventually(t, func() string {
		c := e.Snapshot().Resources[0]
		if c.Names == 8 && c.Creates >= 10 && c.Creates <= 11 && c.Gaps == 1 && c.Restarts >= 1 && c.Behind == 0 {
			return ""
		}
		return fmt.Sprintf("%+v", c)
	})
}

// The totals of a type that is removed and comes back don't decrease, but its names are gone.
func TestTotalsOfATypeThatLeft(t *testing.T) {
	k := newTestStore()
	k.totals, k.standing.restarts = totals{names: 5, creates: 7, gaps: 2}, 3
	r := &reflector{shared: &shared{}, resource: pods, store: k}
	want := ResourceCount{Resource: pods, Creates: 7, Restarts: 3, Gaps: 2}
	if got := r.successor(pods).store.count(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Names that came in a gap are creates, also under prefixes that have no counter.
func TestTotalsOverAGap(t *testing.T) {
	k := newTestStore()
	k.Replace(&listing{began: time.Unix(1_700_000_000, 0), version: 5, facts: facts{prefixed: 3}}, watched)
	k.ReplaceAfterGap(&listing{began: time.Unix(1_700_000_060, 0), version: 9, facts: facts{prefixed: 8}}, 0, nil)
	if got := (ResourceCount{Resource: pods, Counted: true, Names: 8, Creates: 5, Gaps: 1}); k.count() != got {
		t.Errorf("%+v, want %+v", k.count(), got)
	}
	for i, cause := range []error{errMissed, errMute} {
		names := 9 + int64(i)
		k.ReplaceAfterGap(&listing{version: 12, facts: facts{prefixed: names}}, 0, cause)
		if c := k.count(); c.Creates != 5 || c.Names != names {
			t.Errorf("%v: names that a restored server has again are creates: %+v", cause, c)
		}
	}
}

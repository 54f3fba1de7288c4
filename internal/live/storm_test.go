package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// words returns a different text of letters for each i. The text doesn't end like a generated name.
func words(i int) string { return fmt.Sprintf("%c%c%c-settings", 'a'+i%26, 'a'+i/26%26, 'a'+i/676) }

// A controller that creates ten objects a second has a row after a minute, whatever names it uses, and the
// report is complete.
func TestStorm(t *testing.T) {
	defer func(limit int) { MaxPrefixes = limit }(MaxPrefixes)
	MaxPrefixes = 100
	const seconds, perSecond = 180, 10
	for _, test := range []struct {
		what    string
		name    func(i int) string
		before  int  // objects before the watch
		named   bool // the prefix already has objects
		isStem  bool
		watched int
	}{
		{"one stem", func(i int) string { return fmt.Sprintf("nightly-%d", 29931409+i) }, 0, false, true, 1},
		{"one stem, which exists", func(i int) string { return fmt.Sprintf("nightly-%d", 29931409+i) }, 30, false, true, 1},
		{"a stem each, more than the limit", func(i int) string { return words(i) + "-2026-11-28" }, 0, false, false, 0},
		{"names without a pattern", words, 0, false, false, 0},
		{"a stem each, beside a generateName", func(i int) string { return words(i) + "-2026-11-28" }, 0, true, false, 1},
		{"names without a pattern, beside a generateName", words, 0, true, false, 1},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &fakeapi.Server{Clock: time.Now().Unix()}
				server.StartPipe(t)
				made := 0
				create := func() {
					server.Change("/api/v1/pods", "ADDED", meta{Namespace: "prod", Name: test.name(made), UID: types.UID(fmt.Sprint(made))})
					made++
				}
				if test.named {
					server.Change("/api/v1/pods", "ADDED", meta{Namespace: "prod", Name: "run-bcdfg", GenerateName: "run-", UID: "run"})
				}
				for range test.before {
					create()
				}
				s := start(t, server, pods)
				for range seconds {
					server.Lock()
					server.Clock = time.Now().Unix()
					server.Unlock()
					for range perSecond {
						create()
					}
					time.Sleep(time.Second)
				}
				now := s.Snapshot()
				row := rowOf(now, test.isStem)
				if most := int64(seconds * perSecond); row.Creates < most*6/10 || row.Creates > most {
					t.Errorf("%d creates are counted, want at least %d of %d: %+v", row.Creates, most*6/10, most, row)
				}
				if least := int64(made) * 6 / 10; row.Pool.Names < least || row.Pool.Names > int64(made) {
					t.Errorf("the row has %d names, want at least %d of %d", row.Pool.Names, least, made)
				}
				if rate := row.Weighed[0].Creates / (24 * 60 * pools.Days(time.Minute, row.At.Sub(row.Since).Seconds())); rate < 100 {
					t.Errorf("%.0f creates a minute are measured, want about %d", rate, 60*perSecond)
				}
				if now.Watched != test.watched || len(now.Skipped) > 0 || len(s.reportedOf(Crowded)) > 0 {
					t.Errorf("%d types are watched, want %d. Incomplete: %+v", now.Watched, test.watched, now.Skipped)
				}
			})
		})
	}
}

// rowOf returns the row of a stem, or the row of the other objects.
func rowOf(s snapshot, isStem bool) pools.Row {
	all := s.Others
	if isStem {
		all = s.Rows
	}
	for _, row := range all {
		if !isStem || row.Pool.Naming == object.ByStem {
			return row
		}
	}
	return pools.Row{}
}

// If a stem once had enough names for a row, it keeps the row until no name is left.
func TestPeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeapi.Server{Clock: time.Now().Unix()}
		server.StartPipe(t)
		made := make([]meta, 25)
		for i := range made {
			made[i] = meta{Namespace: "prod", Name: fmt.Sprint("nightly-", i), UID: types.UID(fmt.Sprint(i))}
			server.Change("/api/v1/pods", "ADDED", made[i])
		}
		s := start(t, server, pods)
		for i, o := range made[:24] {
			server.Change("/api/v1/pods", "DELETED", o)
			s.until(t, func(now snapshot) bool {
				return len(now.Rows) == 1 && now.Rows[0].Pool.Names == int64(24-i) && now.Rows[0].Peak == 25
			})
		}
	})
}

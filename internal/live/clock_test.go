package live

import (
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// Rates follow the elapsed time, and ignore steps of the clock.
func TestClock(t *testing.T) {
	passed := time.Hour // since the computer booted
	c := &clock{uptime: func() time.Duration { return passed }}
	began := c.now()
	if step := time.Since(began).Abs(); step > time.Minute || began != began.Round(0) {
		t.Errorf("it begins at %v", began)
	}
	for _, step := range []time.Duration{time.Second, 8 * time.Hour} {
		passed += step
	}
	if got, want := c.now().Sub(began), 8*time.Hour+time.Second; got != want {
		t.Errorf("%v passed, want %v", got, want)
	}
	if at := New(census.Scanner{}).Snapshot(func(pools.Row) {}).At; at != at.Round(0) {
		t.Errorf("%v has a monotonic reading, which a sleep stops", at)
	}
}

// The uptime of this computer advances as fast as a monotonic clock, if it doesn't sleep.
func TestUptime(t *testing.T) {
	const tick = 20 * time.Millisecond // of the uptime
	outer := time.Now()                // a busy machine stops the test between any two readings
	before := uptime()
	inner := time.Now()
	time.Sleep(200 * time.Millisecond)
	least := time.Since(inner)
	passed := uptime() - before
	if most := time.Since(outer); passed < least-tick || passed > most+tick {
		t.Errorf("%v passed, want %v to %v", passed, least, most)
	}
}

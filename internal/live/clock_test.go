package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

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

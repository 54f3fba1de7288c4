package live

import (
	"math"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// rates counts creates and deletes in exponentially decaying windows (Leskovec, Rajaraman and Ullman,
// "Mining of Massive Datasets", 4.7). So a window needs only two numbers, however many events there are.
// All times are from one clock.
type rates struct {
	last    time.Time // time up to which the numbers are decayed
	weighed pools.Weighed
}

// add counts creates and deletes, spread evenly over a time that doesn't begin before the last time ended.
// Each event gets the mean weight over its time.
func (r *rates) add(from, now time.Time, creates, deletes float64) {
	r.decay(now)
	lasted := max(r.last.Sub(from).Seconds(), 0)
	for i, window := range pools.Windows {
		weight := 1.0
		if x := lasted / window.Seconds(); x > 0 {
			weight = -math.Expm1(-x) / x
		}
		r.weighed[i].Creates += creates * weight
		r.weighed[i].Deletes += deletes * weight
	}
}

func (r *rates) decay(now time.Time) {
	passed := now.Sub(r.last)
	if passed <= 0 {
		return
	}
	for i, window := range pools.Windows {
		weight := math.Exp(-passed.Seconds() / window.Seconds())
		r.weighed[i].Creates *= weight
		r.weighed[i].Deletes *= weight
	}
	r.last = now
}

func (r *rates) at(now time.Time) pools.Weighed {
	current := *r
	current.decay(now)
	return current.weighed
}

// clock is the clock of the rates, which ignores most changes of the computer's clock. It advances with the
// monotonic clock, which stops while a computer sleeps. If the wall clock has advanced by at least leastSleep more
// than the monotonic clock, the computer has slept, or its clock was corrected. Then the difference counts, too.
type clock struct {
	mu   sync.Mutex // guards the fields below
	last time.Time  // last reading of the computer's clocks
	at   time.Time  // time of this clock at last, without a monotonic reading
}

// start makes the clock begin with the time of a server whose clock is ahead. Otherwise the clock begins at its first
// reading, with the time of this computer.
func (c *clock) start(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	c.at = c.last.Round(0).Add(ahead)
}

// leastSleep is the shortest sleep that a clock notices. Corrections by NTP are smaller.
const leastSleep = 10 * time.Second

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.last.IsZero() {
		c.at = now.Round(0)
	} else {
		c.at = c.at.Add(elapsed(now.Sub(c.last), now.Round(0).Sub(c.last.Round(0))))
	}
	c.last = now
	return c.at
}

// elapsed returns the time between two readings of the monotonic clock and of the wall clock.
func elapsed(monotonic, wall time.Duration) time.Duration {
	if wall-monotonic >= leastSleep {
		return wall
	}
	return monotonic
}

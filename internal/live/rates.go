package live

import (
	"math"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// rates counts creates and deletes in exponentially decaying windows (Leskovec, Rajaraman and Ullman, "Mining of
// Massive Datasets", 4.7). So a window needs two numbers, independent of the number of events. Times are those of a
// clock.
type rates struct {
	last    time.Time // time up to which the numbers are decayed
	weighed pools.Weighed
}

// add counts creates and deletes that are spread evenly over a time, which doesn't begin before the last one. Each
// event has the mean weight over that time.
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

// at returns the sums of the weights at now.
func (r *rates) at(now time.Time) pools.Weighed {
	current := *r
	current.decay(now)
	return current.weighed
}

// clock is the clock of the rates. clock starts with the time of the computer's clock, and then advances with the
// computer's uptime. The uptime includes sleep, and ignores changes of the clock.
type clock struct {
	uptime func() time.Duration // nil means the uptime of the computer
	ahead  time.Duration        // time by which the server's clock is ahead

	once    sync.Once
	began   time.Time     // without a monotonic reading
	running time.Duration // uptime at that time
}

func (c *clock) now() time.Time {
	c.once.Do(func() {
		if c.uptime == nil {
			c.uptime = uptime
		}
		c.began, c.running = time.Now().Round(0).Add(c.ahead), c.uptime()
	})
	return c.began.Add(c.uptime() - c.running)
}

// loaded is the start of the program. Where the computer's uptime isn't available, the time since loaded replaces it.
// This time doesn't include sleep.
var loaded = time.Now()

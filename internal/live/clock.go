package live

import (
	"sync"
	"time"
)

// clock is the time that rates are reckoned by. It goes on while a computer sleeps, as
// that of a calendar does and a monotonic clock does not, and it is never set back, as
// a calendar's can be.
type clock struct {
	mu    sync.Mutex
	began time.Time // with a monotonic reading

	// What was read last, and what it said then.
	calendar, said time.Time
	running        time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.began.IsZero() {
		c.began, c.calendar, c.said = now, now.Round(0), now.Round(0)
	}
	return c.at(now.Round(0), now.Sub(c.began))
}

// at returns the time when a calendar and a monotonic clock say these.
func (c *clock) at(calendar time.Time, running time.Duration) time.Time {
	c.said = c.said.Add(max(calendar.Sub(c.calendar), running-c.running))
	c.calendar, c.running = calendar, running
	return c.said
}

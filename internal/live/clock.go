package live

import (
	"sync"
	"time"
)

// clock is the time that rates use. It starts with the calendar, and then advances with
// the time since the computer booted: that counts the time for which the computer sleeps,
// and ignores every step of the calendar.
type clock struct {
	uptime func() time.Duration // nil uses that of the computer
	ahead  time.Duration        // of the calendar of this computer

	once    sync.Once
	began   time.Time     // without a monotonic reading
	running time.Duration // the uptime then
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

// loaded is when the program started. The time since then is without the time for which the
// computer slept. It replaces the uptime where that is not available.
var loaded = time.Now()

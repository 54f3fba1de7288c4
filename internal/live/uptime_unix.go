//go:build linux || darwin

package live

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime returns the time since the computer booted.
func uptime() time.Duration {
	var passed unix.Timespec
	if err := unix.ClockGettime(bootClock, &passed); err != nil {
		return time.Since(loaded)
	}
	return time.Duration(passed.Nano())
}

package live

import "golang.org/x/sys/unix"

// bootClock includes the time of sleep.
const bootClock = unix.CLOCK_BOOTTIME

package live

import "golang.org/x/sys/unix"

// bootClock includes the time of sleep, unlike CLOCK_UPTIME_RAW.
const bootClock = unix.CLOCK_MONOTONIC

package live

import "golang.org/x/sys/unix"

// bootClock counts the time for which the computer sleeps, unlike CLOCK_UPTIME_RAW.
const bootClock = unix.CLOCK_MONOTONIC

package live

import "golang.org/x/sys/unix"

// bootClock counts the time for which the computer sleeps.
const bootClock = unix.CLOCK_BOOTTIME

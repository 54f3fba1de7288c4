package live

import (
	"time"

	"golang.org/x/sys/windows"
)

// uptime returns the time since the computer booted, in steps of about 16 milliseconds.
func uptime() time.Duration { return windows.DurationSinceBoot() }

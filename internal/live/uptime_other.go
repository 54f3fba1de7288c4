//go:build !linux && !darwin && !windows

package live

import "time"

// uptime returns the time for which the program has run.
func uptime() time.Duration { return running() }

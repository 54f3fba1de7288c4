//go:build !linux && !darwin && !windows

package live

import "time"

func uptime() time.Duration { return time.Since(loaded) }

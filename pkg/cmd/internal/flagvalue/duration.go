package flagvalue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a flag for a duration in which days are allowed: 30d,
// 1d12h, 90m.
type Duration time.Duration

// Set parses a duration that can have days, like "1d12h".
func (d *Duration) Set(text string) error {
	rest := text
	var days float64
	if before, after, ok := strings.Cut(text, "d"); ok {
		var err error
		if days, err = strconv.ParseFloat(before, 64); err != nil || math.IsNaN(days) || math.Abs(days) > maxDays {
			return fmt.Errorf("%q is not a duration, like 90m, 24h or 30d", text)
		}
		rest = after
	}
	value := time.Duration(days * 24 * float64(time.Hour))
	if rest != "" || text == "" {
		duration, err := time.ParseDuration(rest)
		if err != nil {
			return fmt.Errorf("%q is not a duration, like 90m, 24h or 30d", text)
		}
		value += duration
	}
	*d = Duration(value)
	return nil
}

// maxDays keeps a number of days within a time.Duration of 292 years.
const maxDays = 100_000

func (d Duration) String() string {
	const day = 24 * time.Hour
	if value := time.Duration(d); value != 0 && value%day == 0 {
		return fmt.Sprintf("%dd", value/day)
	}
	return time.Duration(d).String()
}

// Type names the value in help.
func (d *Duration) Type() string { return "duration" }

package pools

import (
	"math"
	"time"
)

// Windows are the lengths of decaying windows, in increasing order.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Weighed has the sums of the weights of creates and deletes in each of Windows. An event of now has the weight 1, and
// an event of one window length ago has the weight 1/e. A sum divided by Days is a rate per day.
type Weighed [len(Windows)]struct{ Creates, Deletes float64 }

// Days returns the length of a window in days, some seconds after its beginning, where each time has its weight.
func Days(window time.Duration, seconds float64) float64 {
	return window.Hours() / 24 * -math.Expm1(-seconds/window.Seconds())
}

// Row has a name pool and its counts, of a list or of a watch.
type Row struct {
	Pool Pool
	// Followed reports whether events are counted, so it is false for a list. If Followed is false, all fields except
	// Pool are empty.
	Followed bool
	Since    time.Time // time from which events count; Weighed doesn't include the first create of a new name pool
	Began    time.Time // when the type was counted, which is before Since for a new name pool
	At       time.Time // time to which the events count
	// Creates and Deletes count the events since the time Since. Both numbers are lower bounds if Gaps is above 0. Gaps
	// is the number of lists after lost events.
	Creates, Deletes int64
	Gaps             int
	Weighed          Weighed
	// Peak is the largest number of names since the first event, or 0 if there was none.
	Peak int64
}

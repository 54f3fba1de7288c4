package live

import (
	"math"
	"time"
)

// Windows are the times over which rates are reported, the shortest first.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Rate is the number of creates and deletes in a day of 24 hours.
type Rate struct{ CreatesPerDay, DeletesPerDay float64 }

// rates counts creates and deletes in exponentially decaying windows (Leskovec,
// Rajaraman and Ullman, "Mining of Massive Datasets", 4.7). An event that happened a window's
// length ago weighs 1/e. So a window takes two numbers, however many events there are. The
// sum of the weights since the beginning makes the rate unbiased from the first second on.
// Times are those of a clock.
type rates struct {
	last             time.Time // until when they are decayed
	creates, deletes [len(Windows)]float64
}

// add counts creates and deletes that came evenly from one time to another, which is not
// before the last one. Each weighs the mean of exp(-t/window) over that time.
func (r *rates) add(from, now time.Time, creates, deletes float64) {
	r.decay(now)
	lasted := max(r.last.Sub(from).Seconds(), 0)
	for i, window := range Windows {
		weight := 1.0
		if x := lasted / window.Seconds(); x > 0 {
			weight = -math.Expm1(-x) / x
		}
		r.creates[i] += creates * weight
		r.deletes[i] += deletes * weight
	}
}

func (r *rates) decay(now time.Time) {
	passed := now.Sub(r.last)
	if passed <= 0 {
		return
	}
	for i, window := range Windows {
		weight := math.Exp(-passed.Seconds() / window.Seconds())
		r.creates[i] *= weight
		r.deletes[i] *= weight
	}
	r.last = now
}

// at returns the rates at a time, of the events since another time.
func (r *rates) at(now, since time.Time) (all [len(Windows)]Rate) {
	passed := now.Sub(since).Seconds()
	if passed <= 0 {
		return all
	}
	current := *r
	current.decay(now)
	for i, window := range Windows {
		days := window.Hours() / 24 * -math.Expm1(-passed/window.Seconds())
		all[i] = Rate{current.creates[i] / days, current.deletes[i] / days}
	}
	return all
}

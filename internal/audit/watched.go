package audit

import (
	"math"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// secondsOf returns the number of seconds that a row has been watched, or 0 if it isn't watched.
func secondsOf(r *live.Row) float64 {
	if !r.Followed {
		return 0
	}
	return max(0, r.At.Sub(r.Since).Seconds())
}

// measured returns the creates and deletes of a row, or nil if it isn't watched.
func measured(r *live.Row) *v1alpha1.Measured {
	seconds := secondsOf(r)
	if seconds == 0 {
		return nil
	}
	return &v1alpha1.Measured{
		Creates: r.Creates, Deletes: r.Deletes, Seconds: seconds, Gaps: r.Gaps,
		RatePerDay: finite(ratePerDay(r.Rates[:], seconds)),
	}
}

// changes has the creates and deletes of several name pools. The windows have sums of weights, as in internal/live.
type changes struct {
	creates, deletes int64
	gaps             int
	seconds          float64 // seconds since the watch began
	weighed          [len(live.Windows)]live.Rate
}

// add adds a row.
func (c *changes) add(r *live.Row) {
	if !r.Followed {
		return
	}
	c.creates, c.deletes = c.creates+r.Creates, c.deletes+r.Deletes
	c.gaps, c.seconds = max(c.gaps, r.Gaps), max(c.seconds, r.At.Sub(r.Began).Seconds())
	for i, rate := range r.Rates {
		ago := r.At.Sub(r.Since)
		days := daysOf(live.Windows[i], ago)
		c.weighed[i].CreatesPerDay += rate.CreatesPerDay * days
		c.weighed[i].DeletesPerDay += rate.DeletesPerDay * days
		if r.Since.After(r.Began) {
			c.weighed[i].CreatesPerDay += math.Exp(-ago.Seconds() / live.Windows[i].Seconds())
		}
	}
}

// measured returns the changes as a report has them, nil if no row is watched.
func (c *changes) measured() *v1alpha1.Measured {
	if c.seconds <= 0 {
		return nil
	}
	rates := c.weighed
	for i := range rates {
		days := daysOf(live.Windows[i], time.Duration(c.seconds*float64(time.Second)))
		rates[i].CreatesPerDay /= days
		rates[i].DeletesPerDay /= days
	}
	return &v1alpha1.Measured{
		Creates: c.creates, Deletes: c.deletes, Seconds: c.seconds, Gaps: c.gaps,
		RatePerDay: finite(ratePerDay(rates[:], c.seconds)),
	}
}

// daysOf returns the sum of the weights of a decaying window that began some time ago, in days.
func daysOf(window, ago time.Duration) float64 {
	return window.Hours() / 24 * -math.Expm1(-ago.Seconds()/window.Seconds())
}

const (
	// leastWatched is the number of seconds after which a name pool has a rate.
	leastWatched = 10
	// leastChanges is the number of creates and deletes in a window from which on the window has a rate.
	leastChanges = 10
)

// ratePerDay returns how fast a name pool grows, over the shortest window of live.Windows that
// has enough changes. It is NaN if the pool has not been watched for long enough.
func ratePerDay(rates []live.Rate, seconds float64) float64 {
	if seconds < leastWatched {
		return math.NaN()
	}
	last := len(rates) - 1
	at := last
	for i, rate := range slices.Backward(rates[:last]) {
		days := min(live.Windows[i].Seconds(), seconds) / day.Seconds()
		if (rate.CreatesPerDay+rate.DeletesPerDay)*days >= leastChanges {
			at = i
		}
	}
	return rates[at].CreatesPerDay - rates[at].DeletesPerDay
}

// shortestTrend is the shortest window in which more creates mean an acceleration. In shorter windows, they can be
// a batch.
const shortestTrend = 10 * time.Minute

// accelerates reports whether creates in a window of live.Windows are certainly faster than in the next longer
// window. The name pool must have been watched for twice the length of the window. A decaying window has the rate
// times its length as its mean, and half of that as its variance. So its statistics are those of a normal window
// with twice as many events over twice the length.
func accelerates(r *live.Row) bool {
	rates, seconds := r.Rates[:], secondsOf(r)
	for i, rate := range rates[:len(rates)-1] {
		window := live.Windows[i]
		if window < shortestTrend || seconds < 2*window.Seconds() {
			continue
		}
		days := 2 * window.Hours() / day.Hours()
		lower, _, err := analyze.Garwood(int64(math.Floor(rate.CreatesPerDay*days)), analyze.WindowConfidence)
		if err == nil && lower/days > rates[i+1].CreatesPerDay {
			return true
		}
	}
	return false
}

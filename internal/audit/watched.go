package audit

import (
	"math"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// secondsOf returns for how long a row has been watched, 0 if it is not.
func secondsOf(r *live.Row) float64 {
	if !r.Followed {
		return 0
	}
	return max(0, r.At.Sub(r.Since).Seconds())
}

// measured returns the creates and deletes of a row, nil if it is not watched.
func measured(r *live.Row) *v1alpha1.Measured {
	seconds := secondsOf(r)
	if seconds == 0 {
		return nil
	}
	return &v1alpha1.Measured{
		Creates: r.Creates, Deletes: r.Deletes, Reused: r.Reused, Seconds: seconds, Gaps: r.Gaps,
		RatePerDay: finite(ratePerDay(r.Rates[:], seconds)),
	}
}

// changes are the creates and deletes of several name pools. The windows have sums of weights, as those
// of live.
type changes struct {
	creates, deletes int64
	gaps             int
	seconds          float64 // since the watch began
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
	// leastWatched is how many seconds a name pool is watched before it has a rate.
	leastWatched = 10
	// leastChanges is how many creates and deletes a window has that makes a rate.
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

// shortestTrend is the shortest window whose acceleration is more than a batch of creates.
const shortestTrend = 10 * time.Minute

// accelerates reports whether the creates of a window of live.Windows are certainly faster than
// those of the next longer one. The name pool must have been watched for twice that window. A
// decaying window has the mean of the rate times its length, and half of that as its variance.
// So it counts like twice as many events over twice the length.
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

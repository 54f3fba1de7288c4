package audit

import (
	"math"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// secondsOf returns the number of seconds that a row has been watched, or 0 if it isn't watched.
func secondsOf(r *pools.Row) float64 {
	if !r.Followed {
		return 0
	}
	return max(0, r.At.Sub(r.Since).Seconds())
}

func measured(r *pools.Row) *v1alpha1.Measured {
	c := changes{r.Creates, r.Deletes, r.Gaps, secondsOf(r), r.Weighed}
	return c.measured()
}

// changes has the creates and deletes of one or several name pools.
type changes struct {
	creates, deletes int64
	gaps             int
	seconds          float64 // seconds since the watch began
	weighed          pools.Weighed
}

// add adds a row.
func (c *changes) add(r *pools.Row) {
	if !r.Followed {
		return
	}
	c.creates, c.deletes = c.creates+r.Creates, c.deletes+r.Deletes
	c.gaps, c.seconds = max(c.gaps, r.Gaps), max(c.seconds, r.At.Sub(r.Began).Seconds())
	for i, sums := range r.Weighed {
		c.weighed[i].Creates += sums.Creates
		c.weighed[i].Deletes += sums.Deletes
		if r.Since.After(r.Began) { // the first create is not in r.Weighed
			c.weighed[i].Creates += math.Exp(-r.At.Sub(r.Since).Seconds() / pools.Windows[i].Seconds())
		}
	}
}

// measured returns the changes in the format of a report, or nil if no row is watched.
func (c *changes) measured() *v1alpha1.Measured {
	if c.seconds <= 0 {
		return nil
	}
	return &v1alpha1.Measured{
		Creates: c.creates, Deletes: c.deletes, Seconds: c.seconds, Gaps: c.gaps,
		RatePerDay: v1alpha1.Finite(ratePerDay(c.weighed, c.seconds)),
	}
}

// rate is a number of creates and deletes per day.
type rate struct{ creates, deletes float64 }

func ratesOf(sums pools.Weighed, seconds float64) (rates [len(pools.Windows)]rate) {
	for i, sum := range sums {
		days := pools.Days(pools.Windows[i], seconds)
		rates[i] = rate{sum.Creates / days, sum.Deletes / days}
	}
	return rates
}

const (
	// leastWatched is the number of seconds after which a name pool has a rate.
	leastWatched = 10
	// leastChanges is the smallest number of creates and deletes that a window needs for a rate.
	leastChanges = 10
)

// ratePerDay returns how fast a name pool grows, over the shortest window of pools.Windows that
// has enough changes. It is NaN if the pool has not been watched for long enough.
func ratePerDay(sums pools.Weighed, seconds float64) float64 {
	if seconds < leastWatched {
		return math.NaN()
	}
	rates := ratesOf(sums, seconds)
	last := len(rates) - 1
	at := last
	for i, rate := range slices.Backward(rates[:last]) {
		days := min(pools.Windows[i].Seconds(), seconds) / day.Seconds()
		if (rate.creates+rate.deletes)*days >= leastChanges {
			at = i
		}
	}
	return rates[at].creates - rates[at].deletes
}

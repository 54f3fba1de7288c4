package audit

import (
	"math"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Watched makes the report of an engine's counts. It takes the rows of a snapshot one by one,
// so that its memory grows with the rows that the report shows only.
type Watched struct {
	collector      *Collector
	shown, fullest *batch
}

// Watched returns a Watched that finds a number of the fullest name pools, too. It is called
// once for each Collector.
func (c *Collector) Watched(fullest int) *Watched {
	c.watched = true
	options := c.options
	options.Order, options.Top = ByNames, fullest
	options.FailAbove, options.FailAboveCount, options.FailAboveGrowth = nil, nil, nil
	ranked := &Collector{options: options, retriesOf: c.retriesOf, estimate: c.estimate, watched: true}
	return &Watched{
		collector: c,
		shown:     &batch{collector: c, into: &c.kept}, fullest: &batch{collector: ranked, into: &ranked.kept},
	}
}

// Add takes a row of the snapshot.
func (w *Watched) Add(seen live.Row) {
	w.shown.add(&seen.Pool, &seen)
	w.fullest.add(&seen.Pool, &seen)
}

// Report returns the report of a snapshot whose rows have been added. skipped are the types
// that discovery left out.
func (w *Watched) Report(s live.Snapshot, server v1alpha1.AuditServer, skipped []census.Skipped) (*Result, error) {
	w.shown.Commit()
	return w.collector.Report(Scan{
		Server: server, Ended: s.At, Resources: s.Types, Skipped: skipped, Summary: s.Summary,
	})
}

// Fullest returns the name pools with the most names among the added rows, in order.
func (w *Watched) Fullest() ([]census.NamePool, error) {
	w.fullest.Commit()
	var pools []census.NamePool
	for _, r := range w.fullest.into.rows {
		pools = append(pools, r.NamePool)
	}
	return pools, w.fullest.into.err
}

// NextFails returns the chance that the next create in a name pool fails with the attempts in
// force. Unknown attempts count as one. Several goroutines may call it at once.
func (c *Collector) NextFails(pool census.NamePool) float64 {
	chance, _ := c.nextFails(pool) // retries that are no number make no report either
	return chance
}

// measure sets the measured creates and deletes of a row, nil if it is not watched.
func (r *row) measure(seen *live.Row) {
	seconds := seen.At.Sub(seen.Since).Seconds()
	if !seen.Followed || seconds <= 0 {
		r.measured = nil
		return
	}
	if r.measured == nil {
		r.measured = &v1alpha1.Measured{}
	}
	perDay := r.measured.RatePerDay
	if perDay == nil { // there are very many rows, whose memory is used again
		perDay = new(float64)
	}
	if *perDay = ratePerDay(seen.Rates[:], seconds); math.IsNaN(*perDay) {
		perDay = nil
	}
	*r.measured = v1alpha1.Measured{
		Creates: seen.Creates, Deletes: seen.Deletes, Reused: seen.Reused, Seconds: seconds, Gaps: seen.Gaps,
		RatePerDay: perDay,
	}
	r.accelerates = accelerates(seen.Rates[:], seconds)
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
func accelerates(rates []live.Rate, seconds float64) bool {
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

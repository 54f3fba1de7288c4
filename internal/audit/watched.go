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
	w.shown.kept.prefixes += s.Small.Prefixes
	w.shown.kept.hidden.Prefixes += s.Small.Prefixes
	w.shown.kept.hidden.Names += s.Small.Names
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
func (e *estimator) measure(r *row, seen *live.Row) error {
	seconds := seen.At.Sub(seen.Since).Seconds()
	if !seen.Followed || seconds <= 0 {
		r.measured = nil
		return nil
	}
	upper, err := e.uppers.get(seen.Creates, func() (float64, error) {
		_, upper, err := analyze.Garwood(seen.Creates, rateConfidence)
		return upper, err
	})
	longest := seen.Rates[len(seen.Rates)-1]
	if r.measured == nil {
		r.measured = &v1alpha1.Measured{}
	}
	windows, perDay := r.measured.Windows[:0], r.measured.RatePerDay
	for i, rate := range seen.Rates {
		windows = append(windows, v1alpha1.MeasuredWindow{
			Seconds: live.Windows[i].Seconds(), CreatesPerDay: rate.CreatesPerDay, DeletesPerDay: rate.DeletesPerDay,
		})
	}
	if perDay == nil { // there are very many rows, whose memory is used again
		perDay = new(float64)
	}
	if *perDay = ratePerDay(windows, seconds); math.IsNaN(*perDay) {
		perDay = nil
	}
	*r.measured = v1alpha1.Measured{
		Creates: seen.Creates, Deletes: seen.Deletes, Reused: seen.Reused, Seconds: seconds, Gaps: seen.Gaps,
		ExpectedFailures: seen.Failures,
		PerDay:           longest.CreatesPerDay, PerDayUpper: upper * day.Seconds() / seconds,
		RatePerDay:   perDay,
		GrowthPerDay: longest.CreatesPerDay - longest.DeletesPerDay, Windows: windows,
	}
	return err
}

const (
	// leastWatched is how many seconds a name pool is watched before it has a rate.
	leastWatched = 10
	// leastChanges is how many creates and deletes a window has that makes a rate.
	leastChanges = 10
)

// ratePerDay returns how fast a name pool grows, over the shortest window that has enough
// changes. It is NaN if the pool has not been watched for long enough.
func ratePerDay(windows []v1alpha1.MeasuredWindow, seconds float64) float64 {
	if seconds < leastWatched {
		return math.NaN()
	}
	last := len(windows) - 1
	at := slices.IndexFunc(windows[:last], func(w v1alpha1.MeasuredWindow) bool {
		days := min(w.Seconds, seconds) / day.Seconds()
		return (w.CreatesPerDay+w.DeletesPerDay)*days >= leastChanges
	})
	if at < 0 {
		at = last
	}
	return windows[at].CreatesPerDay - windows[at].DeletesPerDay
}

// shortestTrend is the shortest window whose acceleration is more than a batch of creates.
const shortestTrend = 10 * time.Minute

// accelerates reports whether the creates of a window are certainly faster than those of the
// next longer one. The name pool must have been watched for twice that window. A decaying
// window has the mean of the rate times its length, and half of that as its variance. So it
// counts like twice as many events over twice the length.
func accelerates(m *v1alpha1.Measured) bool {
	if m == nil {
		return false
	}
	return slices.ContainsFunc(m.Windows[:len(m.Windows)-1], func(w v1alpha1.MeasuredWindow) bool {
		next := m.Windows[slices.Index(m.Windows, w)+1]
		if w.Seconds < shortestTrend.Seconds() || m.Seconds < 2*w.Seconds {
			return false
		}
		days := 2 * w.Seconds / day.Seconds()
		lower, _, err := analyze.Garwood(int64(math.Floor(w.CreatesPerDay*days)), analyze.WindowConfidence)
		return err == nil && lower/days > next.CreatesPerDay
	})
}

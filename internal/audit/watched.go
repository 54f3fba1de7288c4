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

// Watched returns the report of what an engine has counted. skipped is what was left
// out before. It is called once for each Collector.
func (c *Collector) Watched(s live.Snapshot, server v1alpha1.AuditServer, skipped []census.Skipped) (*Result, error) {
	list := &batch{collector: c, into: &c.kept}
	for _, seen := range s.Rows {
		measured, err := measuredOf(seen, s.At)
		if err != nil {
			return nil, err
		}
		list.add(&row{Space: seen.Space, measured: measured})
	}
	for _, small := range s.Small {
		list.kept.prefixes += small.Prefixes
		list.kept.hide(place{resource: small.Resource.GroupResource()}, small.Prefixes, small.Names)
	}
	list.Commit()
	return c.Report(Scan{
		Server: server, Ended: s.At, Resources: s.Types, Skipped: skipped,
		Summary: census.Summary{
			Objects: s.Objects, Requests: s.Requests, Skipped: s.Skipped, Inconsistent: s.Inconsistent,
			Unprefixed: s.Unprefixed, Uncounted: s.Uncounted,
		},
	})
}

// Riskiest returns the spaces that a snapshot has, the riskiest first, at most so
// many.
func (c *Collector) Riskiest(s live.Snapshot, most int) ([]census.Space, error) {
	options := c.options
	options.Order, options.Top = ByRisk, most
	ranked := &Collector{options: options, retriesOf: c.retriesOf}
	ranked.estimate.windows, ranked.estimate.forecast = c.estimate.windows, c.estimate.forecast
	list := &batch{collector: ranked, into: &ranked.kept}
	for _, seen := range s.Rows {
		measured, err := measuredOf(seen, s.At)
		if err != nil {
			return nil, err
		}
		list.add(&row{Space: seen.Space, measured: measured})
	}
	list.Commit()
	var spaces []census.Space
	for _, r := range ranked.kept.rows {
		spaces = append(spaces, r.Space)
	}
	return spaces, ranked.kept.err
}

// NextFails returns the chance that the next create in a space fails with the
// attempts in force, unknown ones counted as one. Several goroutines may call it at
// once.
func (c *Collector) NextFails(space census.Space) float64 {
	chance, _ := c.nextFails(space) // retries that are no number make no report either
	return chance
}

// measuredOf returns what was seen of a space as a report has it, nil if it is not
// followed.
func measuredOf(seen live.Row, at time.Time) (*v1alpha1.Measured, error) {
	seconds := at.Sub(seen.Since).Seconds()
	if !seen.Followed || seconds <= 0 {
		return nil, nil
	}
	_, upper, err := analyze.Garwood(seen.Creates, rateConfidence)
	longest := seen.Rates[len(seen.Rates)-1]
	measured := &v1alpha1.Measured{
		Creates: seen.Creates, Deletes: seen.Deletes, Reused: seen.Reused, Seconds: seconds, Gaps: seen.Gaps,
		ExpectedConflicts: seen.Conflicts,
		PerDay:            longest.CreatesPerDay, PerDayUpper: upper * day.Seconds() / seconds,
		GrowthPerDay: longest.CreatesPerDay - longest.DeletesPerDay,
	}
	for i, rate := range seen.Rates {
		measured.Windows = append(measured.Windows, v1alpha1.MeasuredWindow{
			Seconds: live.Windows[i].Seconds(), CreatesPerDay: rate.CreatesPerDay, DeletesPerDay: rate.DeletesPerDay,
		})
	}
	return measured, err
}

// shortestTrend is the window from which on one that is faster than the next is more
// than a batch of creates.
const shortestTrend = 10 * time.Minute

// accelerates reports whether the creates of a window are for certain faster than
// those of the next longer one, and it is followed for twice that window at least. The
// weights of a decaying window are those of twice as many events with half of its
// length: their mean is the rate times the length, and their variance half of that.
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

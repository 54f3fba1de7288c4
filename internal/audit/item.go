package audit

import (
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// roomProbability is the chance of any failure up to which there is room.
const roomProbability = 0.001

// item returns the item of one name pool.
func (c *Collector) item(r *row) (v1alpha1.AuditItem, error) {
	pool := r.NamePool
	retries, why := c.retries(pool)
	item := v1alpha1.AuditItem{
		Group: pool.Resource.Group, Version: pool.Resource.Version, Resource: pool.Resource.Resource,
		Namespace: pool.Namespace, Prefix: textOf(pool.Prefix),
		Names: pool.Names, Generated: pool.Generated, RawPrefixes: pool.RawPrefixes,
		Oldest: timestamp(pool.Oldest), Newest: timestamp(pool.Newest),
		ClientGenerated: pool.ClientGenerated, ReplicaBounded: pool.ReplicaBounded,
		GenerateNames: slices.Clone(pool.GenerateNames),
		Creators:      creatorsOf(pool.Creator), CreatorCount: pool.Creators,
		Retries: retries,
	}
	if pool.SuffixLength != names.SuffixLength {
		item.SuffixLength = pool.SuffixLength
	}
	var err error
	if item.Creates, err = c.estimate.creates(pool.Recent); err != nil {
		return item, err
	}
	item.Creates.Measured = r.measured
	item.Growth = c.old.growthOf(pool, &c.options, retries)
	perDay, measured := item.Creates.RatePerDay()
	if err := errors.Join(c.foresee(&item, pool, perDay), c.count(&item, &pool)); err != nil {
		return item, err
	}
	item.Notes = notes(pool, closeText(item), why)
	if accelerates(r.measured) {
		item.Notes = append(item.Notes, "accelerating")
	}
	switch growth := item.Growth.Exactly(); {
	case measured:
		err = c.foreseeGrowth(&item, pool, perDay, r.measured.GrowthPerDay)
	case growth != nil && !c.old.young(): // creates are at least those that are seen, and those that are left
		err = c.foreseeGrowth(&item, pool, max(perDay, *growth), *growth)
	}
	return item, err
}

// count sets the numbers of recent creates, and whether the name pool is close to failing.
func (c *Collector) count(item *v1alpha1.AuditItem, pool *census.NamePool) (err error) {
	if c.watched {
		return nil
	}
	item.Last10m = new(c.options.last(pool, Last10m))
	item.Last24h = new(c.options.last(pool, Last24h))
	_, item.FailsInDays, err = c.closeness(pool, knownAttempts(item.Retries))
	return err
}

// foresee sets the forecast of an item at a rate of creation.
func (c *Collector) foresee(item *v1alpha1.AuditItem, pool census.NamePool, perDay float64) error {
	item.Room.Probability = roomProbability
	item.Forecast.Days = c.options.Forecast.Hours() / day.Hours()
	single, err := c.estimate.prediction(pool, 1, perDay, item.Forecast.Days)
	if err != nil {
		return err
	}
	item.NextCreate.NoRetry = single.next
	item.Room.NoRetry = &single.room
	item.Forecast.Steady.NoRetry = single.steady
	item.Forecast.NothingDeleted.NoRetry = single.growing
	item.ReusedPerDay = &single.reused
	first, last := single, single
	if item.Attempts != nil {
		if first, err = c.estimate.prediction(pool, *item.Attempts, perDay, item.Forecast.Days); err != nil {
			return err
		}
		item.NextCreate.ServerRetry = &first.next
		item.Room.ServerRetry = &first.room
		item.Forecast.Steady.ServerRetry = &first.steady
		item.Forecast.NothingDeleted.ServerRetry = &first.growing
		last = first
	} else if last, err = c.estimate.prediction(pool, c.attemptsInForce(pool), perDay, item.Forecast.Days); err != nil {
		return err
	}
	item.FirstFailure = firstFailure(first.first.Growing, last.first.Steady)
	return nil
}

// foreseeGrowth sets when the first failed create is to be expected at a rate of creation
// and a growth that was measured, both per day: one time, or where the attempts are unknown
// one for each end of their range.
func (c *Collector) foreseeGrowth(item *v1alpha1.AuditItem, pool census.NamePool, perDay, growth float64) error {
	first := func(attempts int) (float64, error) {
		model, err := modelOf(pool, attempts)
		if err != nil {
			return 0, err
		}
		return model.FirstFailureAt(pool.Names, perDay, growth)
	}
	last, err := first(c.attemptsInForce(pool))
	if err != nil {
		return err
	}
	earliest := last
	if item.Attempts == nil {
		if earliest, err = first(1); err != nil {
			return err
		}
	}
	item.FirstFailure = firstFailure(earliest, last)
	return nil
}

// firstFailure returns the range between two times in days as a report has it.
func firstFailure(growing, steady float64) *v1alpha1.AuditFirstFailure {
	return &v1alpha1.AuditFirstFailure{GrowingDays: finite(growing), SteadyDays: finite(steady)}
}

// creatorsOf returns the creator as a report has it.
func creatorsOf(m census.Creator) []v1alpha1.Creator {
	if m.Kind == "" && m.Manager == "" {
		return nil
	}
	return []v1alpha1.Creator{{Kind: m.Kind, Name: m.Name, Manager: m.Manager, Guess: m.Kind == "" && !m.Certain}}
}

// modelOf returns the model of creates in a name pool with a number of attempts.
func modelOf(pool census.NamePool, attempts int) (analyze.Model, error) {
	size, err := analyze.NamePoolSize(pool.SuffixLength)
	if err != nil {
		return analyze.Model{}, err
	}
	return analyze.NewModel(size, attempts)
}

// timestamp returns the time as a report has it, nil if it is unknown.
func timestamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stamp := metav1.NewTime(t)
	return &stamp
}

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
	space := r.NamePool
	retries, why := c.retries(space)
	item := v1alpha1.AuditItem{
		Group: space.Resource.Group, Version: space.Resource.Version, Resource: space.Resource.Resource,
		Namespace: space.Namespace, Prefix: textOf(space.Prefix),
		Names: space.Names, Generated: space.Generated, RawPrefixes: space.RawPrefixes,
		Oldest: timestamp(space.Oldest), Newest: timestamp(space.Newest),
		ClientGenerated: space.ClientGenerated, ReplicaBounded: space.ReplicaBounded,
		GenerateNames: slices.Clone(space.GenerateNames),
		Creators:      creatorsOf(space.Creator), CreatorCount: space.Creators,
		Retries: retries,
	}
	if space.SuffixLength != names.SuffixLength {
		item.SuffixLength = space.SuffixLength
	}
	var err error
	if item.Creates, err = c.estimate.creates(space.Recent); err != nil {
		return item, err
	}
	item.Creates.Measured = r.measured
	item.Growth = c.old.growthOf(space, &c.options, retries)
	perDay, measured := item.Creates.RatePerDay()
	if err := errors.Join(c.foresee(&item, space, perDay), c.count(&item, &space)); err != nil {
		return item, err
	}
	item.Notes = notes(space, closeText(item), why)
	if accelerates(r.measured) {
		item.Notes = append(item.Notes, "accelerating")
	}
	switch growth := item.Growth.Exactly(); {
	case measured:
		err = c.foreseeGrowth(&item, space, perDay, r.measured.GrowthPerDay)
	case growth != nil && !c.old.young(): // creates are at least those that are seen, and those that are left
		err = c.foreseeGrowth(&item, space, max(perDay, *growth), *growth)
	}
	return item, err
}

// count sets the numbers of recent creates, and whether the name pool is close to failing.
func (c *Collector) count(item *v1alpha1.AuditItem, space *census.NamePool) (err error) {
	if c.watched {
		return nil
	}
	item.Last10m = new(c.options.last(space, Last10m))
	item.Last24h = new(c.options.last(space, Last24h))
	_, item.FailsInDays, err = c.closeness(space, knownAttempts(item.Retries))
	return err
}

// foresee sets the forecast of an item at a rate of creation.
func (c *Collector) foresee(item *v1alpha1.AuditItem, space census.NamePool, perDay float64) error {
	item.Room.Probability = roomProbability
	item.Forecast.Days = c.options.Forecast.Hours() / day.Hours()
	single, err := c.estimate.outlook(space, 1, perDay, item.Forecast.Days)
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
		if first, err = c.estimate.outlook(space, *item.Attempts, perDay, item.Forecast.Days); err != nil {
			return err
		}
		item.NextCreate.ServerRetry = &first.next
		item.Room.ServerRetry = &first.room
		item.Forecast.Steady.ServerRetry = &first.steady
		item.Forecast.NothingDeleted.ServerRetry = &first.growing
		last = first
	} else if last, err = c.estimate.outlook(space, c.attemptsInForce(space), perDay, item.Forecast.Days); err != nil {
		return err
	}
	item.FirstFailure = firstFailure(first.first.Growing, last.first.Steady)
	return nil
}

// foreseeGrowth sets when the first failed create is to be expected at a rate of creation
// and a growth that was measured, both per day: one time, or where the attempts are unknown
// one for each end of their range.
func (c *Collector) foreseeGrowth(item *v1alpha1.AuditItem, space census.NamePool, perDay, growth float64) error {
	first := func(attempts int) (float64, error) {
		model, err := modelOf(space, attempts)
		if err != nil {
			return 0, err
		}
		return model.FirstFailureAt(space.Names, perDay, growth)
	}
	last, err := first(c.attemptsInForce(space))
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
func modelOf(space census.NamePool, attempts int) (analyze.Model, error) {
	size, err := analyze.NamePoolSize(space.SuffixLength)
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

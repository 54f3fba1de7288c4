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
		Retries: retries, Measured: r.measured,
	}
	if pool.SuffixLength != names.SuffixLength {
		item.SuffixLength = pool.SuffixLength
	}
	item.Growth = c.old.growthOf(pool, &c.options, retries)
	if err := errors.Join(c.foresee(&item, pool), c.count(&item, &pool)); err != nil {
		return item, err
	}
	item.Notes = notes(pool, closeText(item), why)
	if r.accelerates {
		item.Notes = append(item.Notes, "accelerating")
	}
	return item, nil
}

// count sets the numbers of recent creates, and whether the name pool is close to failing.
func (c *Collector) count(item *v1alpha1.AuditItem, pool *census.NamePool) (err error) {
	if c.watched {
		return nil
	}
	item.Last10m = new(last(pool, Last10m))
	item.Last24h = new(last(pool, Last24h))
	_, item.FailsInDays, err = c.closeness(pool, knownAttempts(item.Retries))
	return err
}

// foresee sets the chance that the next create fails, and the room.
func (c *Collector) foresee(item *v1alpha1.AuditItem, pool census.NamePool) error {
	item.Room.Probability = roomProbability
	single, err := c.estimate.future(pool, 1)
	if err != nil {
		return err
	}
	item.NextCreate.NoRetry, item.Room.NoRetry = single.next, &single.room
	if item.Attempts == nil {
		return nil
	}
	known, err := c.estimate.future(pool, *item.Attempts)
	item.NextCreate.ServerRetry, item.Room.ServerRetry = &known.next, &known.room
	return err
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

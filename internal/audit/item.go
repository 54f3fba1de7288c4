package audit

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

const (
	// headroomProbability is the chance of any failure up to which there is
	// headroom.
	headroomProbability = 0.001
	// rateConfidence is that of the interval of a rate.
	rateConfidence = 0.95

	day = 24 * time.Hour
)

// estimator works out what counts mean. Only one goroutine at a time may use it.
type estimator struct {
	// window is the time over which the census counted recent creations.
	window time.Duration
	// forecast is the horizon of the expected conflicts.
	forecast time.Duration

	// headrooms are those that have been calculated, because one takes a fifth
	// of a millisecond, and of many prefixes most have as many names as others.
	headrooms map[headroomKey]int64
}

type headroomKey struct {
	tries int
	names int64
}

// item returns what the count of one space means, where a create tries as many
// names as retries says. note is what else is known of the retries, or empty.
func (e *estimator) item(space census.Space, retries v1alpha1.Retries, note string) (v1alpha1.AuditItem, error) {
	item := v1alpha1.AuditItem{
		Group: space.Resource.Group, Version: space.Resource.Version, Resource: space.Resource.Resource,
		Namespace: space.Namespace, Prefix: space.Prefix,
		Names: space.Names, Generated: space.Generated, RawPrefixes: space.RawPrefixes,
		Oldest: timestamp(space.Oldest), Newest: timestamp(space.Newest),
		Retries: retries,
		Notes:   notes(space, note),
	}
	creates, err := e.creates(space.Recent[0])
	if err != nil {
		return item, err
	}
	item.Creates = creates
	item.Headroom.Probability = headroomProbability
	item.Forecast.Days = e.forecast.Hours() / day.Hours()
	single, err := e.outlook(item, 1)
	if err != nil {
		return item, err
	}
	item.NextCreate.NoRetry = single.next
	item.Headroom.NoRetry = single.headroom
	item.Forecast.Steady.NoRetry = single.steady
	item.Forecast.NothingDeleted.NoRetry = single.growing
	if retries.Attempts == nil {
		return item, nil
	}
	retried, err := e.outlook(item, *retries.Attempts)
	item.NextCreate.ServerRetry = &retried.next
	item.Headroom.ServerRetry = retried.headroom
	item.Forecast.Steady.ServerRetry = &retried.steady
	item.Forecast.NothingDeleted.ServerRetry = &retried.growing
	return item, err
}

// outlook is what lies before a space if a create tries a number of names.
type outlook struct {
	next            float64
	headroom        *int64
	steady, growing float64
}

// outlook returns what lies before the space of an item.
func (e *estimator) outlook(item v1alpha1.AuditItem, tries int) (outlook, error) {
	model, err := modelOf(tries)
	if err != nil {
		return outlook{}, err
	}
	headroom, err := e.headroom(model, item.Names)
	if err != nil {
		return outlook{}, err
	}
	forecast, err := model.Forecast(item.Names, item.Creates.PerDay, item.Forecast.Days)
	return outlook{
		next: model.NextFails(item.Names), headroom: &headroom,
		steady: forecast.Steady, growing: forecast.NothingDeleted,
	}, err
}

// headroom returns the number of creates until the chance of any failure passes
// headroomProbability.
func (e *estimator) headroom(model analyze.Model, names int64) (int64, error) {
	key := headroomKey{model.Tries(), names}
	if known, ok := e.headrooms[key]; ok {
		return known, nil
	}
	headroom, err := model.Headroom(names, headroomProbability)
	if err != nil {
		return 0, err
	}
	if e.headrooms == nil {
		e.headrooms = map[headroomKey]int64{}
	}
	e.headrooms[key] = headroom
	return headroom, nil
}

// modelOf returns the model of a create that tries a number of names.
func modelOf(tries int) (analyze.Model, error) {
	space, err := analyze.Space(names.SuffixLength)
	if err != nil {
		return analyze.Model{}, err
	}
	return analyze.NewModel(space, tries)
}

// creates returns the rate that recent creations in the window show.
func (e *estimator) creates(recent int64) (v1alpha1.Creates, error) {
	lower, upper, err := analyze.Garwood(recent, rateConfidence)
	perDay := day.Seconds() / e.window.Seconds()
	return v1alpha1.Creates{
		WindowSeconds: e.window.Seconds(),
		Observed:      recent,
		PerDay:        float64(recent) * perDay,
		PerDayLower:   lower * perDay,
		PerDayUpper:   upper * perDay,
	}, err
}

// timestamp returns the time as a report has it, nil if it is unknown.
func timestamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stamp := metav1.NewTime(t)
	return &stamp
}

package assess

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

const (
	// HeadroomProbability is the chance of any failure that an audit's headroom
	// leaves.
	HeadroomProbability = 0.001
	// rateConfidence is that of the interval of a rate.
	rateConfidence = 0.95

	day = 24 * time.Hour
)

// Lens is what an audit looks for in counts.
type Lens struct {
	// Window is the time over which the census counted recent creations.
	Window time.Duration
	// Forecast is the horizon of the expected conflicts.
	Forecast time.Duration

	// headrooms are those that have been calculated, because one takes a fifth
	// of a millisecond, and of many prefixes most have as many names as others.
	headrooms map[headroomKey]int64
}

type headroomKey struct {
	tries int
	names int64
}

// Item says what the count of one space means, where a create tries as many
// names as retries says. note is what else is known of the retries, or empty.
// It may not be called by several goroutines at once.
func (l *Lens) Item(space census.Space, retries v1alpha1.Retries, note string) (v1alpha1.AuditItem, error) {
	item := v1alpha1.AuditItem{
		Group: space.Resource.Group, Version: space.Resource.Version, Resource: space.Resource.Resource,
		Namespace: space.Namespace, Prefix: space.Prefix,
		Names: space.Names, Generated: space.Generated, RawPrefixes: space.RawPrefixes,
		Oldest: timestamp(space.Oldest), Newest: timestamp(space.Newest),
		Retries: retries,
		Notes:   notes(space, note),
	}
	creates, err := l.creates(space.Recent)
	if err != nil {
		return item, err
	}
	item.Creates = creates
	item.Headroom.Probability = HeadroomProbability
	item.Forecast.Days = l.Forecast.Hours() / day.Hours()
	single, err := l.outlook(item, 1)
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
	retried, err := l.outlook(item, *retries.Attempts)
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

func (l *Lens) outlook(item v1alpha1.AuditItem, tries int) (outlook, error) {
	model, err := modelOf(tries)
	if err != nil {
		return outlook{}, err
	}
	headroom, err := l.headroom(model, item.Names)
	if err != nil {
		return outlook{}, err
	}
	forecast, err := model.Forecast(item.Names, item.Creates.PerDay, item.Forecast.Days)
	return outlook{
		next: model.NextFails(item.Names), headroom: bounded(headroom),
		steady: forecast.Steady, growing: forecast.NothingDeleted,
	}, err
}

func (l *Lens) headroom(model analyze.Model, names int64) (int64, error) {
	key := headroomKey{model.Tries(), names}
	if known, ok := l.headrooms[key]; ok {
		return known, nil
	}
	headroom, err := model.Headroom(names, HeadroomProbability)
	if err != nil {
		return 0, err
	}
	if l.headrooms == nil {
		l.headrooms = map[headroomKey]int64{}
	}
	l.headrooms[key] = headroom
	return headroom, nil
}

func modelOf(tries int) (analyze.Model, error) {
	space, err := analyze.Space(names.SuffixLength)
	if err != nil {
		return analyze.Model{}, err
	}
	return analyze.NewModel(space, tries)
}

// creates is the rate that recent creations in the window tell.
func (l *Lens) creates(recent int64) (v1alpha1.Creates, error) {
	lower, upper, err := analyze.Garwood(recent, rateConfidence)
	perDay := day.Seconds() / l.Window.Seconds()
	return v1alpha1.Creates{
		WindowSeconds: l.Window.Seconds(),
		Observed:      recent,
		PerDay:        float64(recent) * perDay,
		PerDayLower:   lower * perDay,
		PerDayUpper:   upper * perDay,
	}, err
}

func timestamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stamp := metav1.NewTime(t)
	return &stamp
}

// Risk is the chance that the next create conflicts with the attempts in
// force; unknown attempts count as one.
func Risk(item v1alpha1.AuditItem) float64 {
	if item.NextCreate.ServerRetry != nil {
		return *item.NextCreate.ServerRetry
	}
	return item.NextCreate.NoRetry
}

// Order compares two spaces that a report may show.
type Order func(a, b *row) int

// Orders are the ways to sort a report, largest first; ties are broken by
// resource, namespace and prefix, in which the order "prefix" consists.
var Orders = map[string]Order{
	"risk": func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.risk, a.risk), cmp.Compare(b.Names, a.Names), byPrefix(a, b))
	},
	"count":  func(a, b *row) int { return cmp.Or(cmp.Compare(b.Names, a.Names), byPrefix(a, b)) },
	"rate":   func(a, b *row) int { return cmp.Or(cmp.Compare(b.Recent, a.Recent), byPrefix(a, b)) },
	"prefix": byPrefix,
}

func byPrefix(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Resource.Group, b.Resource.Group), cmp.Compare(a.Resource.Resource, b.Resource.Resource))
}

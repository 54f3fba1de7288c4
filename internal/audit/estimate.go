package audit

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	day = 24 * time.Hour
	// rateConfidence is that of the interval of one window's rate.
	rateConfidence = 0.95
)

// Windows are the times over which creations are counted, unless the user names
// another, the shortest first.
var Windows = []time.Duration{10 * time.Minute, time.Hour, day, 7 * day}

// estimator calculates rates and forecasts, and remembers those that take long, because most
// prefixes have the numbers of others. Several goroutines may use it at once.
type estimator struct {
	windows []time.Duration

	rates   memo[[census.MaxWindows]int64, v1alpha1.Creates]
	futures memo[futureKey, future]
	uppers  memo[int64, float64] // of the rate, in creates, where so many were seen
}

// creates returns the rate that recent creations show.
func (e *estimator) creates(recent [census.MaxWindows]int64) (v1alpha1.Creates, error) {
	return e.rates.get(recent, func() (v1alpha1.Creates, error) { return e.newCreates(recent) })
}

func (e *estimator) newCreates(recent [census.MaxWindows]int64) (creates v1alpha1.Creates, err error) {
	whole := max(slices.Index(e.windows, day), 0) // of a day, or the only one
	for i, length := range e.windows {
		window := analyze.Window{Days: length.Hours() / day.Hours(), Creates: recent[i]}
		rate, err := analyze.LowerRate([]analyze.Window{window})
		if err != nil {
			return creates, err
		}
		creates.Windows = append(creates.Windows, v1alpha1.CreatesWindow{
			Seconds: length.Seconds(), Observed: recent[i], PerDayLower: rate.PerDay,
		})
	}
	perDay := day.Seconds() / e.windows[whole].Seconds()
	lower, upper, err := analyze.Garwood(recent[whole], rateConfidence)
	creates.WindowSeconds, creates.Observed = e.windows[whole].Seconds(), recent[whole]
	creates.PerDay, creates.PerDayLower, creates.PerDayUpper = float64(recent[whole])*perDay, lower*perDay, upper*perDay
	return creates, err
}

// wholeCreates returns a number of creates as an integer from 0 to a size that no
// name pool has.
func wholeCreates(creates float64) int64 {
	return int64(math.Ceil(min(max(creates, 0), 1e15)))
}

type futureKey struct {
	suffixLength, attempts int
	names                  int64
}

// future is the part of a forecast that doesn't depend on the rate.
type future struct {
	next  float64
	room  int64
	first analyze.FirstFailure // at one create a day, or in a forecast at its rate
}

// prediction is the forecast for a name pool with a number of attempts.
type prediction struct {
	future
	steady, growing float64 // expected failures
	reused          float64 // per day
}

// prediction returns the forecast for a name pool at a rate of creation, over a number of days.
func (e *estimator) prediction(pool census.NamePool, attempts int, perDay, days float64) (*prediction, error) {
	model, err := modelOf(pool, attempts)
	if err != nil {
		return nil, err
	}
	known, err := e.future(pool, attempts)
	if err != nil {
		return nil, err
	}
	known.first.Growing /= perDay
	known.first.Steady /= perDay
	forecast, err := model.Forecast(pool.Names, perDay, days)
	o := &prediction{future: known, steady: forecast.Steady, growing: forecast.NothingDeleted}
	if days > 0 {
		o.reused = model.ExpectedReuses(pool.Names, wholeCreates(perDay*days)) / days
	}
	return o, err
}

// future returns the future of a name pool with a number of attempts.
func (e *estimator) future(pool census.NamePool, attempts int) (future, error) {
	key := futureKey{pool.SuffixLength, attempts, pool.Names}
	return e.futures.get(key, func() (future, error) {
		model, err := modelOf(pool, attempts)
		if err != nil {
			return future{}, err
		}
		return newFuture(model, pool.Names)
	})
}

func newFuture(model analyze.Model, names int64) (future, error) {
	room, err := model.Room(names, roomProbability)
	if err != nil {
		return future{}, err
	}
	first, err := model.FirstFailure(names, 1)
	return future{next: model.NextFails(names), room: room, first: first}, err
}

// finite returns x, or nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// memo remembers the results of a function, but for those above its size. The zero
// value is empty. Several goroutines may use it at once.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// maxRemembered is how many results a memo holds: some megabytes.
const maxRemembered = 1 << 14

// get returns the result for key, which calculate returns where it is not known.
func (m *memo[K, V]) get(key K, calculate func() (V, error)) (V, error) {
	m.mu.Lock()
	value, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return value, nil
	}
	value, err := calculate()
	if err != nil {
		return value, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[K]V{}
	}
	if len(m.known) < maxRemembered {
		m.known[key] = value
	}
	return value, nil
}

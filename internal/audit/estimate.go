package audit

import (
	"math"
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

	rates   memo[[census.MaxWindows]int64, rate]
	futures memo[futureKey, future]
	uppers  memo[int64, float64] // of the rate, in creates, where so many were seen
}

// rate is how fast names are created, as far as the windows show.
type rate struct {
	windows []v1alpha1.CreatesWindow
	whole   v1alpha1.Creates // of the window of a day, or of the only one
	least   analyze.Rate
}

// rate returns the rate that recent creations show.
func (e *estimator) rate(recent [census.MaxWindows]int64) (rate, error) {
	return e.rates.get(recent, func() (rate, error) { return e.newRate(recent) })
}

func (e *estimator) newRate(recent [census.MaxWindows]int64) (r rate, err error) {
	var seen []analyze.Window
	whole := 0
	for i, length := range e.windows {
		seen = append(seen, analyze.Window{Days: length.Hours() / day.Hours(), Creates: recent[i]})
		if length == day {
			whole = i
		}
	}
	for i, w := range seen {
		one, err := analyze.LowerRate(seen[i : i+1])
		if err != nil {
			return rate{}, err
		}
		r.windows = append(r.windows, v1alpha1.CreatesWindow{
			Seconds: e.windows[i].Seconds(), Observed: w.Creates, PerDayLower: one.PerDay,
		})
	}
	if r.least, err = analyze.LowerRate(seen); err != nil {
		return rate{}, err
	}
	r.whole, err = wholeWindow(e.windows[whole], recent[whole])
	return r, err
}

// wholeWindow returns the rate that one window shows.
func wholeWindow(window time.Duration, seen int64) (v1alpha1.Creates, error) {
	lower, upper, err := analyze.Garwood(seen, rateConfidence)
	perDay := day.Seconds() / window.Seconds()
	return v1alpha1.Creates{
		WindowSeconds: window.Seconds(),
		Observed:      seen,
		PerDay:        float64(seen) * perDay,
		PerDayLower:   lower * perDay,
		PerDayUpper:   upper * perDay,
	}, err
}

// creates returns the rate as a report has it.
func (r rate) creates() v1alpha1.Creates {
	creates := r.whole
	creates.Windows = r.windows
	return creates
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
	first analyze.FirstFailure // at one create a day
}

// outlook is the forecast for a name pool with a number of attempts.
type outlook struct {
	next            float64
	room            *int64
	steady, growing float64 // expected conflicts
	first           analyze.FirstFailure
	reused          float64 // per day
}

// outlook returns the forecast for a name pool at a rate of creation, over a number of days.
func (e *estimator) outlook(space census.NamePool, attempts int, perDay, days float64) (outlook, error) {
	model, err := modelOf(space, attempts)
	if err != nil {
		return outlook{}, err
	}
	known, err := e.future(space, attempts)
	if err != nil {
		return outlook{}, err
	}
	forecast, err := model.Forecast(space.Names, perDay, days)
	reused := 0.0
	if days > 0 {
		reused = model.ExpectedReuses(space.Names, wholeCreates(perDay*days)) / days
	}
	return outlook{
		next: known.next, room: &known.room,
		steady: forecast.Steady, growing: forecast.NothingDeleted,
		first:  analyze.FirstFailure{Growing: known.first.Growing / perDay, Steady: known.first.Steady / perDay},
		reused: reused,
	}, err
}

// future returns the future of a name pool with a number of attempts.
func (e *estimator) future(space census.NamePool, attempts int) (future, error) {
	key := futureKey{space.SuffixLength, attempts, space.Names}
	return e.futures.get(key, func() (future, error) {
		model, err := modelOf(space, attempts)
		if err != nil {
			return future{}, err
		}
		return newFuture(model, space.Names)
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

package audit

import (
	"math"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

const day = 24 * time.Hour

// estimator remembers forecasts that take long, because most prefixes have the numbers of
// others. Several goroutines may use it at once.
type estimator struct{ futures memo[futureKey, future] }

type futureKey struct {
	suffixLength, attempts int
	names                  int64
}

// future is the forecast for a name pool with a number of attempts.
type future struct {
	next float64
	room int64
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
	return future{next: model.NextFails(names), room: room}, err
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

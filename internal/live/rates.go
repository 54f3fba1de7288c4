package live

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// rates counts creates and deletes in exponentially decaying windows (Leskovec,
// Rajaraman and Ullman, "Mining of Massive Datasets", 4.7). An event that happened a window's
// length ago weighs 1/e. So a window takes two numbers, however many events there are. The
// sum of the weights since the beginning makes the rate unbiased from the first second on.
// Times are those of a clock.
type rates struct {
	last             time.Time // until when they are decayed
	creates, deletes [len(Windows)]float64
}

// add counts creates and deletes that came evenly from one time to another, which is not
// before the last one. Each weighs the mean of exp(-t/window) over that time.
func (r *rates) add(from, now time.Time, creates, deletes float64) {
	r.decay(now)
	lasted := max(r.last.Sub(from).Seconds(), 0)
	for i, window := range Windows {
		weight := 1.0
		if x := lasted / window.Seconds(); x > 0 {
			weight = -math.Expm1(-x) / x
		}
		r.creates[i] += creates * weight
		r.deletes[i] += deletes * weight
	}
}

func (r *rates) decay(now time.Time) {
	passed := now.Sub(r.last)
	if passed <= 0 {
		return
	}
	for i, window := range Windows {
		weight := math.Exp(-passed.Seconds() / window.Seconds())
		r.creates[i] *= weight
		r.deletes[i] *= weight
	}
	r.last = now
}

// at returns the rates at a time, of the events since another time.
func (r *rates) at(now, since time.Time) (all [len(Windows)]Rate) {
	passed := now.Sub(since).Seconds()
	if passed <= 0 {
		return all
	}
	current := *r
	current.decay(now)
	for i, window := range Windows {
		days := window.Hours() / 24 * -math.Expm1(-passed/window.Seconds())
		all[i] = Rate{CreatesPerDay: current.creates[i] / days, DeletesPerDay: current.deletes[i] / days}
	}
	return all
}

const (
	// fewDeleted is up to how many names that were deleted are a set, which takes a
	// megabyte then; more are bits, which take 1.8 MB.
	fewDeleted = 1 << 16
	// poolSize is the size of a name pool, 27^5, with the suffixes of a server.
	poolSize = 14_348_907
)

// reuse counts the creates under names that have been deleted since it began.
type reuse struct {
	few   map[uint32]bool // the names that were deleted, if they are few
	many  []uint64        // else a bit for each name of a name pool
	count int64
}

// index is the number of a suffix among those of a server.
func index(name string) int {
	n := 0
	for i := len(name) - names.SuffixLength; i < len(name); i++ {
		n = n*len(names.Alphabet) + strings.IndexByte(names.Alphabet, name[i])
	}
	return n
}

func (r *reuse) created(name string) {
	n := index(name)
	if r.few[uint32(n)] || r.many != nil && r.many[n/64]&(1<<(n%64)) != 0 {
		r.count++
	}
}

func (r *reuse) removed(name string) {
	n := index(name)
	if r.many != nil {
		r.many[n/64] |= 1 << (n % 64)
		return
	}
	if r.few == nil {
		r.few = map[uint32]bool{}
	}
	r.few[uint32(n)] = true
	if len(r.few) < fewDeleted {
		return
	}
	r.many = make([]uint64, (poolSize+63)/64)
	for n := range r.few {
		r.many[n/64] |= 1 << (n % 64)
	}
	r.few = nil
}

// clock is the time that rates use. It starts with the calendar, and then advances with
// the time since the computer booted: that counts the time for which the computer sleeps,
// and ignores every step of the calendar.
type clock struct {
	uptime func() time.Duration // nil uses that of the computer
	ahead  time.Duration        // of the calendar of this computer

	once    sync.Once
	began   time.Time     // without a monotonic reading
	running time.Duration // the uptime then
}

func (c *clock) now() time.Time {
	c.once.Do(func() {
		if c.uptime == nil {
			c.uptime = uptime
		}
		c.began, c.running = time.Now().Round(0).Add(c.ahead), c.uptime()
	})
	return c.began.Add(c.uptime() - c.running)
}

// loaded is when the program started. The time since then is without the time for which the
// computer slept. It replaces the uptime where that is not available.
var loaded = time.Now()

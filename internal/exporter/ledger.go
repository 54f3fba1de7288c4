package exporter

import (
	"hash/maphash"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
)

// maxAccounts is how many accounts each of the two halves of a ledger has.
const maxAccounts = 1 << 15

// ledger keeps the counters of prefixes from decreasing. The engine counts a prefix from 0
// again after it forgot the prefix, or after its resource type was unreachable. A ledger adds the
// counts from before.
//
// It has an account for each prefix that has had series, by hash. If there are too many, it
// drops the accounts that were not used for the longest time: first they move to the older
// half, and then that half is dropped.
type ledger struct {
	seed         maphash.Seed
	newer, older map[uint64]account
}

// account is the state of the counters of one prefix.
type account struct {
	since        int64  // when the engine began to count, in Unix nanoseconds
	last, before counts // of the engine now, and of the times that it counted before
}

// counts are the values of the counters of a prefix.
type counts struct {
	creates, deletes int64
	failures         float64
}

func (c counts) plus(d counts) counts {
	return counts{c.creates + d.creates, c.deletes + d.deletes, c.failures + d.failures}
}

// fewer reports whether a counter is less than that of another.
func (c counts) fewer(than counts) bool {
	return c.creates < than.creates || c.deletes < than.deletes || c.failures < than.failures
}

func newLedger() *ledger {
	return &ledger{seed: maphash.MakeSeed(), newer: map[uint64]account{}, older: map[uint64]account{}}
}

// total returns the counters of a prefix whose row has been read.
func (l *ledger) total(pool Pool, row live.Row) counts {
	key := maphash.Comparable(l.seed, pool)
	a, ok := l.newer[key]
	if !ok {
		a = l.older[key]
	}
	if row.Followed {
		a.take(row.Since, counts{row.Creates, row.Deletes, row.Failures})
	}
	if !ok && len(l.newer) >= maxAccounts {
		l.older, l.newer = l.newer, map[uint64]account{}
	}
	l.newer[key] = a
	return a.before.plus(a.last)
}

// take notes the counters of the engine, which counts since a time.
func (a *account) take(since time.Time, now counts) {
	if a.since != since.UnixNano() || now.fewer(a.last) {
		a.before = a.before.plus(a.last)
	}
	a.since, a.last = since.UnixNano(), now
}

// rising is a counter of a resource type that never decreases, also if the type was unreachable.
type rising struct{ last, before int64 }

// at returns the counter when the engine has so many.
func (r *rising) at(now int64) float64 {
	if now < r.last {
		r.before += r.last
	}
	r.last = now
	return float64(r.before + now)
}

package exporter

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// keeps is the time for which a prefix keeps its series after it has left both lists.
const keeps = time.Hour

// lately is the index of the time window for the list of recent creates. Older creates have less weight.
var lately = slices.Index(pools.Windows[:], 10*time.Minute)

// Source takes snapshots of the counts.
type Source interface {
	Snapshot(each func(pools.Row)) live.Snapshot
}

// selection chooses the prefixes that have series. They are the first top prefixes by names, and the first top/2
// prefixes by creates of the last ten minutes.
type selection struct {
	top      int
	minCount int64
	held     map[pools.Key]hold
	dropped  int // prefixes without series that have enough names or creates
}

// hold is a prefix that has series.
type hold struct {
	last time.Time // when the prefix was last in one of the lists
	// creator is the creator in the label. It changes at most once in keeps, because a client can claim any creator for
	// a new object, and each change creates another series. since is the time of the last change.
	creator object.Creator
	since   time.Time
}

func newSelection(top int, minCount int64) *selection {
	return &selection{top: top, minCount: minCount, held: map[pools.Key]hold{}}
}

// choose takes a snapshot, and returns the rows of the chosen prefixes in order. The memory of choose grows with top,
// not with the number of rows.
func (s *selection) choose(source Source) ([]pools.Row, live.Snapshot) {
	names, recent := &ranking{most: s.top}, &ranking{most: (s.top + 1) / 2}
	rows := map[pools.Key]pools.Row{}
	s.dropped = 0
	snapshot := source.Snapshot(func(row pools.Row) {
		creates := row.Weighed[lately].Creates
		if row.Pool.Names >= s.minCount {
			names.offer(ranked{float64(row.Pool.Names), row})
		}
		if creates >= float64(s.minCount) {
			recent.offer(ranked{creates, row})
		}
		if s.isEligible(row) {
			s.dropped++
		}
		if _, held := s.held[row.Pool.Key]; held {
			rows[row.Pool.Key] = row
		}
	})
	for _, list := range [][]ranked{names.first(), recent.first()} {
		for _, r := range list {
			h := s.held[r.row.Pool.Key]
			h.last = snapshot.At
			s.held[r.row.Pool.Key], rows[r.row.Pool.Key] = h, r.row
		}
	}
	s.release(snapshot.At)
	maps.DeleteFunc(rows, func(pool pools.Key, _ pools.Row) bool { return s.held[pool].last.IsZero() })
	chosen := slices.SortedFunc(maps.Keys(rows), pools.Key.Compare)
	ordered := make([]pools.Row, 0, len(chosen))
	for _, pool := range chosen {
		row, h := rows[pool], s.held[pool]
		if s.isEligible(row) { // a prefix that only keeps its series can be too small
			s.dropped--
		}
		if h.creator != row.Pool.Creator && snapshot.At.Sub(h.since) >= keeps {
			h.creator, h.since = row.Pool.Creator, snapshot.At
			s.held[pool] = h
		}
		row.Pool.Creator = h.creator
		ordered = append(ordered, row)
	}
	return ordered, snapshot
}

// isEligible reports whether a prefix has enough names or creates for series.
func (s *selection) isEligible(row pools.Row) bool {
	return row.Pool.Names >= s.minCount || row.Weighed[lately].Creates >= float64(s.minCount)
}

// release drops the prefixes that have kept their series long enough. If more than 2*top prefixes remain, it also drops
// those that left both lists first.
func (s *selection) release(now time.Time) {
	maps.DeleteFunc(s.held, func(_ pools.Key, h hold) bool { return now.Sub(h.last) > keeps })
	excess := len(s.held) - 2*s.top
	if excess <= 0 {
		return
	}
	longest := slices.SortedFunc(maps.Keys(s.held), func(a, b pools.Key) int {
		return cmp.Or(s.held[a].last.Compare(s.held[b].last), a.Compare(b))
	})
	for _, pool := range longest[:excess] {
		delete(s.held, pool)
	}
}

// ranked is a row with the value by which it is ranked.
type ranked struct {
	value float64
	row   pools.Row
}

// ranking keeps the rows with the largest values. If there are too many rows, each namespace keeps at most half of
// them. So the prefixes of one namespace can't displace all prefixes of other namespaces.
type ranking struct {
	most  int
	rows  []ranked // up to twice as many as are kept
	least *ranked  // last row that is kept; nil while there is room
	// of has the number of ranked rows of each namespace. isShared reports whether the rows within these halves fill
	// the ranking. Until then, the ranking also keeps small rows of a namespace below its half.
	of       map[string]int
	isShared bool
}

// half returns the number of rows that a namespace keeps if other namespaces have enough rows.
func (k *ranking) half() int { return (k.most + 1) / 2 }

// offer adds a row, unless the row can't be among the first rows.
func (k *ranking) offer(r ranked) {
	if k.least != nil && compareRanked(r, *k.least) > 0 && (k.isShared || k.of[r.row.Pool.Namespace] >= k.half()) {
		return
	}
	if k.rows = append(k.rows, r); len(k.rows) >= 2*k.most {
		k.first()
	}
}

// first keeps only the first rows, and returns them.
func (k *ranking) first() []ranked {
	slices.SortFunc(k.rows, compareRanked)
	if len(k.rows) > k.most {
		k.of = map[string]int{}
		var kept, surplus []ranked
		for _, r := range k.rows {
			if k.of[r.row.Pool.Namespace]++; k.of[r.row.Pool.Namespace] > k.half() {
				surplus = append(surplus, r)
			} else {
				kept = append(kept, r)
			}
		}
		k.isShared = len(kept) >= k.most
		k.rows = slices.Concat(kept, surplus)[:k.most]
		least := k.rows[k.most-1]
		k.least = &least
	}
	return k.rows
}

// compareRanked compares two rows. The largest value comes first. Equal values are compared by their labels, so
// that the choice doesn't change between snapshots.
func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), a.row.Pool.Compare(b.row.Pool.Key))
}

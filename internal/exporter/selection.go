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

// keeps is the time for which a prefix keeps its series after it was last in one of the two lists.
const keeps = time.Hour

// lately is the index of the window of the second list. Older creates weigh less.
var lately = slices.Index(pools.Windows[:], 10*time.Minute)

// Source takes snapshots.
type Source interface {
	Snapshot(each func(pools.Row)) live.Snapshot
}

// selection chooses the prefixes that have series. A prefix is chosen if it is among the
// first top by names, or among the first top/2 by creates of the last ten minutes.
type selection struct {
	top      int
	minCount int64
	held     map[pools.Key]hold
	dropped  int // prefixes without series that have enough names or creates
}

// hold is a prefix that has series.
type hold struct {
	last time.Time // when the prefix was last in one of the lists
	// creator is the creator in the label. It changes once in keeps at most, because the creator of the newest object
	// is what a client claims, and each creator makes a series. since is the time of the last change.
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
	rows, eligible := map[pools.Key]pools.Row{}, 0
	snapshot := source.Snapshot(func(row pools.Row) {
		creates := row.Weighed[lately].Creates
		if row.Pool.Names >= s.minCount {
			names.offer(ranked{float64(row.Pool.Names), row})
		}
		if creates >= float64(s.minCount) {
			recent.offer(ranked{creates, row})
		}
		if row.Pool.Names >= s.minCount || creates >= float64(s.minCount) {
			eligible++
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
	s.dropped = max(eligible-len(rows), 0)
	chosen := slices.SortedFunc(maps.Keys(rows), pools.Key.Compare)
	ordered := make([]pools.Row, 0, len(chosen))
	for _, pool := range chosen {
		row, h := rows[pool], s.held[pool]
		if h.creator != row.Pool.Creator && snapshot.At.Sub(h.since) >= keeps {
			h.creator, h.since = row.Pool.Creator, snapshot.At
			s.held[pool] = h
		}
		row.Pool.Creator = h.creator
		ordered = append(ordered, row)
	}
	return ordered, snapshot
}

// release drops the prefixes whose time is over. If more than 2*top remain, it also drops those that were in
// neither list for the longest time.
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

package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// rowState has the fields of a row that are compared with the last report. If any of these fields changes, the watch
// prints the row again.
type rowState struct {
	names, creates, deletes int64
	notes                   string
	round                   int
}

// changes remembers the rows that were printed.
type changes struct {
	rows  map[v1alpha1.PrefixRef]rowState
	round int
}

// take returns the rows that have changed since the last call, and the name pools of rows that no longer exist.
func (c *changes) take(rows []row) (changed []row, gone []v1alpha1.PrefixRef) {
	if c.rows == nil {
		c.rows = map[v1alpha1.PrefixRef]rowState{}
	}
	c.round++
	for i := range rows {
		r := &rows[i]
		now := rowState{names: r.Names, notes: strings.Join(r.Notes, "\n"), round: c.round}
		if m := r.Measured; m != nil {
			now.creates, now.deletes = m.Creates, m.Deletes
		}
		pool := r.PrefixRef
		if r.fold != nil {
			pool.Prefix = "(" + cmp.Or(r.fold.Manager, plural(r.fold.OwnerKind)) + ")"
		}
		before, known := c.rows[pool]
		if before.round = c.round; !known || before != now {
			changed = append(changed, *r)
		}
		c.rows[pool] = now
	}
	for pool, last := range c.rows {
		if last.round < c.round {
			delete(c.rows, pool)
			gone = append(gone, pool)
		}
	}
	slices.SortFunc(gone, v1alpha1.PrefixRef.Compare)
	return changed, gone
}

package audit

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// rowState has the fields of a row whose change makes it worth printing again, and the last
// round that had the row.
type rowState struct {
	names, creates, deletes int64
	notes                   string
	round                   int
}

// changes remembers the rows that were printed.
type changes struct {
	rows  map[pools.Key]rowState
	round int
}

// take returns the rows that have changed since it was called last, and the name pools of rows
// that are not there any more.
func (c *changes) take(rows []row) (changed []row, gone []pools.Key) {
	if c.rows == nil {
		c.rows = map[pools.Key]rowState{}
	}
	c.round++
	for i := range rows {
		r := &rows[i]
		now := rowState{names: r.Names, notes: strings.Join(r.Notes, "\n"), round: c.round}
		if m := r.Measured; m != nil {
			now.creates, now.deletes = m.Creates, m.Deletes
		}
		pool := poolOf(&r.AuditItem)
		if r.fold != nil {
			pool.Prefix = "(" + plural(r.fold.OwnerKind) + ")"
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
	slices.SortFunc(gone, pools.Key.Compare)
	return changed, gone
}

// poolOf returns the name pool of an item.
func poolOf(item *v1alpha1.AuditItem) pools.Key {
	return pools.Key{
		Namespace: item.Namespace, GroupResource: schema.GroupResource{Group: item.Group, Resource: item.Resource},
		Prefix: item.Prefix,
	}
}

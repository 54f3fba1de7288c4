package audit

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rowKey identifies a row.
type rowKey struct {
	resource     schema.GroupResource
	namespace    string
	prefix       string
	suffixLength int
}

func (r *row) key() rowKey {
	return rowKey{schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Namespace, r.Prefix, r.SuffixLength}
}

// rowState has the fields of a row whose change makes it worth printing again.
type rowState struct {
	names, creates, deletes int64
	notes                   string
}

func (r *row) state() rowState {
	state := rowState{names: r.Names, notes: strings.Join(r.Notes, "\n")}
	if m := r.Creates.Measured; m != nil {
		state.creates, state.deletes = m.Creates, m.Deletes
	}
	return state
}

// changes remembers the rows that were printed, and the last round that had them.
type changes struct {
	rows  map[rowKey]shownRow
	round int
}

type shownRow struct {
	rowState
	round int
}

// take returns the rows that have changed since it was called last, and the keys of rows
// that are not there any more.
func (c *changes) take(rows []row) (changed []row, gone []rowKey) {
	if c.rows == nil {
		c.rows = map[rowKey]shownRow{}
	}
	c.round++
	for i := range rows {
		key, now := rows[i].key(), shownRow{rows[i].state(), c.round}
		if before, known := c.rows[key]; !known || before.rowState != now.rowState {
			changed = append(changed, rows[i])
		}
		c.rows[key] = now
	}
	for key, row := range c.rows {
		if row.round < c.round {
			delete(c.rows, key)
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b rowKey) int {
		return cmp.Or(
			cmp.Compare(a.resource.String(), b.resource.String()), cmp.Compare(a.namespace, b.namespace),
			cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.suffixLength, b.suffixLength))
	})
	return changed, gone
}

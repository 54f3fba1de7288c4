package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// maxExceeded is how many of the name pools that exceed a gate a report lists.
const maxExceeded = 1000

// kept has the rows and the sums of one list, or of all lists.
type kept struct {
	rows          []*row
	exceeded      []v1alpha1.AuditExceeded
	exceededCount int64
	undecided     int64 // name pools whose growth may exceed a gate
	hidden        v1alpha1.AuditHidden
	folds         map[foldKey]*fold
	verdict       verdict
	prefixes      int64
	found         set[string]  // of those that the user named
	seen          set[poolKey] // of those that the earlier audit shows
	err           error        // the first
}

// row is a name pool that the report may show.
type row struct {
	census.NamePool
	measured *v1alpha1.Measured // nil if it is not followed
	// accelerates is true if its creates are certainly faster than before.
	accelerates bool
	rank        float64 // trim sets it
}

// merge adds the rows and the sums of a list.
func (k *kept) merge(list *kept) {
	k.rows = append(k.rows, list.rows...)
	k.exceeded = append(k.exceeded, list.exceeded...)
	k.exceededCount += list.exceededCount
	k.undecided += list.undecided
	k.hidden.Prefixes += list.hidden.Prefixes
	k.hidden.Names += list.hidden.Names
	k.hidden.BelowTop += list.hidden.BelowTop
	for key, f := range list.folds {
		k.fold(key, f)
	}
	k.verdict.merge(&list.verdict)
	k.prefixes += list.prefixes
	k.found.add(slices.Collect(maps.Keys(list.found))...)
	k.seen.add(slices.Collect(maps.Keys(list.seen))...)
	k.fail(list.err)
}

// fail remembers the first error.
func (k *kept) fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// trim sorts the rows, hides those below the top, and returns them.
func (k *kept) trim(c *Collector) (below []*row) {
	for _, r := range k.rows {
		c.setRank(r)
	}
	slices.SortFunc(k.rows, c.options.Order.compare)
	top := c.options.Top
	if top == 0 || len(k.rows) <= top {
		return nil
	}
	k.rows, below = k.rows[:top], k.rows[top:]
	for _, r := range below {
		k.hideBelowTop(c, r)
	}
	return below
}

// exceed remembers a name pool that exceeds a gate, unless there are many worse.
func (k *kept) exceed(pool v1alpha1.AuditExceeded) {
	k.exceededCount++
	k.exceeded = append(k.exceeded, pool)
	if len(k.exceeded) >= 2*maxExceeded {
		k.trimExceeded()
	}
}

// trimExceeded sorts the name pools that exceed a gate, and forgets all but the worst.
func (k *kept) trimExceeded() {
	slices.SortFunc(k.exceeded, func(a, b v1alpha1.AuditExceeded) int {
		return cmp.Or(
			cmp.Compare(b.NextCreate, a.NextCreate), cmp.Compare(b.Names, a.Names), cmp.Compare(a.Prefix, b.Prefix),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Resource, b.Resource))
	})
	k.exceeded = k.exceeded[:min(len(k.exceeded), maxExceeded)]
}

// hide counts a name pool that the report doesn't show.
func (k *kept) hide(pool *census.NamePool) {
	k.hidden.Prefixes++
	k.hidden.Names += pool.Names
}

// hideBelowTop counts a row that only Options.Top hides. The verdict includes it.
func (k *kept) hideBelowTop(c *Collector, r *row) {
	if !c.watched {
		k.fail(c.addToVerdict(&k.verdict, &r.NamePool))
	}
	k.hide(&r.NamePool)
	k.hidden.BelowTop++
}

// see remembers that a name pool of the earlier audit has names.
func (k *kept) see(old *baseline, pool *census.NamePool) {
	if old == nil || pool.Names == 0 { // which has gone, though it may be shown
		return
	}
	if key := keyOf(*pool); old.names[key] > 0 {
		k.seen.add(key)
	}
}

// set is a set that can be nil.
type set[K comparable] map[K]bool

func (s *set[K]) add(keys ...K) {
	for _, key := range keys {
		if *s == nil {
			*s = set[K]{}
		}
		(*s)[key] = true
	}
}

package audit

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// maxExceeded is how many of the spaces that exceed a gate a report names.
const maxExceeded = 1000

// kept is what is kept of the spaces seen, by one list or by all.
type kept struct {
	rows          []*row
	exceeded      []v1alpha1.AuditExceeded
	exceededCount int64
	undecided     int64 // spaces whose growth may exceed a gate
	hidden        map[place]v1alpha1.AuditHidden
	prefixes      int64
	found         map[string]bool   // of Options.Prefixes
	seen          map[spaceKey]bool // of those that the earlier audit shows
	err           error             // the first
}

// row is a space that the report may show.
type row struct {
	census.Space
	measured *v1alpha1.Measured // nil if it is not followed
	rank     rank               // trim sets it
}

// place is a resource in a namespace.
type place struct {
	resource  schema.GroupResource
	namespace string
}

// merge adds what a list has kept.
func (k *kept) merge(list *kept) {
	k.rows = append(k.rows, list.rows...)
	k.exceeded = append(k.exceeded, list.exceeded...)
	k.exceededCount += list.exceededCount
	k.undecided += list.undecided
	for at, hidden := range list.hidden {
		k.hide(at, hidden.Prefixes, hidden.Objects)
	}
	k.prefixes += list.prefixes
	for prefix := range list.found {
		k.find(prefix)
	}
	for key := range list.seen {
		k.saw(key)
	}
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
		if !r.rank.known {
			k.fail(c.setRank(r))
		}
	}
	slices.SortFunc(k.rows, c.options.Order.compare)
	top := c.options.Top
	if top == 0 || len(k.rows) <= top {
		return nil
	}
	k.rows, below = k.rows[:top], k.rows[top:]
	for _, r := range below {
		k.hide(place{r.Resource.GroupResource(), r.Namespace}, 1, r.Names)
	}
	return below
}

// exceed remembers a space that exceeds a gate, unless there are many worse.
func (k *kept) exceed(space v1alpha1.AuditExceeded) {
	k.exceededCount++
	k.exceeded = append(k.exceeded, space)
	if len(k.exceeded) >= 2*maxExceeded {
		k.trimExceeded()
	}
}

// trimExceeded sorts what exceeds a gate and forgets all but the worst.
func (k *kept) trimExceeded() {
	slices.SortFunc(k.exceeded, func(a, b v1alpha1.AuditExceeded) int {
		return cmp.Or(
			cmp.Compare(b.NextCreate, a.NextCreate), cmp.Compare(b.Names, a.Names), cmp.Compare(a.Prefix, b.Prefix),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Resource, b.Resource))
	})
	k.exceeded = k.exceeded[:min(len(k.exceeded), maxExceeded)]
}

// hide counts prefixes that the report does not show, and their names.
func (k *kept) hide(at place, prefixes, names int64) {
	if k.hidden == nil {
		k.hidden = map[place]v1alpha1.AuditHidden{}
	}
	before := k.hidden[at]
	k.hidden[at] = v1alpha1.AuditHidden{Prefixes: before.Prefixes + prefixes, Objects: before.Objects + names}
}

// see remembers that a space which the earlier audit shows has names.
func (k *kept) see(old *baseline, space census.Space) {
	if old == nil {
		return
	}
	if key := keyOf(space); old.names[key] > 0 {
		k.saw(key)
	}
}

func (k *kept) saw(key spaceKey) {
	if k.seen == nil {
		k.seen = map[spaceKey]bool{}
	}
	k.seen[key] = true
}

// find remembers that a prefix that was asked for has names.
func (k *kept) find(prefix string) {
	if k.found == nil {
		k.found = map[string]bool{}
	}
	k.found[prefix] = true
}

// missing returns those of the prefixes that no name has.
func (k *kept) missing(prefixes []string) (missing []string) {
	for _, prefix := range prefixes {
		if !k.found[prefix] {
			missing = append(missing, prefix)
		}
	}
	return missing
}

// allHidden returns how much is hidden in all places.
func (k *kept) allHidden() (all v1alpha1.AuditHidden) {
	for _, hidden := range k.hidden {
		all.Prefixes += hidden.Prefixes
		all.Objects += hidden.Objects
	}
	return all
}

// Hidden is how many names of one resource in one namespace a report does not
// show.
type Hidden struct {
	Resource  schema.GroupResource
	Namespace string // empty for a cluster-scoped resource
	Names     int64
}

// mostHidden returns the place where the most names are hidden; of equals, the
// first by resource and namespace.
func (k *kept) mostHidden() (most Hidden) {
	for at, hidden := range k.hidden {
		h := Hidden{at.resource, at.namespace, hidden.Objects}
		if cmp.Or(
			cmp.Compare(h.Names, most.Names),
			cmp.Compare(most.Resource.String(), h.Resource.String()),
			cmp.Compare(most.Namespace, h.Namespace)) > 0 {
			most = h
		}
	}
	return most
}

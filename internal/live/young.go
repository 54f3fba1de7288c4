package live

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxYoung is of how many spaces of a type that have begun while it was watched the
// first names are counted exactly.
const maxYoung = 4_096

// young are the spaces that have begun last, in a ring. One of which fewer than MinCount
// names have come when its place is taken is counted by the sketch alone.
type young struct {
	ids  []spaces.ID
	next int
}

// begins reports whether a space has no names yet. The sketch never says too few, so
// what begins where it says none can be counted without a list. A sketch of very many
// spaces seldom says so. Then, where a selector chooses, and where several
// generateNames can share a space, a list has to tell.
func (k *kind) begins(e *Engine, id spaces.ID) bool {
	return k.counters[id] == nil && len(id.Prefix) < names.MaxLength-names.MaxSuffixLength &&
		k.sketch.estimate(id) == 0 && !e.selects()
}

// begin makes a counter of a space whose first name c adds. One is no rate yet: rates are
// of what comes after it.
func (k *kind) begin(e *Engine, id spaces.ID, c changed) {
	id.Namespace, id.Prefix = strings.Clone(id.Namespace), strings.Clone(id.Prefix)
	begun := newCounter(census.NamePool{ReplicaBounded: true}) // unless another one makes it
	since := c.since
	begun.version, begun.since, begun.young = c.version, &since, true
	begun.add(id, &c)
	begun.see(c.at).creates++
	if k.counters == nil {
		k.counters = map[spaces.ID]*counter{}
	}
	k.counters[id] = begun
	if len(k.young.ids) < maxYoung {
		k.young.ids = append(k.young.ids, id)
		return
	}
	oldest := &k.young.ids[k.young.next]
	if before := k.counters[*oldest]; before != nil && before.young && before.seen.creates < e.MinCount {
		delete(k.counters, *oldest)
	}
	*oldest = id
	k.young.next = (k.young.next + 1) % maxYoung
}

package pools

import (
	"cmp"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/stem"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Near is the prefix most like a named one that has no names. The zero value is no prefix.
type Near struct {
	Prefix string
	// IsObject is true if the named prefix is the name of an object with the prefix.
	IsObject bool

	distance int
	names    int64
}

// Offer records a prefix with a number of names if it is nearer to a named prefix than all earlier ones.
func (n *Near) Offer(named, prefix string, count int64) {
	near := Near{Prefix: prefix, distance: distance(named, prefix), names: count}
	in, _, _ := names.Split(named)
	if prefix != "" && (in == prefix || stem.Of(named).Prefix == prefix) {
		near.IsObject, near.distance = true, -1
	}
	far := near.distance > min(humanize.Farthest, len(named)/3) && !strings.HasPrefix(prefix, named)
	if named == prefix || count == 0 || far {
		return
	}
	if n.Prefix == "" || cmp.Or(cmp.Compare(n.distance, near.distance), cmp.Compare(near.names, n.names)) > 0 {
		*n = near
	}
}

// distance returns the number of bytes that differ between two prefixes. distance ignores dashes at the end. A prefix
// that begins with the named one is as near as one typing error.
func distance(named, prefix string) int {
	typed, whole := strings.TrimRight(named, "-."), strings.TrimRight(prefix, "-.")
	if typed != whole && strings.HasPrefix(prefix, named) {
		return 1
	}
	return humanize.Distance(typed, whole)
}

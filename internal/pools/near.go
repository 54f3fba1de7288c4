package pools

import (
	"cmp"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
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
	if in, _, generated := names.Split(named); generated && in == prefix {
		near.IsObject, near.distance = true, -1
	}
	if named == prefix || count == 0 || near.distance > min(humanize.Farthest, len(named)/3) {
		return
	}
	if n.Prefix == "" || cmp.Or(cmp.Compare(n.distance, near.distance), cmp.Compare(near.names, n.names)) > 0 {
		*n = near
	}
}

// distance returns the number of bytes that differ between two prefixes. It ignores a dash at the end.
func distance(named, prefix string) int {
	if strings.TrimRight(named, "-.") == strings.TrimRight(prefix, "-.") {
		return 0
	}
	return humanize.Distance(named, prefix)
}

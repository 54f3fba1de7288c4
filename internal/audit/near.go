package audit

import (
	"cmp"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Near is the prefix most like a named one that has no names.
type Near struct {
	Prefix string
	// IsObject is true if the named prefix is the name of an object with the prefix.
	IsObject bool

	distance int
	names    int64
}

// nearest are prefixes by the names that the user gave.
type nearest map[string]Near

// add remembers a name pool if it is nearer to a named prefix than all others.
func (n nearest) add(options *Options, pool *pools.Pool) {
	named := options.Prefixes
	if options.PrefixesOf != nil {
		named = options.PrefixesOf[pool.GroupResource]
	}
	for _, prefix := range named {
		near := Near{Prefix: pool.Prefix, distance: distance(prefix, pool.Prefix), names: pool.Names}
		if in, _, generated := names.Split(prefix); generated && in == pool.Prefix {
			near.IsObject, near.distance = true, -1
		}
		if prefix == pool.Prefix || pool.Names == 0 || near.distance > min(humanize.Farthest, len(prefix)/3) {
			continue
		}
		key := options.asNamed(pool.GroupResource, prefix)
		before, known := n[key]
		if !known || cmp.Or(cmp.Compare(before.distance, near.distance), cmp.Compare(near.names, before.names)) > 0 {
			n[key] = near
		}
	}
}

// distance returns how many bytes differ between two prefixes. A dash at the end doesn't count.
func distance(named, prefix string) int {
	if strings.TrimRight(named, "-.") == strings.TrimRight(prefix, "-.") {
		return 0
	}
	return humanize.Distance(named, prefix)
}

package audit

import "github.com/kubectl-genname/kubectl-genname/internal/pools"

// nearest are prefixes by the names that the user gave.
type nearest map[string]pools.Near

// add offers a name pool to all named prefixes.
func (n nearest) add(options *Options, pool *pools.Pool) {
	named := options.Prefixes
	if options.PrefixesOf != nil {
		named = options.PrefixesOf[pool.GroupResource]
	}
	for _, prefix := range named {
		key := options.asNamed(pool.GroupResource, prefix)
		near := n[key]
		if near.Offer(prefix, pool.Prefix, pool.Names); near.Prefix != "" {
			n[key] = near
		}
	}
}

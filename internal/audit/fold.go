package audit

import (
	"cmp"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// foldKey is the place and the kind of owner that the prefixes of one fold share.
type foldKey struct {
	place
	ownerKind string
}

// fold is a number of prefixes with few names, whose objects have controllers of one kind.
type fold struct {
	prefixes, names, last10m, last24h int64
	owners                            []uint64 // hashes, each at least once
	distinct                          int      // how many of these are sorted, and different
}

// foldOrHide takes a name pool with fewer names than Options.MinCount.
func (k *kept) foldOrHide(pool *census.NamePool) {
	if pool.OwnerKind == "" {
		k.hide(pool)
		return
	}
	k.fold(foldKey{place{pool.Resource.GroupResource(), pool.Namespace}, pool.OwnerKind}, &fold{
		prefixes: 1, names: pool.Names, owners: pool.Owners,
		last10m: last(pool, Last10m), last24h: last(pool, Last24h),
	})
}

// fold adds a fold.
func (k *kept) fold(key foldKey, more *fold) {
	if k.folds == nil {
		k.folds = map[foldKey]*fold{}
	}
	f := k.folds[key]
	if f == nil {
		f = &fold{}
		k.folds[key] = f
	}
	f.prefixes += more.prefixes
	f.names += more.names
	f.last10m += more.last10m
	f.last24h += more.last24h
	f.owners = append(f.owners, more.owners...)
	if len(f.owners) >= 2*max(f.distinct, 1<<10) {
		f.compact()
	}
}

// compact forgets owners that are there twice.
func (f *fold) compact() {
	slices.Sort(f.owners)
	f.owners = slices.Compact(f.owners)
	f.distinct = len(f.owners)
}

// folded returns the folds that the report shows, in order, and hides those with fewer names
// than Options.MinCount.
func (c *Collector) folded() []v1alpha1.AuditFolded {
	var all []v1alpha1.AuditFolded
	for key, f := range c.kept.folds {
		if f.names < c.options.MinCount {
			c.kept.hidden.Prefixes += f.prefixes
			c.kept.hidden.Names += f.names
			continue
		}
		f.compact()
		all = append(all, v1alpha1.AuditFolded{
			Group: key.resource.Group, Resource: key.resource.Resource, Namespace: key.namespace,
			OwnerKind: key.ownerKind, Owners: int64(len(f.owners)), Prefixes: f.prefixes,
			Names: f.names, Last10m: f.last10m, Last24h: f.last24h,
		})
	}
	first := func(f v1alpha1.AuditFolded) int64 { return c.options.Order.Of(f.Names, f.Last10m, f.Last24h) }
	slices.SortFunc(all, func(a, b v1alpha1.AuditFolded) int {
		return cmp.Or(
			cmp.Compare(first(b), first(a)), cmp.Compare(b.Names, a.Names),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.OwnerKind, b.OwnerKind))
	})
	return all
}

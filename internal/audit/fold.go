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
func (b *builder) foldOrHide(pool *census.NamePool) {
	if pool.OwnerKind == "" || len(b.options.Prefixes) > 0 || b.options.Watched {
		b.hide(pool)
		return
	}
	key := foldKey{place{pool.Resource.GroupResource(), pool.Namespace}, pool.OwnerKind}
	f := b.folds[key]
	if f == nil {
		f = &fold{}
		b.folds[key] = f
	}
	f.prefixes++
	f.names += pool.Names
	f.last10m += last(pool, Last10m)
	f.last24h += last(pool, Last24h)
	f.owners = append(f.owners, pool.Owners...)
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
func (b *builder) folded() []v1alpha1.AuditFolded {
	var all []v1alpha1.AuditFolded
	for key, f := range b.folds {
		if f.names < b.options.MinCount {
			b.hidden.Prefixes += f.prefixes
			b.hidden.Names += f.names
			continue
		}
		f.compact()
		all = append(all, v1alpha1.AuditFolded{
			Group: key.resource.Group, Resource: key.resource.Resource, Namespace: key.namespace,
			OwnerKind: key.ownerKind, Owners: int64(len(f.owners)), Prefixes: f.prefixes,
			Names: f.names, Last10m: f.last10m, Last24h: f.last24h,
		})
	}
	first := func(f v1alpha1.AuditFolded) int64 { return b.options.Order.Of(f.Names, f.Last10m, f.Last24h) }
	slices.SortFunc(all, func(x, y v1alpha1.AuditFolded) int {
		return cmp.Or(
			cmp.Compare(first(y), first(x)), cmp.Compare(y.Names, x.Names),
			cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Group, y.Group),
			cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.OwnerKind, y.OwnerKind))
	})
	return all
}

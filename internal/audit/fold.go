package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// foldKey is the place and the creator of the objects of one fold.
type foldKey struct {
	v1alpha1.PrefixRef // without a prefix
	pools.CreatorKind
}

// fold has the objects of one creator that are in no row of their own. The report shows them in one row.
type fold struct {
	objects *pools.Fold
	watched changes
}

// shownManagers is the largest number of field managers of a fold in a report.
const shownManagers = 3

// fewestFixed is the number of objects from which on the report shows a fold of objects with fixed names. Every cluster
// has dozens of such objects, as ClusterRoles.
const fewestFixed = 100

func (b *builder) foldOf(key foldKey) *fold {
	f := b.folds[key]
	if f == nil {
		f = &fold{objects: pools.NewFold(key.Namespace, key.CreatorKind)}
		b.folds[key] = f
	}
	return f
}

// foldOrHide handles a name pool that gets no row. If the pool has no names, foldOrHide counts only its creates and
// deletes.
func (b *builder) foldOrHide(r *row) {
	pool := &r.Pool
	if len(b.config.Prefixes) > 0 {
		if pool.Names > 0 {
			b.hide(pool)
		}
		return
	}
	key := foldKey{refOf(pool), pools.CreatorKindOf(pool.Creator)}
	key.Prefix, key.Naming = "", ""
	f := b.foldOf(key)
	f.watched.add(&r.Row)
	if pool.Names > 0 {
		f.objects.Add(pool)
	}
}

// addOthers adds the objects of a watched type that are in no row of a prefix. The objects get a row if enough of them
// were created. Otherwise the report has only their number, because every cluster has thousands of such objects.
func (b *builder) addOthers(r *pools.Row) {
	pool, config := &r.Pool, b.config
	if r.Creates < max(config.MinCount, 1) || len(config.Prefixes) > 0 || config.LabelSelector != "" {
		b.byNumber = append(b.byNumber, v1alpha1.TypeObjects{
			Group: pool.Group, Resource: pool.Resource, Objects: pool.Names,
		})
		return
	}
	place := v1alpha1.PrefixRef{Group: pool.Group, Resource: pool.Resource, Namespace: pool.Namespace}
	f := b.foldOf(foldKey{PrefixRef: place})
	f.watched.add(r)
	f.objects.Names += pool.Names
}

// addFolds adds the objects that the census has folded.
func (b *builder) addFolds(counted *Counted) {
	for _, f := range counted.Folds {
		b.foldOf(foldKey{v1alpha1.PrefixRef{
			Group: f.Resource.Group, Resource: f.Resource.Resource, Namespace: f.Fold.Namespace,
		}, f.Fold.CreatorKind}).objects.Merge(f.Fold)
		b.prefixes += f.Fold.Prefixes
	}
}

func managersOf(f *pools.Fold) []v1alpha1.Creator {
	all := slices.SortedFunc(maps.Keys(f.Managers), func(x, y string) int {
		return cmp.Or(cmp.Compare(f.Managers[y], f.Managers[x]), cmp.Compare(x, y))
	})
	creators := []v1alpha1.Creator{}
	for _, manager := range all[:min(len(all), shownManagers)] {
		creators = append(creators, v1alpha1.Creator{Manager: manager})
	}
	return creators
}

func largestOf(f *pools.Fold) *v1alpha1.AuditLargest {
	if f.Prefixes == 0 {
		return nil
	}
	ref := refOf(&f.Largest)
	return &v1alpha1.AuditLargest{Prefix: ref.Prefix, Naming: ref.Naming, Names: f.Largest.Names}
}

// isShown reports whether a fold has enough names, or creates, for a row.
func (b *builder) isShown(f *fold) bool {
	least := max(b.config.MinCount, b.config.MinStem, 1)
	if f.objects.Prefixes == 0 && least >= pools.FewestOfStem {
		least = max(least, fewestFixed)
	}
	return f.objects.Names >= least || f.watched.creates >= max(b.config.MinCount, 1)
}

// folded returns the folds that the report shows, in order. folded hides all others.
func (b *builder) folded() []v1alpha1.AuditFolded {
	var all []v1alpha1.AuditFolded
	for key, f := range b.folds {
		if !b.isShown(f) {
			b.hidden.Prefixes += f.objects.Prefixes
			b.hidden.Names += f.objects.Names
			continue
		}
		o := f.objects
		folded := v1alpha1.AuditFolded{
			Group: key.Group, Resource: key.Resource, Namespace: key.Namespace,
			OwnerKind: key.Kind, Manager: key.Manager, Owners: int64(len(o.Owners())), Prefixes: o.Prefixes,
			Names: o.Names, Largest: largestOf(o), Creators: managersOf(o),
			Orphaned: b.orphaned(&o.Leftovers), Deleting: deleting(&o.Leftovers),
		}
		if b.config.Watched {
			folded.Measured = f.watched.measured()
		} else {
			folded.Last10m = &o.Recent[slices.Index(Recent, Last10m)]
			folded.Last24h = &o.Recent[slices.Index(Recent, Last24h)]
		}
		all = append(all, folded)
	}
	slices.SortFunc(all, func(x, y v1alpha1.AuditFolded) int {
		return cmp.Or(
			cmp.Compare(b.config.Order.OfFold(y), b.config.Order.OfFold(x)), cmp.Compare(y.Names, x.Names),
			cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Group, y.Group), cmp.Compare(x.Resource, y.Resource),
			cmp.Compare(x.OwnerKind, y.OwnerKind), cmp.Compare(x.Manager, y.Manager))
	})
	return all
}

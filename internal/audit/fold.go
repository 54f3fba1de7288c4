package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// foldKey is the place and the kind of owner that the prefixes of one fold share.
type foldKey struct {
	v1alpha1.PrefixRef // without a prefix
	ownerKind          string
}

// fold has several prefixes with few names, whose objects have controllers of one kind. The report shows them in
// one row.
type fold struct {
	prefixes, names, last10m, last24h int64
	owners                            []uint64 // hashes of the owners, some of them twice
	distinct                          int      // number of hashes at the beginning that are sorted and different
	managers                          map[v1alpha1.Creator]int64
	watched                           changes
}

// maxManagers is the largest number of field managers that a fold distinguishes.
const maxManagers = 1000

// shownManagers is the largest number of field managers of a fold in a report.
const shownManagers = 3

// foldOrHide handles a name pool with fewer names than Options.MinCount. Of a pool without names, it counts only
// the changes.
func (b *builder) foldOrHide(r *row) {
	pool := &r.Pool
	if pool.OwnerKind == "" || len(b.options.Prefixes) > 0 {
		if pool.Names > 0 {
			b.hide(pool)
		}
		return
	}
	key := foldKey{refOf(pool), pool.OwnerKind}
	key.Prefix = ""
	f := b.folds[key]
	if f == nil {
		f = &fold{managers: map[v1alpha1.Creator]int64{}}
		b.folds[key] = f
	}
	f.watched.add(&r.Row)
	if manager := managerOf(pool.Creator); manager != nil && len(f.managers) < maxManagers {
		f.managers[*manager] += max(pool.Names, 1)
	}
	if pool.Names == 0 {
		return
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

// managerOf returns the field manager of a creator, also if it has a controller, or nil.
func managerOf(m object.Creator) *v1alpha1.Creator {
	if m.Manager == "" {
		return nil
	}
	return &v1alpha1.Creator{Manager: m.Manager}
}

// compact removes repeated owners.
func (f *fold) compact() {
	slices.Sort(f.owners)
	f.owners = slices.Compact(f.owners)
	f.distinct = len(f.owners)
}

// creators returns the managers with the most names.
func (f *fold) creators() []v1alpha1.Creator {
	all := slices.AppendSeq([]v1alpha1.Creator{}, maps.Keys(f.managers))
	slices.SortFunc(all, func(x, y v1alpha1.Creator) int {
		return cmp.Or(cmp.Compare(f.managers[y], f.managers[x]), cmp.Compare(x.Manager, y.Manager))
	})
	return all[:min(len(all), shownManagers)]
}

// folded returns the folds that the report shows, in order. folded hides folds with fewer names than
// Options.MinCount.
func (b *builder) folded() []v1alpha1.AuditFolded {
	var all []v1alpha1.AuditFolded
	for key, f := range b.folds {
		if f.names < b.options.MinCount && f.watched.creates < max(b.options.MinCount, 1) {
			b.hidden.Prefixes += f.prefixes
			b.hidden.Names += f.names
			continue
		}
		f.compact()
		folded := v1alpha1.AuditFolded{
			Group: key.Group, Resource: key.Resource, Namespace: key.Namespace,
			OwnerKind: key.ownerKind, Owners: int64(len(f.owners)), Prefixes: f.prefixes,
			Names: f.names, Creators: f.creators(),
		}
		if b.options.Watched {
			folded.Measured = f.watched.measured()
		} else {
			folded.Last10m, folded.Last24h = &f.last10m, &f.last24h
		}
		all = append(all, folded)
	}
	slices.SortFunc(all, func(x, y v1alpha1.AuditFolded) int {
		return cmp.Or(
			cmp.Compare(b.options.Order.OfFold(y), b.options.Order.OfFold(x)), cmp.Compare(y.Names, x.Names),
			cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Group, y.Group),
			cmp.Compare(x.Resource, y.Resource), cmp.Compare(x.OwnerKind, y.OwnerKind))
	})
	return all
}

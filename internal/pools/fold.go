package pools

import (
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// CreatorKind is the kind of controller that created some objects, or their field manager if they have no controller.
type CreatorKind struct{ Kind, Manager string }

// CreatorKindOf returns the kind of a creator.
func CreatorKindOf(c object.Creator) CreatorKind {
	if c.Kind != "" {
		return CreatorKind{Kind: c.Kind}
	}
	return CreatorKind{Manager: c.Manager}
}

// Fold counts objects of one namespace and creator. They are in no pool, or in a pool that doesn't count.
type Fold struct {
	Namespace string
	CreatorKind
	Names int64
	// Prefixes is the number of pools in the fold. An object with a fixed name belongs to no pool. Largest is the pool
	// with the most names. Only its Key and Names are set.
	Prefixes int64
	Largest  Pool
	Recent   [Spans]int64
	// Managers has the number of names for each field manager, for up to 1,000 field managers.
	Managers map[string]int64
	Leftovers

	owners   []uint64 // hashes of the controllers, some of them twice
	distinct int      // number of hashes at the beginning that are sorted and different
}

type foldKey struct {
	namespace string
	CreatorKind
}

// Owners returns the hashes of the controllers. They are valid only in this process.
func (f *Fold) Owners() []uint64 {
	slices.Sort(f.owners)
	f.owners = slices.Compact(f.owners)
	f.distinct = len(f.owners)
	return f.owners
}

const (
	maxManagers = 1000
	// fewOwners is the smallest number of owners for which own removes duplicates.
	fewOwners = 1 << 10
)

// own adds hashes of controllers, and a number of names that a field manager has created.
func (f *Fold) own(owners []uint64, manager string, names int64) {
	if f.owners = append(f.owners, owners...); len(f.owners) >= 2*max(f.distinct, fewOwners) {
		f.Owners()
	}
	if _, known := f.Managers[manager]; known || manager != "" && len(f.Managers) < maxManagers {
		f.Managers[manager] += names
	}
}

// Add adds a pool that is too small for a row.
func (f *Fold) Add(p *Pool) {
	f.Names += p.Names
	for i, recent := range p.Recent {
		f.Recent[i] += recent
	}
	if p.Naming != object.Fixed {
		f.Prefixes++
		if p.Names > f.Largest.Names {
			f.Largest = Pool{Key: p.Key, Names: p.Names}
		}
	}
	f.own(p.Owners, p.Creator.Manager, p.Names)
	f.merge(&p.Leftovers)
}

// Merge adds another fold.
func (f *Fold) Merge(other *Fold) {
	f.Names += other.Names
	f.Prefixes += other.Prefixes
	for i, recent := range other.Recent {
		f.Recent[i] += recent
	}
	if other.Largest.Names > f.Largest.Names {
		f.Largest = other.Largest
	}
	for manager, names := range other.Managers {
		f.own(nil, manager, names)
	}
	f.own(other.owners, "", 0)
	f.merge(&other.Leftovers)
}

// NewFold returns an empty fold.
func NewFold(namespace string, creator CreatorKind) *Fold {
	return &Fold{Namespace: namespace, CreatorKind: creator, Managers: map[string]int64{}}
}

// Folds returns the folds of the set, in no order. First it moves each pool that doesn't count to a fold, so the caller
// can't add objects afterwards. Without Rules.Folds, there are no folds.
func (s *Set) Folds() (all []*Fold) {
	if !s.rules.Folds {
		return nil
	}
	for i, key := range s.each() {
		s.foldPool(i, key)
	}
	for _, f := range s.folds {
		all = append(all, f)
	}
	return all
}

func (s *Set) foldOf(namespace string, creator CreatorKind) *Fold {
	key := foldKey{namespace, creator}
	f := s.folds[key]
	if f == nil {
		namespace = strings.Clone(namespace)
		f = NewFold(namespace, creator)
		s.folds[foldKey{namespace, creator}] = f
	}
	return f
}

// foldObject counts an object that belongs to no pool.
func (s *Set) foldObject(o *object.Object) {
	if !s.chooses(o) {
		return
	}
	f := s.foldOf(o.Namespace, CreatorKindOf(o.Creator))
	f.Names++
	for i, since := range s.rules.Since {
		if since > 0 && o.Created >= since {
			f.Recent[i]++
		}
	}
	from := o.Creator
	var owners [1]uint64
	if from.Kind != "" {
		owners[0] = origin{apiVersion: from.APIVersion, kind: from.Kind}.hash(from.Name)
	}
	f.own(owners[:min(len(from.Kind), 1)], from.Manager, 1)
	if s.rules.Leftovers && hasLeftovers(o) {
		f.add(o)
	}
}

// foldPool moves a pool to its fold if it doesn't count.
func (s *Set) foldPool(i uint32, key poolKey) {
	c := s.get(i)
	counts, naming := s.decide(key, c)
	if counts {
		return
	}
	if c.names > 0 && c.chosen > 0 {
		p := s.pool(key, c, naming)
		s.foldOf(key.namespace, CreatorKindOf(p.Creator)).Add(&p)
	}
	if c.stem == noStem {
		delete(s.others, otherOf(key.namespace, key.prefix))
	}
	s.drop(i, key, c)
}

// Unordered lets the set accept a list in any order. It keeps all pools until the end. Call it before Add.
func (s *Set) Unordered() { s.unordered = true }

// IsMisfolded reports whether the set had folded pools before it found that the list was not in the order of names.
// Then the caller must read the list again with Unordered.
func (s *Set) IsMisfolded() bool { return s.misfolded }

// pass is an entry that waits until the list has passed its prefix: a pool, or names that show that a pool isn't
// generated.
type pass struct {
	prefix string
	isStem bool
}

// begin returns the text with which all names in the pool begin. A key's names have fewer bytes of a long generateName.
func (p pass) begin() string {
	if p.isStem {
		return p.prefix
	}
	return derive.EffectivePrefix(p.prefix)
}

// precedes reports whether an object belongs before the last object, in the order of etcd's keys (NAMESPACE/NAME).
func (s *Set) precedes(o *object.Object) bool {
	if o.Namespace == s.at.namespace {
		return o.Name < s.at.name
	}
	return s.at.namespace != "" && o.Namespace+"/" < s.at.namespace+"/"
}

// pass folds each pool that can get no more objects. A list is sorted by namespace and name, so all names with a prefix
// follow one another. If the name of o doesn't begin with the prefix of a pool, the list has passed this pool.
func (s *Set) pass(o *object.Object) {
	switch {
	case s.unordered:
		return
	case s.precedes(o):
		s.unordered, s.misfolded, s.open = true, s.passed, nil
		return
	}
	for last := len(s.open) - 1; last >= 0; last-- {
		p := s.open[last]
		if o.Namespace == s.at.namespace && strings.HasPrefix(o.Name, p.begin()) {
			break
		}
		s.open = s.open[:last]
		key := poolKey{s.at.namespace, p.prefix}
		if i, ok := s.inNamespace(key.namespace).of(p.isStem)[p.prefix]; ok {
			s.foldPool(i, key)
		} else if !p.isStem {
			delete(s.others, otherOf(key.namespace, key.prefix))
		}
		s.passed = true
	}
	s.at.namespace, s.at.name = o.Namespace, o.Name
}

package duplicates

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// record is the data that the first pass keeps of an object, 32 bytes and the name.
type record struct {
	group     groupKey
	created   uint32 // Unix seconds
	namespace uint32 // index in survey.namespaces
	name      string
}

// groupKey is a hash of the type, the namespace, the prefix, the owners and the creation ID, which all members of a
// group share. The last bits report which of these exist.
type groupKey uint64

const (
	hasID         groupKey = 1 << iota // the objects have a creation ID
	ownerReplaces                      // an owner is a workload controller of Kubernetes
)

// replacing are the Kubernetes controllers that count their existing objects before they create more. These
// controllers don't name their Pods outside of metadata.
var replacing = map[[2]string]bool{
	{"v1", "ReplicationController"}: true,
	{"apps/v1", "ReplicaSet"}:       true,
	{"apps/v1", "StatefulSet"}:      true,
	{"apps/v1", "DaemonSet"}:        true,
	{"batch/v1", "Job"}:             true,
}

// firstPass reads metadata, and collects the candidates of all lists.
type firstPass struct {
	seed     maphash.Seed
	since    int64 // Unix seconds
	within   time.Duration
	selector labels.Selector // nil selects all

	mu         sync.Mutex
	candidates []*candidate
	objects    map[listKey]int64 // size of each list that has candidates
	dependents []dependents
	recent     int64 // number of objects created since Finder.Since
}

// listKey is one namespace of one resource type.
type listKey struct {
	resource  census.Resource
	namespace string
}

// dependents are the owners of the recent objects of a type, as sorted hashes of UIDs.
type dependents struct {
	resource census.Resource
	owners   []uint64
}

func newFirstPass(since time.Time, within time.Duration, selector labels.Selector) *firstPass {
	return &firstPass{
		seed: maphash.MakeSeed(), since: since.Unix(), within: within, selector: selector,
		objects: map[listKey]int64{},
	}
}

func (f *firstPass) newVisitor(r census.Resource) census.Visitor {
	return &survey{pass: f, resource: r, objects: map[string]int64{}}
}

// survey is the visitor of one list in the first pass.
type survey struct {
	pass       *firstPass
	resource   census.Resource
	records    []record
	namespaces []string
	objects    map[string]int64 // by namespace
	owners     []uint64
	recent     int64
}

// Visit adds an object.
func (s *survey) Visit(o *object.Object) error {
	s.objects[o.Namespace]++
	if o.Created < s.pass.since {
		return nil
	}
	s.recent++
	for _, owner := range o.Owners {
		hash := maphash.String(s.pass.seed, owner.UID)
		if n := len(s.owners); n == 0 || s.owners[n-1] != hash {
			s.owners = append(s.owners, hash)
		}
	}
	if selector := s.pass.selector; o.Deleting || selector != nil && !selector.Matches(labels.Set(o.Labels)) {
		return nil
	}
	if !derive.GeneratedFrom(o.Name, o.GenerateName) {
		return nil
	}
	if n := len(s.namespaces); n == 0 || s.namespaces[n-1] != o.Namespace {
		s.namespaces = append(s.namespaces, o.Namespace)
	}
	s.records = append(s.records, record{s.keyOf(o), uint32(o.Created), uint32(len(s.namespaces) - 1), o.Name})
	return nil
}

func (s *survey) keyOf(o *object.Object) groupKey {
	var h maphash.Hash
	h.SetSeed(s.pass.seed)
	add := func(text string) {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0)
	}
	add(s.resource.GroupResource().String())
	add(o.Namespace)
	add(names.EffectivePrefix(o.GenerateName))
	add(o.CreationID)
	bits := groupKey(0)
	if o.CreationID != "" {
		bits |= hasID
	}
	slices.SortFunc(o.Owners, func(a, b object.Owner) int { return cmp.Compare(a.UID, b.UID) })
	for _, owner := range o.Owners {
		add(owner.UID)
		if replacing[[2]string{owner.APIVersion, owner.Kind}] {
			bits |= ownerReplaces
		}
	}
	return groupKey(h.Sum64())&^(hasID|ownerReplaces) | bits
}

// Commit adds the records that are near another record to the candidates.
func (s *survey) Commit() {
	slices.SortFunc(s.records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
	})
	slices.Sort(s.owners)
	f := s.pass
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent += s.recent
	for i, r := range s.records {
		before := i > 0 && s.near(s.records[i-1], r)
		if !before && (i+1 == len(s.records) || !s.near(r, s.records[i+1])) {
			continue
		}
		key := listKey{s.resource, s.namespaces[r.namespace]}
		f.candidates = append(f.candidates, &candidate{listKey: key, group: r.group, created: r.created, name: r.name})
		f.objects[key] = s.objects[key.namespace]
	}
	if len(s.owners) > 0 {
		f.dependents = append(f.dependents, dependents{s.resource, slices.Clip(slices.Compact(s.owners))})
	}
}

// near reports whether two consecutive records might belong to one group. The two records must have close creation
// times, or the same creation ID.
func (s *survey) near(a, b record) bool {
	return a.group == b.group && (a.group&hasID != 0 || isWithin(a.created, b.created, s.pass.within))
}

func isWithin(earlier, later uint32, within time.Duration) bool {
	return time.Duration(int64(later)-int64(earlier))*time.Second <= within
}

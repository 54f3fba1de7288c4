package duplicates

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// record is the data that the first pass keeps of an object, 24 bytes.
type record struct {
	kin     kin
	end     suffix
	created uint32 // Unix seconds
}

// kin is a hash of the owners and the creation ID, which all members of a group share. Its last bits
// report which of these exist.
type kin uint64

const (
	hasID         kin = 1 << iota // the objects have a creation ID
	hasOwner                      // the objects have owners
	ownerReplaces                 // an owner is a workload controller of Kubernetes
	kinBits       = hasID | hasOwner | ownerReplaces
)

// replacing are the Kubernetes controllers that count their existing objects before they create more.
// They don't name their Pods outside of metadata.
var replacing = map[[2]string]bool{
	{"v1", "ReplicationController"}: true,
	{"apps/v1", "ReplicaSet"}:       true,
	{"apps/v1", "StatefulSet"}:      true,
	{"apps/v1", "DaemonSet"}:        true,
	{"batch/v1", "Job"}:             true,
}

// place is the name pool of candidates.
type place struct {
	resource          census.Resource
	namespace, prefix string
}

// candidates are the records of one place that may belong to groups, sorted by kin and time.
type candidates struct {
	place
	records []record
	details []detail // of the records, after the comparison
}

// found is the result of the first pass.
type found struct {
	mu         sync.Mutex
	candidates []*candidates
	objects    map[listKey]int64 // size of each list that has candidates
	dependents []dependents
	recent     int64 // objects that were created since Finder.Since
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

// survey is the visitor of one list in the first pass.
type survey struct {
	to       *found
	resource census.Resource
	seed     maphash.Seed
	selector labels.Selector
	compare  bool // false: only the owners matter
	sorted   bool
	since    int64
	within   time.Duration

	// open are the records of each prefix that can still get more names. In a sorted list, stack are their
	// places, the shortest prefix first.
	open    map[place][]record
	stack   []place
	spare   []record
	closed  []*candidates
	objects map[string]int64 // by namespace
	owners  []uint64
	recent  int64
}

// Visit adds an object.
func (s *survey) Visit(o *decode.Object) error {
	s.objects[o.Namespace]++
	if o.Created < s.since {
		return nil
	}
	s.recent++
	for _, owner := range o.Owners {
		hash := maphash.String(s.seed, owner.UID)
		if n := len(s.owners); n == 0 || s.owners[n-1] != hash {
			s.owners = append(s.owners, hash)
		}
	}
	if !s.compare || o.Deleting || s.selector != nil && !s.selector.Matches(labels.Set(o.Labels)) {
		return nil
	}
	if base, end, ok := split(o); ok {
		at := s.enter(place{s.resource, o.Namespace, base}, o.Name)
		s.open[at] = append(s.open[at], record{s.kinOf(o), end, uint32(o.Created)})
	}
	return nil
}

// kinOf returns the hash of an object's owners and creation ID.
func (s *survey) kinOf(o *decode.Object) kin {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(o.CreationID)
	bits := kin(0)
	if o.CreationID != "" {
		bits |= hasID
	}
	slices.SortFunc(o.Owners, func(a, b decode.Owner) int { return cmp.Compare(a.UID, b.UID) })
	for _, owner := range o.Owners {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(owner.UID)
		bits |= hasOwner
		if replacing[[2]string{owner.APIVersion, owner.Kind}] {
			bits |= ownerReplaces
		}
	}
	return kin(h.Sum64())&^kinBits | bits
}

// enter opens a place if needed. In a sorted list, it first closes the places whose prefixes don't
// match name, because no other name of them follows.
func (s *survey) enter(at place, name string) place {
	if !s.sorted {
		return at
	}
	for len(s.stack) > 0 {
		last := s.stack[len(s.stack)-1]
		if last.namespace == at.namespace && strings.HasPrefix(name, last.prefix) {
			break
		}
		s.stack = s.stack[:len(s.stack)-1]
		s.leave(last)
	}
	if _, is := s.open[at]; is {
		return at
	}
	longer := slices.IndexFunc(s.stack, func(p place) bool { return len(p.prefix) > len(at.prefix) })
	if longer < 0 {
		longer = len(s.stack)
	}
	s.stack = slices.Insert(s.stack, longer, at)
	s.open[at], s.spare = s.spare[:0], nil
	return at
}

// leave closes a place. It drops the records that are near no other record.
func (s *survey) leave(at place) {
	records := s.open[at]
	delete(s.open, at)
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.kin, b.kin), cmp.Compare(a.created, b.created), cmp.Compare(a.end, b.end))
	})
	near, begin := 0, 0
	for i := range records {
		if i+1 < len(records) && s.near(records[i], records[i+1]) {
			continue
		}
		if i > begin {
			near += copy(records[near:], records[begin:i+1])
		}
		begin = i + 1
	}
	if near > 0 {
		s.closed = append(s.closed, &candidates{place: at, records: slices.Clone(records[:near])})
	}
	if s.spare == nil && cap(records) < 1<<12 {
		s.spare = records[:0]
	}
}

// near reports whether two consecutive records may belong to one group. Records with one creation ID
// always may, whatever their distance in time.
func (s *survey) near(a, b record) bool {
	return a.kin == b.kin && (a.kin&hasID != 0 || isWithin(a.created, b.created, s.within))
}

func isWithin(earlier, later uint32, within time.Duration) bool {
	return time.Duration(int64(later)-int64(earlier))*time.Second <= within
}

// Commit adds the results of the list.
func (s *survey) Commit() {
	for at := range s.open {
		s.leave(at)
	}
	slices.Sort(s.owners)
	s.owners = slices.Clip(slices.Compact(s.owners))
	f := s.to
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recent += s.recent
	f.candidates = append(f.candidates, s.closed...)
	for _, c := range s.closed {
		f.objects[listKey{c.resource, c.namespace}] = s.objects[c.namespace]
	}
	if len(s.owners) > 0 {
		f.dependents = append(f.dependents, dependents{s.resource, s.owners})
	}
}

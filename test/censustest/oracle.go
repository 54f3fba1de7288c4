package censustest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var (
	generated = regexp.MustCompile(`^(?s:(.{1,58}))([bcdfghjklmnpqrstvwxz2456789]{5})$`)
	plain     = regexp.MustCompile(`^(?s:(.{1,58}))[a-z0-9]{5}$`)
	hashed    = regexp.MustCompile(`^-?[a-z0-9]{6,}$`)
	suffix    = regexp.MustCompile(`^[bcdfghjklmnpqrstvwxz2456789]*$`)
)

// Oracle counts by the rules of the census. Its fields have the names of the Scanner's.
type Oracle struct {
	Selector labels.Selector
	Prefixes []string
	Since    []time.Time
	MinCount int64
	// FoldBelow is the number of names below which owners count.
	FoldBelow int64
	// Unordered is set for a list that may be unsorted. Then no prefix is evident.
	Unordered bool
}

// NamePool is a name pool and its names, like census.NamePool.
type NamePool struct {
	Namespace, Prefix string
	SuffixLength      int
	Names, Generated  int64
	Recent            [3]int64
	RawPrefixes       int
	GenerateNames     []string
	Oldest, Newest    time.Time
	Creator           Creator
	HasCreationID     bool
	Creators          int

	ClientGenerated, ReplicaBounded bool

	OwnerKind string
	Owners    int
}

type poolID struct {
	namespace, prefix string
	suffix            int
}

// population holds the objects by name pool.
type population struct {
	declared, chosen map[poolID]bool
	members          map[poolID][]metav1.ObjectMeta
	others           map[poolID]int // number of names that end in five letters or digits of another alphabet
}

// Count counts in a simpler way than the census: it keeps all objects. objects are in the order of the
// list. The result is sorted by namespace, prefix and suffix length.
func (r Oracle) Count(objects []metav1.ObjectMeta) []NamePool {
	p := r.sort(objects)
	var pools []NamePool
	for id := range p.ids() {
		if pool := r.sum(id, p); p.chosen[id] && (p.declared[id] || pool.ClientGenerated) {
			pools = append(pools, pool)
		}
	}
	slices.SortFunc(pools, func(a, b NamePool) int {
		return cmp.Or(
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Prefix, b.Prefix),
			cmp.Compare(a.SuffixLength, b.SuffixLength),
		)
	})
	return pools
}

// Unprefixed returns the number of objects in no name pool that counts, chosen or not.
func (r Oracle) Unprefixed(objects []metav1.ObjectMeta) int64 {
	p, prefixed := r.sort(objects), int64(0)
	for id := range p.ids() {
		if pool := r.sum(id, p); p.declared[id] || pool.ClientGenerated {
			prefixed += pool.Names
		}
	}
	return max(0, int64(len(objects))-prefixed)
}

func (r Oracle) sort(objects []metav1.ObjectMeta) population {
	p := population{map[poolID]bool{}, map[poolID]bool{}, map[poolID][]metav1.ObjectMeta{}, map[poolID]int{}}
	for _, o := range objects {
		chooses := r.Selector == nil || r.Selector.Matches(labels.Set(o.Labels))
		if m := generated.FindStringSubmatch(o.Name); m != nil {
			id := poolID{o.Namespace, m[1], 5}
			p.members[id] = append(p.members[id], o)
			p.chosen[id] = p.chosen[id] || chooses
			p.declared[id] = p.declared[id] || slices.Contains(r.Prefixes, m[1])
		} else if m := plain.FindStringSubmatch(o.Name); m != nil {
			p.others[poolID{o.Namespace, m[1], 5}]++
		}
		if o.GenerateName == "" {
			continue
		}
		ids := []poolID{{o.Namespace, effective(o.GenerateName, 5), 5}}
		if n := longSuffix(o); n > 0 {
			long := poolID{o.Namespace, effective(o.GenerateName, n), n}
			p.members[long] = append(p.members[long], o)
			ids = append(ids, long)
		}
		for _, id := range ids {
			p.declared[id] = true
			p.chosen[id] = p.chosen[id] || chooses
		}
	}
	return p
}

func (p population) ids() map[poolID]bool {
	ids := map[poolID]bool{}
	for id := range p.declared {
		ids[id] = true
	}
	for id := range p.members {
		ids[id] = true
	}
	return ids
}

func (r Oracle) sum(id poolID, p population) NamePool {
	pool := NamePool{Namespace: id.namespace, Prefix: id.prefix, SuffixLength: id.suffix}
	members := p.members[id]
	raw := map[string]bool{}
	for _, o := range members {
		pool.Names++
		if effective(o.GenerateName, id.suffix) == id.prefix {
			pool.Generated++
			raw[o.GenerateName] = true
		}
		created := o.CreationTimestamp.UTC()
		if created.IsZero() {
			continue
		}
		if pool.Oldest.IsZero() || created.Before(pool.Oldest) {
			pool.Oldest = created
		}
		if created.After(pool.Newest) {
			pool.Newest = created
		}
	}
	nobodys := pool.Generated == 0 && !r.Unordered && id.suffix == 5
	pool.ClientGenerated = nobodys && r.evident(id.prefix, members, p.others[id])
	for i, since := range r.Since {
		for _, o := range members {
			if !o.CreationTimestamp.IsZero() && !o.CreationTimestamp.Time.Before(since) {
				pool.Recent[i]++
			}
		}
	}
	pool.RawPrefixes = len(raw)
	if len(raw) > 1 {
		for generateName := range raw {
			pool.GenerateNames = append(pool.GenerateNames, generateName)
		}
		slices.Sort(pool.GenerateNames)
		pool.GenerateNames = pool.GenerateNames[:min(8, len(raw))]
	}
	pool.createdBy(members)
	if pool.Names < r.FoldBelow && id.suffix == 5 {
		pool.ownedBy(members)
	}
	return pool
}

// ownedBy counts the controllers of objects if all controllers have one kind.
func (s *NamePool) ownedBy(members []metav1.ObjectMeta) {
	owners := map[Creator]bool{}
	for _, o := range members {
		owner, first := CreatorOf(o), CreatorOf(members[0])
		if owner.Kind == "" || owner.Kind != first.Kind || owner.APIVersion != first.APIVersion {
			return
		}
		owners[owner] = true
	}
	for owner := range owners {
		s.OwnerKind, s.Owners = owner.Kind, len(owners)
	}
}

// newest returns the objects that are newer than all earlier ones.
func newest(members []metav1.ObjectMeta) (found []metav1.ObjectMeta) {
	for _, o := range members {
		if len(found) == 0 || o.CreationTimestamp.After(found[len(found)-1].CreationTimestamp.Time) {
			found = append(found, o)
		}
	}
	return found
}

func (s *NamePool) createdBy(members []metav1.ObjectMeta) {
	creators, bounded := map[Creator]bool{}, true
	for _, o := range newest(members) {
		s.Creator = CreatorOf(o)
		_, s.HasCreationID = o.Annotations["genname.dev/creation-id"]
		if s.Creator != (Creator{}) {
			creators[s.Creator] = true
		}
		switch s.Creator.APIVersion + " " + s.Creator.Kind {
		case "apps/v1 ReplicaSet", "apps/v1 DaemonSet", "v1 ReplicationController", "v1 Service":
		default:
			bounded = false
		}
	}
	s.Creators, s.ReplicaBounded = len(creators), len(members) > 0 && bounded
}

// evident reports whether the evidence shows a client's own generator.
func (r Oracle) evident(prefix string, all []metav1.ObjectMeta, others int) bool {
	var members []metav1.ObjectMeta
	for _, o := range all {
		if o.GenerateName == "" {
			members = append(members, o)
		} else {
			others++
		}
	}
	n := int64(len(members))
	if n < max(r.MinCount, 10) || float64(n) < 0.95*float64(n+int64(others)) {
		return false
	}
	symbols, created := map[rune]bool{}, []time.Time{}
	for _, o := range members {
		for _, symbol := range o.Name[len(prefix):] {
			symbols[symbol] = true
		}
		if !o.CreationTimestamp.IsZero() {
			created = append(created, o.CreationTimestamp.Time)
		}
	}
	later, earlier := 0, 0
	for i := 1; i < len(created); i++ {
		if created[i].After(created[i-1]) {
			later++
		} else if created[i].Before(created[i-1]) {
			earlier++
		}
	}
	for _, o := range newest(all) {
		owner := CreatorOf(o).Name
		if owner != "" && strings.HasPrefix(o.Name, owner) && hashed.MatchString(o.Name[len(owner):]) {
			return false
		}
	}
	return len(symbols) >= 16 && later <= 3*earlier
}

// longSuffix returns the suffix length of an object that was created with --suffix-length, or 0.
func longSuffix(o metav1.ObjectMeta) int {
	if _, hasID := o.Annotations["genname.dev/creation-id"]; !hasID || len(o.Name) > 63 {
		return 0
	}
	if m := generated.FindStringSubmatch(o.Name); m != nil && m[1] == effective(o.GenerateName, 5) {
		return 0
	}
	for n := 6; n <= 11; n++ {
		rest, begins := strings.CutPrefix(o.Name, effective(o.GenerateName, n))
		if begins && len(rest) == n && suffix.MatchString(rest) {
			return n
		}
	}
	return 0
}

// effective truncates generateName for a suffix of n characters.
func effective(generateName string, n int) string {
	return generateName[:min(len(generateName), 63-n)]
}

package pools

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/stem"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

var (
	five   = regexp.MustCompile(`^(?s:(.{1,58}))([bcdfghjklmnpqrstvwxz2456789]{5})$`)
	plain  = regexp.MustCompile(`^(?s:(.{1,58}))[a-z0-9]{5}$`)
	longer = regexp.MustCompile(`^[bcdfghjklmnpqrstvwxz2456789]{6,}$`)
)

// oracle counts the objects of one type. It is simpler than a Set because it keeps all objects.
type oracle struct{ Rules }

func (r oracle) count(objects []object.Object) []Pool {
	members, others := map[Key][]object.Object{}, map[Key]int{}
	for _, o := range objects {
		key := Key{GroupResource: jobs.GroupResource(), Namespace: o.Namespace}
		if key.Prefix, key.Naming = prefixOf(o); key.Prefix != "" {
			members[key] = append(members[key], o)
		}
		if match := plain.FindStringSubmatch(o.Name); match != nil && !five.MatchString(o.Name) {
			key.Prefix, key.Naming = match[1], ""
			others[key]++
		}
	}
	var all []Pool
	for _, key := range slices.SortedFunc(maps.Keys(members), Key.Compare) {
		pool := r.sum(key, members[key], others[key])
		pool.Naming = object.Fixed
		switch {
		case key.Naming == object.ByStem:
			pool.Naming = object.ByStem
		case pool.Generated > 0:
			pool.Naming = object.FromGenerateName
		case pool.ClientGenerated:
			pool.Naming = object.ByClient
		}
		isStem := key.Naming == object.ByStem && pool.Names >= r.MinStem
		chosen := slices.ContainsFunc(members[key], func(o object.Object) bool {
			return r.Selector == nil || r.Selector.Matches(labels.Set(o.Labels))
		})
		if chosen && (isStem || pool.Generated > 0 || pool.ClientGenerated || r.Prefixes[key.Prefix]) {
			all = append(all, pool)
		}
	}
	return all
}

func cut(text string, length int) string { return text[:min(len(text), length)] }

// prefixOf does the same as object.PoolOf for ASCII texts. It returns no naming if the name looks generated, because
// the naming depends on the other names.
func prefixOf(o object.Object) (string, object.Naming) {
	begin := ""
	if match := five.FindStringSubmatch(o.Name); match != nil {
		begin = match[1]
	}
	if g := o.GenerateName; g != "" && begin == cut(g, 58) {
		return begin, ""
	} else if g != "" {
		begin := cut(g, 53)
		if len(o.Name) > len(begin) && o.Name[:len(begin)] == begin {
			rest := o.Name[len(begin):]
			if longer.MatchString(rest) && (len(g) <= 53 || len(rest) == 10) {
				return cut(g, 58), ""
			}
		}
	}
	if s := stem.Of(o.Name); s.Kind != stem.None {
		return s.Prefix, object.ByStem
	}
	return begin, ""
}

func (r oracle) sum(key Key, members []object.Object, others int) Pool {
	p := Pool{Key: key, Version: jobs.Version, Names: int64(len(members)), ReplicaBounded: true}
	raw, creators, kinds, evidence := map[string]bool{}, map[object.Creator]bool{}, map[kind]bool{}, key.Naming != object.ByStem && r.evidence(members, others)
	for _, o := range members {
		if cut(o.GenerateName, 58) == key.Prefix && key.Naming != object.ByStem {
			p.Generated++
			raw[o.GenerateName] = true
		}
		for i, since := range r.Since {
			if since > 0 && o.Created >= since {
				p.Recent[i]++
			}
		}
		created := time.Unix(o.Created, 0).UTC()
		if p.Oldest.IsZero() || created.Before(p.Oldest) {
			p.Oldest = created
		}
		if created.After(p.Newest) {
			p.Newest, p.Creator, p.HasCreationID = created, o.Creator, o.HasCreationID
		}
		creators[o.Creator] = true
		kinds[kind{o.Creator.APIVersion, o.Creator.Kind}] = true
		p.ReplicaBounded = p.ReplicaBounded && boundByReplicas[kind{o.Creator.APIVersion, o.Creator.Kind}]
	}
	if p.RawPrefixes = len(raw); len(raw) > 1 {
		p.GenerateNames = slices.Sorted(maps.Keys(raw))
		p.GenerateNames = p.GenerateNames[:min(8, len(raw))]
	}
	known := maps.Clone(creators)
	delete(known, object.Creator{})
	p.Creators = len(known)
	for k := range kinds {
		if len(kinds) == 1 && k.kind != "" {
			p.OwnerKind = k.kind
			for c := range creators {
				p.Owners = append(p.Owners, origin{c.APIVersion, c.Kind, c.Manager, c.Certain, false}.hash(c.Name))
			}
			slices.Sort(p.Owners)
		}
	}
	p.ClientGenerated = p.Generated == 0 && evidence
	return p
}

func (r oracle) evidence(members []object.Object, others int) bool {
	var own []object.Object
	symbols := map[rune]bool{}
	for _, o := range members {
		if o.GenerateName != "" {
			continue
		}
		own = append(own, o)
		for _, c := range o.Name[len(o.Name)-5:] {
			symbols[c] = true
		}
		if isDerived(o.Name, o.Creator.Name) {
			return false
		}
	}
	up, down := 0, 0
	for i := 1; i < len(own); i++ {
		order := cmp.Compare(own[i].Name, own[i-1].Name) * cmp.Compare(own[i].Created, own[i-1].Created)
		up, down = up+max(order, 0), down+max(-order, 0)
	}
	n := int64(len(own))
	return n >= max(10, r.MinCount) && 20*n >= 19*int64(len(members)+others) && len(symbols) >= 16 && up <= 3*down
}

// some draws objects with different names. Many objects share a prefix, a creator or a time.
func some(t *rapid.T) []object.Object {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	text := func(symbols string, n int) string {
		return rapid.StringOfN(rapid.RuneFrom([]rune(symbols)), n, n, -1).Draw(t, "suffix")
	}
	long := "a-very-long-prefix-of-more-than-fifty-eight-bytes-in-all-"
	prefixes := []string{"a-", "b-", "a-x", long, long + "one-", long + "two-", long[:53], long[:54]}
	creators := []object.Creator{
		{},
		{Manager: "kubectl-create", Certain: true},
		{Manager: "curl"},
		{APIVersion: "batch/v1", Kind: "CronJob", Name: "a", Certain: true},
		{APIVersion: "batch/v1", Kind: "CronJob", Name: "b", Certain: true},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a-x", Certain: true},
		{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "a-x", Certain: true},
	}
	seen := map[string]bool{}
	own := rapid.IntRange(0, 3).Draw(t, "own share")
	var objects []object.Object
	for range rapid.IntRange(0, 80).Draw(t, "objects") {
		o := object.Object{Namespace: rapid.SampledFrom([]string{"n", "n-a", "m"}).Draw(t, "namespace")}
		begin := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		switch rapid.IntRange(own, 9).Draw(t, "way") {
		case 0, 1:
			o.GenerateName, o.Name = begin, cut(begin, 58)+text(alphabet, 5)
		case 2:
			o.GenerateName, o.Name = begin, cut(begin, 53)+text(alphabet, rapid.SampledFrom([]int{6, 8, 10}).Draw(t, "length"))
		case 3:
			o.GenerateName, o.Name = "other-", begin+text("0123456789abcdef", 5)
		case 4:
			o.Name = begin + text("0123456789abcdef", 5)
		case 5:
			o.Name = begin + text("0123456789", rapid.IntRange(1, 3).Draw(t, "digits"))
		case 6:
			o.Name = begin + text("eiou", rapid.IntRange(1, 6).Draw(t, "letters"))
		default:
			o.Name = "a-" + text(alphabet, 5)
		}
		if seen[o.Namespace+"/"+o.Name] {
			continue
		}
		seen[o.Namespace+"/"+o.Name] = true
		o.Created = rapid.Int64Range(1, 50).Draw(t, "created")
		o.Creator = rapid.SampledFrom(creators[:rapid.IntRange(1, len(creators)).Draw(t, "kinds")]).Draw(t, "creator")
		o.Labels = map[string]string{"app": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "label")}
		objects = append(objects, o)
	}
	return objects
}

func someRules(t *rapid.T) Rules {
	r := Rules{
		MinCount: rapid.Int64Range(0, 20).Draw(t, "minCount"), MinStem: rapid.Int64Range(1, 9).Draw(t, "minStem"),
		Since: [Spans]int64{0, 30},
	}
	if rapid.Bool().Draw(t, "selects") {
		r.Selector = labels.SelectorFromSet(labels.Set{"app": "x"})
	}
	if rapid.Bool().Draw(t, "names prefixes") {
		r.Prefixes = map[string]bool{"a-": true, "nothing-": true}
	}
	return r
}

func collect(s *Set) (all []Pool) {
	for p := range s.All() {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Pool) int { return a.Compare(b.Key) })
	return all
}

func TestSetCountsLikeOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, objects := someRules(t), some(t)
		s := New(jobs, &rules)
		for i := range objects {
			s.Add(&objects[i])
		}
		if diff := gocmp.Diff(oracle{rules}.count(objects), collect(s)); diff != "" {
			t.Fatalf("pools (-want +got):\n%s", diff)
		}
		rules.Selector = nil
		prefixed := int64(0)
		for _, pool := range (oracle{rules}).count(objects) {
			prefixed += pool.Names
		}
		if all, _ := s.Prefixed(nil); s.Objects() != int64(len(objects)) || all != prefixed {
			t.Fatalf("%d of %d objects in pools, want %d of %d", all, s.Objects(), prefixed, len(objects))
		}
	})
}

// Every object is in a pool that counts or in a fold, for any order of a list. Folds don't change the pools that count.
func TestFolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, objects := someRules(t), some(t)
		rules.Selector, rules.Prefixes, rules.Folds = nil, nil, true
		ordered := rapid.Bool().Draw(t, "ordered")
		if ordered {
			slices.SortFunc(objects, func(a, b object.Object) int {
				return cmp.Or(cmp.Compare(a.Namespace+"/", b.Namespace+"/"), cmp.Compare(a.Name, b.Name))
			})
		}
		s := New(jobs, &rules)
		for i := range objects {
			s.Add(&objects[i])
		}
		if s.IsMisfolded() {
			if ordered {
				t.Fatal("the objects are in order")
			}
			s = New(jobs, &rules)
			s.Unordered()
			for i := range objects {
				s.Add(&objects[i])
			}
		}
		sum := int64(0)
		for _, f := range s.Folds() {
			sum += f.Names
		}
		for _, p := range collect(s) {
			sum += p.Names
		}
		if sum != int64(len(objects)) {
			t.Fatalf("%d objects in pools and folds, want %d", sum, len(objects))
		}
		if diff := gocmp.Diff(oracle{rules}.count(objects), collect(s)); diff != "" {
			t.Fatalf("pools (-want +got):\n%s", diff)
		}
		if kept := len(s.open); ordered && kept > 64 {
			t.Errorf("%d prefixes are kept, and the list has passed them", kept)
		}
	})
}

// A name for a key has only 53 bytes of a long generateName. So a list can pass a prefix before it has passed all names
// of the pool.
func TestFoldsOfALongPrefix(t *testing.T) {
	prefix := strings.Repeat("x", 53) + "b"
	s := New(jobs, &Rules{Folds: true})
	s.Add(&object.Object{Namespace: "n", Name: prefix + "bbbbb"})
	s.Add(&object.Object{Namespace: "n", Name: cut(prefix, 53) + "cccccccccc", GenerateName: prefix})
	if folds, all := s.Folds(), collect(s); len(folds) > 0 || len(all) != 1 || all[0].Names != 2 {
		t.Errorf("%d folds and the pools %+v, want one pool of two names", len(folds), all)
	}
}

// Some names show that a client didn't generate a prefix. A list that comes back to a namespace must be read again, so
// that the set doesn't lose such names.
func TestPassedOthers(t *testing.T) {
	s := New(jobs, &Rules{Folds: true})
	for _, o := range []object.Object{
		{Namespace: "m", Name: "run-aaaaa"}, {Namespace: "n", Name: "settings"}, {Namespace: "m", Name: "run-bcdfg"},
	} {
		s.Add(&o)
	}
	if !s.IsMisfolded() {
		t.Error("the list isn't read again")
	}
}

// After Remove, the numbers are those of the objects that are left. After Update, an object counts as it now is.
func TestRemoveAndUpdate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules, objects := someRules(t), some(t)
		rules.MinCount = 1000
		s := New(jobs, &rules)
		var left []object.Object
		for i := range objects {
			o := &objects[i]
			m := s.Add(o)
			switch rapid.IntRange(0, 3).Draw(t, "then") {
			case 0:
				s.Remove(m, o)
				continue
			case 1:
				o.GenerateName = "a-"
				if _, ok := m.In(); !ok {
					m = Member{} // as of a caller that keeps only the members of pools
				}
				now := s.Update(m.With(Listed), o)
				if again := s.Update(now, o); again != now || !now.Has(Listed) {
					t.Fatalf("updated twice: %v, %v", now, again)
				}
			}
			left = append(left, *o)
		}
		again := New(jobs, &rules)
		for i := range left {
			again.Add(&left[i])
		}
		if diff := gocmp.Diff(again.others, s.others); diff != "" {
			t.Fatalf("others (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(numbers(oracle{rules}.count(left)), numbers(collect(s))); diff != "" {
			t.Fatalf("numbers (-want +got):\n%s", diff)
		}
		s.Forget(func(uint32) bool { return true })
		if diff := gocmp.Diff(numbers(oracle{rules}.count(left)), numbers(collect(s))); diff != "" {
			t.Fatalf("numbers after empty pools are gone (-want +got):\n%s", diff)
		}
		kept := 0
		for range s.each() {
			kept++
		}
		if s.Objects() != int64(len(left)) || s.declared+s.undeclared != kept || len(s.free)+kept > 2*len(objects) {
			t.Fatalf("%d objects, %d + %d of %d pools", s.Objects(), s.declared, s.undeclared, kept)
		}
	})
}

// numbers returns the values of pools that stay exact when an object is removed.
func numbers(pools []Pool) (all []string) {
	for _, p := range pools {
		all = append(all, fmt.Sprint(p.Key, p.Names, p.Generated, p.Recent))
	}
	return all
}

// Whatever its name and generateName are, an object is only in the pool of its own prefix.
func FuzzOf(f *testing.F) {
	f.Add("a-bcdfg", "a-")
	f.Add("a-bcdfghjklm", "a-")
	f.Add("web-0", "web-")
	f.Fuzz(func(t *testing.T, name, generateName string) {
		o := object.Object{Name: name, GenerateName: generateName}
		prefix, naming := object.PoolOf(&o)
		ok := false
		switch naming {
		case object.FromGenerateName:
			ok = prefix == cut(generateName, 58)
		case object.ByClient:
			ok = prefix == name[:len(name)-5]
		case object.ByStem:
			ok = prefix == stem.Of(name).Prefix
		case object.Fixed:
			ok = prefix == ""
		}
		if !ok || (prefix == "") != (naming == object.Fixed) {
			t.Fatalf("%q of %q is in %q by %s", name, generateName, prefix, naming)
		}
	})
}

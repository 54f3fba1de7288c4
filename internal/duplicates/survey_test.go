package duplicates

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

var jobs = census.Resource{
	GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true,
}

const since = 1_000_000

func newSurvey(sorted bool) *survey {
	return &survey{
		to: &found{objects: map[listKey]int64{}}, resource: jobs, seed: maphash.MakeSeed(), compare: true, sorted: sorted,
		since: since, within: 2 * time.Minute, open: map[place][]record{}, objects: map[string]int64{},
	}
}

// drawn returns objects with few prefixes, few owners and few creation IDs, in the order of storage.
// One prefix begins with another.
func drawn(t *rapid.T) []decode.Object {
	text := func(of string, least, most int) *rapid.Generator[string] {
		return rapid.StringOfN(rapid.SampledFrom([]rune(of)), least, most, -1)
	}
	one := rapid.Custom(func(t *rapid.T) decode.Object {
		o := decode.Object{
			Namespace:    rapid.SampledFrom([]string{"a", "a-b", "b"}).Draw(t, "namespace"),
			GenerateName: rapid.SampledFrom([]string{"run-", "run-b", "r", "", "run-bcdfg-"}).Draw(t, "generateName"),
			Created:      since + rapid.Int64Range(-100, 900).Draw(t, "created"),
		}
		length := 5
		if rapid.Bool().Draw(t, "withID") {
			o.CreationID = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "id")
			length = rapid.SampledFrom([]int{5, 10}).Draw(t, "length")
		}
		o.Name = o.GenerateName + text(names.Alphabet, length, length).Draw(t, "suffix")
		o.Deleting = rapid.IntRange(0, 9).Draw(t, "deleting") == 0
		if owner := rapid.IntRange(0, 2).Draw(t, "owner"); owner > 0 {
			o.Owners = []decode.Owner{{UID: fmt.Sprint(owner)}}
		}
		return o
	})
	objects := rapid.SliceOfN(one, 0, 60).Draw(t, "objects")
	slices.SortFunc(objects, func(a, b decode.Object) int { return namepools.StorageOrder(a.Namespace, a.Name, b.Namespace, b.Name) })
	return slices.CompactFunc(objects, func(a, b decode.Object) bool { return a.Namespace == b.Namespace && a.Name == b.Name })
}

// family returns the common part of group members, independently of the engine.
func family(o decode.Object) string {
	base, _, _ := split(&o)
	return fmt.Sprint(o.Namespace, "/", base, o.Owners, o.CreationID)
}

// near compares all pairs, and returns the objects that have a family member close in time.
func near(objects []decode.Object) (names []string) {
	for i, o := range objects {
		if _, _, ok := split(&o); !ok || o.Created < since || o.Deleting {
			continue
		}
		for j, p := range objects {
			_, _, ok := split(&p)
			gap := max(o.Created-p.Created, p.Created-o.Created)
			if i != j && ok && p.Created >= since && !p.Deleting && family(o) == family(p) && (o.CreationID != "" || gap <= 120) {
				names = append(names, o.Namespace+"/"+o.Name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// The first pass keeps exactly the objects with a family member close in time, in any order of the
// list.
func TestSurveyLeavesWhatIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := drawn(t)
		s := newSurvey(rapid.Bool().Draw(t, "sorted"))
		for _, o := range objects {
			if err := s.Visit(&o); err != nil {
				t.Fatal(err)
			}
		}
		s.Commit()
		got := []string{}
		for _, c := range s.to.candidates {
			for _, r := range c.records {
				got = append(got, c.namespace+"/"+c.prefix+r.end.String())
			}
		}
		if slices.Sort(got); !slices.Equal(got, near(objects)) {
			t.Errorf("left %q, want %q", got, near(objects))
		}
		if s.sorted && len(s.open)+len(s.to.candidates) > 0 && len(s.open) > 0 {
			t.Errorf("%d places are still open", len(s.open))
		}
	})
}

// A selector limits the compared objects, but not the objects that may refer to them.
func TestSurveySelects(t *testing.T) {
	s := newSurvey(true)
	s.selector = labels.SelectorFromSet(labels.Set{"app": "a"})
	for i, app := range []string{"a", "b", "a"} {
		name := "run-" + strings.Repeat(string(names.Alphabet[i]), 5)
		o := decode.Object{Name: name, GenerateName: "run-", Created: since, Labels: map[string]string{"app": app}}
		o.Owners = []decode.Owner{{UID: app}}
		if app == "a" {
			o.Owners[0].UID = "same"
		}
		_ = s.Visit(&o)
	}
	s.Commit()
	if len(s.to.candidates) != 1 || len(s.to.candidates[0].records) != 2 || len(s.to.dependents[0].owners) != 2 {
		t.Errorf("%+v", s.to)
	}
}

func TestSuffix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune(names.Alphabet+"a-é")), 0, 12, -1).Draw(t, "text")
		generated := len(text) >= names.SuffixLength && len(text) <= names.MaxSuffixLength &&
			!strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(names.Alphabet, r) })
		end, ok := packed(text)
		if ok != generated || ok && end.String() != text {
			t.Errorf("%q: %v, %q", text, ok, end)
		}
	})
}

// split finds the prefix and the suffix of a candidate of any length.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringMatching(`[a-z][a-z-]{0,70}`).Draw(t, "prefix")
		length := rapid.IntRange(names.SuffixLength, names.MaxSuffixLength).Draw(t, "length")
		o := decode.Object{GenerateName: prefix, Name: names.Candidate(prefix, "id", 3, length)}
		if _, _, ok := split(&o); ok != (length == names.SuffixLength) {
			t.Errorf("%q without a creation ID: %v", o.Name, ok)
		}
		o.CreationID = "id"
		base, end, ok := split(&o)
		if !ok || base+end.String() != o.Name || !strings.HasPrefix(prefix, base) {
			t.Errorf("%q of %q: %q and %q, %v", o.Name, prefix, base, end, ok)
		}
	})
}

// The first pass keeps at most 64 bytes of each recent object. It keeps nothing of objects whose
// prefixes have been left.
func TestSurveyMemory(t *testing.T) {
	const objects = 200_000
	for name, test := range map[string]struct {
		prefix func(i int) string
		most   float64
	}{
		"one prefix":          {func(int) string { return "run-" }, 64},
		"a prefix per object": {func(i int) string { return fmt.Sprintf("run-%07d-", i) }, 12},
	} {
		s := newSurvey(true)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range objects {
			o := decode.Object{Namespace: "a", GenerateName: test.prefix(i), Created: since + int64(i)*1000}
			end := suffix(i) | names.SuffixLength<<lengthShift
			o.Name = o.GenerateName + end.String()
			o.Owners = []decode.Owner{{UID: fmt.Sprint(i)}}
			if err := s.Visit(&o); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / objects
		t.Logf("%s: %.1f bytes for each object", name, each)
		if each > test.most {
			t.Errorf("%s: %.1f bytes for each object, want at most %.0f", name, each, test.most)
		}
		s.Commit()
		if len(s.to.candidates) > 0 {
			t.Errorf("%s: objects that are far from each other are candidates", name)
		}
	}
}

func BenchmarkSurvey(b *testing.B) {
	s := newSurvey(true)
	o := decode.Object{Namespace: "a", GenerateName: "run-", Identity: decode.Identity{Owners: []decode.Owner{{UID: "u"}}}}
	for i := range b.N {
		end := suffix(i%14_000_000) | names.SuffixLength<<lengthShift
		o.Name, o.Created = "run-"+end.String(), since+int64(i)
		_ = s.Visit(&o)
	}
}

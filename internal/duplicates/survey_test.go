package duplicates

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

var jobs = census.Resource{
	GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true,
}

const since = 1_000_000

func newSurvey() *survey {
	return newFirstPass(time.Unix(since, 0), 2*time.Minute, nil).newVisitor(jobs).(*survey)
}

// drawn returns objects with few prefixes, few owners and few creation IDs, in the order of storage.
// One prefix begins with another.
func drawn(t *rapid.T) []object.Object {
	text := func(of string, least, most int) *rapid.Generator[string] {
		return rapid.StringOfN(rapid.SampledFrom([]rune(of)), least, most, -1)
	}
	one := rapid.Custom(func(t *rapid.T) object.Object {
		o := object.Object{
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
			o.Owners = []object.Owner{{UID: fmt.Sprint(owner)}}
		}
		return o
	})
	objects := rapid.SliceOfN(one, 0, 60).Draw(t, "objects")
	slices.SortFunc(objects, func(a, b object.Object) int { return cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return slices.CompactFunc(objects, func(a, b object.Object) bool { return a.Namespace == b.Namespace && a.Name == b.Name })
}

// family returns the common part of group members, independently of the engine.
func family(o object.Object) string {
	return fmt.Sprint(o.Namespace, "/", o.GenerateName, o.Owners, o.CreationID)
}

// near compares all pairs, and returns the objects that have a family member close in time.
func near(objects []object.Object) (names []string) {
	for i, o := range objects {
		if o.GenerateName == "" || o.Created < since || o.Deleting {
			continue
		}
		for j, p := range objects {
			gap := max(o.Created-p.Created, p.Created-o.Created)
			if i != j && p.GenerateName != "" && p.Created >= since && !p.Deleting && family(o) == family(p) && (o.CreationID != "" || gap <= 120) {
				names = append(names, o.Namespace+"/"+o.Name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// The first pass keeps exactly the objects with a family member close in time.
func TestSurveyLeavesWhatIsNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := drawn(t)
		s := newSurvey()
		for _, o := range objects {
			if err := s.Visit(&o); err != nil {
				t.Fatal(err)
			}
		}
		s.Commit()
		got := []string{}
		for _, c := range s.pass.candidates {
			got = append(got, c.namespace+"/"+c.name)
		}
		if slices.Sort(got); !slices.Equal(got, near(objects)) {
			t.Errorf("left %q, want %q", got, near(objects))
		}
	})
}

// A selector limits the compared objects, but not the objects that may refer to them.
func TestSurveySelects(t *testing.T) {
	s := newSurvey()
	s.pass.selector = labels.SelectorFromSet(labels.Set{"app": "a"})
	for i, app := range []string{"a", "b", "a"} {
		name := "run-" + strings.Repeat(string(names.Alphabet[i]), 5)
		o := object.Object{Name: name, GenerateName: "run-", Created: since, Labels: map[string]string{"app": app}}
		o.Owners = []object.Owner{{UID: app}}
		if app == "a" {
			o.Owners[0].UID = "same"
		}
		_ = s.Visit(&o)
	}
	s.Commit()
	if len(s.pass.candidates) != 2 || len(s.pass.dependents[0].owners) != 2 {
		t.Errorf("%d candidates, dependents %+v, want 2, and 2 owners", len(s.pass.candidates), s.pass.dependents)
	}
}

// The first pass keeps at most 100 bytes of each recent object, and nothing of the others.
func TestSurveyMemory(t *testing.T) {
	const objects = 40_000
	for name, test := range map[string]struct {
		prefix func(i int) string
		every  int64 // seconds between creates
		most   float64
	}{
		"one prefix":          {func(int) string { return "run-" }, 1000, 100},
		"a prefix per object": {func(i int) string { return fmt.Sprintf("run-%07d-", i) }, 1000, 100},
		"old objects":         {func(int) string { return "run-" }, -1000, 24}, // their owners
	} {
		s := newSurvey()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range objects {
			prefix := test.prefix(i)
			o := object.Object{Namespace: "a", GenerateName: prefix, Name: prefix + censustest.SuffixOf(i), Created: since + int64(i)*test.every}
			o.Owners = []object.Owner{{UID: fmt.Sprint(i)}}
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
		if len(s.pass.candidates) > 0 {
			t.Errorf("%s: objects that are far from each other are candidates", name)
		}
	}
}

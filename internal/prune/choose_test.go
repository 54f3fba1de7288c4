package prune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// decided records the decisions of a chooser. It is a sink.
type decided struct {
	names []string
	why   map[Reason]int64
}

func (d *decided) chosen(o Object) { d.names = append(d.names, o.Namespace+"/"+o.Name) }

func (d *decided) left(_ pool, reason Reason, objects int64) { d.why[reason] += objects }

// choose returns the decisions of a chooser about objects.
func choose(objects []decode.Object, sorted bool, target Target, criteria Criteria) (c *chooser, d *decided) {
	d = &decided{why: map[Reason]int64{}}
	c = newChooser(target, criteria, time.Unix(1000, 0), d)
	c.begin(sorted)
	for _, o := range objects {
		c.visit(&o)
	}
	c.end()
	slices.Sort(d.names)
	return c, d
}

// Each rule by itself.
func TestChoose(t *testing.T) {
	run := decode.Object{Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 500}
	run.UID = "u"
	with := func(change func(*decode.Object)) decode.Object {
		o := run
		change(&o)
		return o
	}
	controller := []decode.Owner{{Kind: "Pod"}, {Kind: "Job", Controller: true}}
	none := 0
	for name, test := range map[string]struct {
		object   decode.Object
		criteria Criteria
		want     Reason // "" for chosen
	}{
		"its own generateName":      {run, Criteria{}, ""},
		"a longer suffix":           {with(func(o *decode.Object) { o.Name = "run-bbbbbccccc" }), Criteria{}, ""},
		"no generateName":           {with(func(o *decode.Object) { o.GenerateName = "" }), Criteria{}, NotGenerated},
		"another generateName":      {with(func(o *decode.Object) { o.GenerateName = "ru" }), Criteria{}, NotGenerated},
		"a fixed name":              {with(func(o *decode.Object) { o.Name = "fixed" }), Criteria{}, NotGenerated},
		"a name that is the prefix": {with(func(o *decode.Object) { o.Name = "run-" }), Criteria{}, NotGenerated},
		"a word":                    {with(func(o *decode.Object) { o.Name = "run-hello" }), Criteria{}, NotGenerated},
		"no UID":                    {with(func(o *decode.Object) { o.UID = "" }), Criteria{}, NotGenerated},
		"being deleted":             {with(func(o *decode.Object) { o.Deleting = true }), Criteria{}, BeingDeleted},
		"a controller":              {with(func(o *decode.Object) { o.Owners = controller }), Criteria{}, Controlled},
		"a controller, and --owned": {with(func(o *decode.Object) { o.Owners = controller }), Criteria{Owned: true}, ""},
		"an owner":                  {with(func(o *decode.Object) { o.Owners = controller[:1] }), Criteria{}, ""},
		"no age":                    {with(func(o *decode.Object) { o.Created = 0 }), Criteria{Keep: &none}, UnknownAge},
		"old enough":                {run, Criteria{Before: time.Unix(501, 0)}, ""},
		"of the very second":        {run, Criteria{Before: time.Unix(500, 0)}, TooYoung},
		"created after the plan":    {with(func(o *decode.Object) { o.Created = 1001 }), Criteria{Keep: &none}, TooYoung},
		"keep none":                 {run, Criteria{Keep: &none}, ""},
	} {
		_, d := choose([]decode.Object{test.object}, true, Target{configMaps, []string{"run-"}}, test.criteria)
		if test.want == "" && len(d.names) != 1 || test.want != "" && (len(d.names) != 0 || d.why[test.want] != 1) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// The status shows whether an object has finished, even if the list omits kinds.
func TestChooseFinished(t *testing.T) {
	jobs := census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true}
	if !Finishes(jobs) || Finishes(configMaps) {
		t.Error("Jobs finish, and ConfigMaps do not")
	}
	for raw, want := range map[string]bool{
		`{"metadata":{},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`:           true,
		`{"metadata":{},"status":{"failed":2,"conditions":[{"type":"Failed","status":"True"}]}}`:  true,
		`{"metadata":{},"status":{"active":1,"conditions":[{"type":"Failed","status":"False"}]}}`: false,
		`{"metadata":{}}`: false,
		``:                false,
	} {
		o := decode.Object{Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 5, Raw: []byte(raw)}
		o.UID = "u"
		c, d := choose([]decode.Object{o}, true, Target{jobs, []string{"run-"}}, Criteria{Finished: true})
		if got := len(d.names) == 1; got != want || !c.asked().Whole {
			t.Errorf("%s: %+v", raw, d)
		}
	}
}

// For any objects in any order, the chooser chooses exactly those of a naive implementation.
func TestChoiceIsTheOracles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		objects := drawObjects(rt)
		sorted := rapid.Bool().Draw(rt, "sorted")
		if sorted {
			slices.SortFunc(objects, func(a, b decode.Object) int {
				return namepools.StorageOrder(a.Namespace, a.Name, b.Namespace, b.Name)
			})
		}
		criteria := Criteria{Owned: rapid.Bool().Draw(rt, "owned")}
		if rapid.Bool().Draw(rt, "has keep") {
			keep := rapid.IntRange(0, 4).Draw(rt, "keep")
			criteria.Keep = &keep
		}
		if rapid.Bool().Draw(rt, "has before") {
			criteria.Before = time.Unix(rapid.Int64Range(1, 9).Draw(rt, "before"), 0)
		}
		prefixes := []string{"b-", "b-b"}
		c, got := choose(objects, sorted, Target{configMaps, prefixes}, criteria)
		if diff := gocmp.Diff(oracle(objects, prefixes, criteria), got.names); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
		var total int64
		for _, n := range got.why {
			total += n
		}
		if len(c.newest) != 0 || total+int64(len(got.names)) != concerned(objects, prefixes) {
			rt.Fatalf("%+v of %d", got, concerned(objects, prefixes))
		}
	})
}

// drawObjects draws objects whose prefixes nest and whose times collide.
func drawObjects(t *rapid.T) []decode.Object {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) decode.Object {
		prefix := rapid.SampledFrom([]string{"b-", "b-b", "c-"}).Draw(t, "prefix")
		o := decode.Object{
			Namespace: rapid.SampledFrom([]string{"a", "a-b", "b"}).Draw(t, "namespace"), GenerateName: prefix,
			Name:    prefix + rapid.StringMatching(`[bc]{5,6}`).Draw(t, "suffix"),
			Created: rapid.Int64Range(0, 9).Draw(t, "created"),
		}
		o.UID, o.Deleting = "u", rapid.IntRange(0, 5).Draw(t, "deleting") == 0
		if rapid.IntRange(0, 5).Draw(t, "controlled") == 0 {
			o.Owners = []decode.Owner{{Kind: "Job", Controller: true}}
		}
		if rapid.IntRange(0, 5).Draw(t, "given") == 0 {
			o.GenerateName = ""
		}
		return o
	}), 0, 60, func(o decode.Object) string { return o.Namespace + "/" + o.Name }).Draw(t, "objects")
}

// oracle chooses with all objects in memory.
func oracle(objects []decode.Object, prefixes []string, criteria Criteria) (chosen []string) {
	byPool := map[string][]decode.Object{}
	for _, o := range objects {
		if !slices.Contains(prefixes, o.GenerateName) || o.Deleting || o.Created == 0 || len(o.Owners) > 0 && !criteria.Owned {
			continue
		}
		of := o.Namespace + "/" + o.GenerateName
		byPool[of] = append(byPool[of], o)
	}
	for _, all := range byPool {
		slices.SortFunc(all, func(a, b decode.Object) int {
			return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(b.Name, a.Name))
		})
		if criteria.Keep != nil {
			all = all[min(len(all), *criteria.Keep):]
		}
		for _, o := range all {
			if criteria.Before.IsZero() || o.Created < criteria.Before.Unix() {
				chosen = append(chosen, o.Namespace+"/"+o.Name)
			}
		}
	}
	slices.Sort(chosen)
	return chosen
}

// concerned counts the objects whose generateName or name has one of the prefixes.
func concerned(objects []decode.Object, prefixes []string) (n int64) {
	for _, o := range objects {
		in, _, _ := names.Split(o.Name)
		if slices.Contains(prefixes, o.GenerateName) || o.GenerateName == "" && slices.Contains(prefixes, in) {
			n++
		}
	}
	return n
}

// The chooser holds only the newest N objects.
func TestKeepHoldsNoMore(t *testing.T) {
	keep := 10
	d := &decided{why: map[Reason]int64{}}
	c := newChooser(Target{configMaps, []string{"run-"}}, Criteria{Keep: &keep}, time.Unix(1e6, 0), d)
	c.begin(true)
	for i := range 5000 {
		o := decode.Object{Namespace: fmt.Sprintf("ns%05d", i/1000), Name: fmt.Sprintf("run-bbbbb%s", strings.Repeat("b", i%50)), GenerateName: "run-", Created: int64(1 + i*7919%5000)}
		o.UID = "u"
		c.visit(&o)
		if held := len(c.newest); held != 1 || c.newest[pool{o.Namespace, "run-"}].heap.Len() > keep {
			t.Fatalf("%d pools are held", held)
		}
	}
	c.end()
	if len(d.names) != 4950 || d.why[Newest] != 50 {
		t.Errorf("%d deleted, %v left", len(d.names), d.why)
	}
}

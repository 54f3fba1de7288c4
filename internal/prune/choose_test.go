package prune

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// choose returns the names of the objects that the plan deletes, and the number of the other objects by reason.
func choose(t rapid.TB, objects []object.Object, target Target, criteria Criteria) (chosen []string, left map[v1alpha1.PruneReason]int64) {
	t.Helper()
	rules, err := newRules(target, criteria)
	if err != nil {
		t.Fatal(err)
	}
	l := newListing(rules)
	for _, o := range objects {
		_ = l.visit(&o)
	}
	plan := &Plan{}
	plan.add(l, target.Prefixes)
	left = map[v1alpha1.PruneReason]int64{}
	for _, pool := range plan.Pools {
		for reason, n := range pool.Left {
			left[reason] += n
		}
	}
	for o := range plan.Objects() {
		chosen = append(chosen, o.Pool.Namespace+"/"+o.Name)
	}
	slices.Sort(chosen)
	return chosen, left
}

// Each case tests one rule.
func TestChoose(t *testing.T) {
	run := object.Object{Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 500}
	run.UID = "u"
	with := func(change func(*object.Object)) object.Object {
		o := run
		change(&o)
		return o
	}
	controller := []object.Owner{{Kind: "Pod"}, {Kind: "Job", Controller: true}}
	none, long := 0, strings.Repeat("x", 60)
	for name, test := range map[string]struct {
		object   object.Object
		criteria Criteria
		want     v1alpha1.PruneReason // "" for chosen
	}{
		"its own generateName":      {run, Criteria{}, ""},
		"a name of a key":           {with(func(o *object.Object) { o.Name = "run-bbbbbccccc" }), Criteria{}, ""},
		"a long name of a key":      {with(func(o *object.Object) { o.GenerateName, o.Name = long, long[:53]+"bbbbbccccc" }), Criteria{}, ""},
		"a short suffix":            {with(func(o *object.Object) { o.Name = "run-b" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"no generateName":           {with(func(o *object.Object) { o.GenerateName = "" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"another generateName":      {with(func(o *object.Object) { o.GenerateName = "ru" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"a fixed name":              {with(func(o *object.Object) { o.Name = "fixed" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"a name that is the prefix": {with(func(o *object.Object) { o.Name = "run-" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"a word":                    {with(func(o *object.Object) { o.Name = "run-hello" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"no UID":                    {with(func(o *object.Object) { o.UID = "" }), Criteria{}, v1alpha1.PruneNotGenerated},
		"being deleted":             {with(func(o *object.Object) { o.Deleting = true }), Criteria{}, v1alpha1.PruneBeingDeleted},
		"a controller":              {with(func(o *object.Object) { o.Owners = controller }), Criteria{}, v1alpha1.PruneControlled},
		"a controller, and --owned": {with(func(o *object.Object) { o.Owners = controller }), Criteria{Owned: true}, ""},
		"an owner":                  {with(func(o *object.Object) { o.Owners = controller[:1] }), Criteria{}, ""},
		"no age":                    {with(func(o *object.Object) { o.Created = 0 }), Criteria{Keep: &none}, v1alpha1.PruneUnknownAge},
		"old enough":                {run, Criteria{Before: time.Unix(501, 0)}, ""},
		"of the very second":        {run, Criteria{Before: time.Unix(500, 0)}, v1alpha1.PruneTooYoung},
		"labels that don't match":   {run, Criteria{Selector: "app=x"}, v1alpha1.PruneNotSelected},
		"keep none":                 {run, Criteria{Keep: &none}, ""},
	} {
		chosen, left := choose(t, []object.Object{test.object}, Target{configMaps, []string{"run-", long}}, test.criteria)
		if test.want == "" && len(chosen) != 1 || test.want != "" && (len(chosen) != 0 || left[test.want] != 1) {
			t.Errorf("%s: chosen %v, left %v, want it left as %q, or chosen if that is empty", name, chosen, left, test.want)
		}
	}
}

// The status shows whether an object has finished, even if the list omits the kinds of its items.
func TestChooseFinished(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"metadata":{},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`:           true,
		`{"metadata":{},"status":{"failed":2,"conditions":[{"type":"Failed","status":"True"}]}}`:  true,
		`{"metadata":{},"status":{"active":1,"conditions":[{"type":"Failed","status":"False"}]}}`: false,
		`{"metadata":{}}`: false,
		``:                false,
	} {
		o := object.Object{Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 5, Raw: []byte(raw)}
		o.UID = "u"
		chosen, left := choose(t, []object.Object{o}, Target{jobs, []string{"run-"}}, Criteria{})
		if got := len(chosen) == 1; got != want {
			t.Errorf("%s: left %v, want it chosen: %t", raw, left, want)
		}
		if chosen, left := choose(t, []object.Object{o}, Target{jobs, []string{"run-"}}, Criteria{Running: true}); len(chosen) != 1 {
			t.Errorf("%s with --running: %v", raw, left)
		}
		one, failed := 1, strings.Contains(raw, `"failed":2`)
		if chosen, left := choose(t, []object.Object{o}, Target{jobs, []string{"run-"}}, Criteria{KeepFailed: &one}); (len(chosen) == 1) != (want && !failed) {
			t.Errorf("%s with --keep-failed: %v", raw, left)
		}
	}
}

// EndedBefore compares the time at which an object ended, not its creation time. Without an end time, the object stays.
func TestChooseByTheEnd(t *testing.T) {
	two := 2
	var objects []object.Object
	for i, ended := range []string{"null", `"2026-11-22T10:00:03Z"`, `"2026-11-22T10:00:02Z"`, `"2026-11-22T10:00:04Z"`, `"2026-11-22T10:00:01Z"`} {
		o := object.Object{
			Namespace: "ns", Name: "run-bbbb" + string("bcdfg"[i]), GenerateName: "run-", Created: int64(9 - i),
			Raw: fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Complete","status":"True","lastTransitionTime":%s}]}}`, ended),
		}
		o.UID = o.Name
		objects = append(objects, o)
	}
	before := time.Date(2026, 11, 22, 10, 0, 3, 0, time.UTC)
	for name, test := range map[string]struct {
		criteria Criteria
		chosen   []string
		left     map[v1alpha1.PruneReason]int64
	}{
		"alone": {
			Criteria{EndedBefore: before}, []string{"ns/run-bbbbd", "ns/run-bbbbg"}, map[v1alpha1.PruneReason]int64{v1alpha1.PruneUnknownEnd: 1, v1alpha1.PruneJustFinished: 2},
		},
		"among the kept, objects that finished recently count": {
			Criteria{EndedBefore: before, Keep: &two}, []string{"ns/run-bbbbg"}, map[v1alpha1.PruneReason]int64{v1alpha1.PruneUnknownEnd: 1, v1alpha1.PruneJustFinished: 1, v1alpha1.PruneNewest: 2},
		},
	} {
		chosen, left := choose(t, slices.Clone(objects), Target{jobs, []string{"run-"}}, test.criteria)
		if diff := gocmp.Diff(test.chosen, chosen) + gocmp.Diff(test.left, left); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A node can start with a clock that is decades behind. Prune leaves an object that was created a moment ago alone.
func TestChooseByAnEndBeforeTheCreation(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for created, want := range map[string]int{"10:00:00": 0, "09:00:00": 0, "08:59:59": 1} {
		o := object.Object{
			Namespace: "ns", Name: "run-bbbbb", GenerateName: "run-", Created: 5,
			Raw: []byte(`{"metadata":{"creationTimestamp":"2026-11-22T` + created + `Z"},"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"finishedAt":"1970-01-01T00:00:30Z"}}}]}}`),
		}
		o.UID = "u"
		chosen, left := choose(t, []object.Object{o}, Target{typeOf("", "Pod", "pods"), []string{"run-"}}, Criteria{EndedBefore: now.Add(-time.Hour)})
		if len(chosen) != want || left[v1alpha1.PruneJustFinished] != int64(1-want) {
			t.Errorf("created at %s: chosen are %v, left %v, want %d chosen", created, chosen, left, want)
		}
	}
}

// An object can finish between the plan and its DELETE. If it failed, --keep-failed counts it among the failed objects
// to keep, so prune doesn't delete it.
func TestDeleteOfAnObjectThatFinishes(t *testing.T) {
	one := 1
	failed := Criteria{Running: true, Keep: &one, KeepFailed: &one}
	for name, test := range map[string]struct {
		criteria Criteria
		running  bool
		end      string
		want     Outcome
	}{
		"without --keep":                 {Criteria{Running: true}, true, "Complete", Deleted},
		"with --keep":                    {Criteria{Running: true, Keep: &one}, true, "Failed", Deleted},
		"with --keep-failed":             {failed, true, "Complete", Deleted},
		"failed, and with --keep-failed": {failed, true, "Failed", LeftAlone},
		"finished again":                 {Criteria{EndedBefore: time.Date(2026, 11, 22, 10, 0, 1, 0, time.UTC)}, false, "Complete", LeftAlone},
		"not finished again":             {Criteria{EndedBefore: time.Date(2026, 11, 22, 10, 0, 2, 0, time.UTC)}, false, "Complete", Deleted},
	} {
		finished := respond(200, `{"kind":"Job","metadata":{"name":"run-bbbbb","generateName":"run-","uid":"u1","resourceVersion":"9",`+
			`"creationTimestamp":"2026-11-22T10:00:00Z"},"status":{"conditions":[{"type":"`+test.end+`","status":"True","lastTransitionTime":"2026-11-22T10:00:01Z"}]}}`)
		server := &responses{of: map[string][]func(http.ResponseWriter){"DELETE": {conflict, success}, "GET": {finished}}}
		o := listed()
		rules, err := newRules(Target{jobs, []string{"run-"}}, test.criteria)
		if err != nil {
			t.Fatal(err)
		}
		o.Pool, o.Running = &Pool{Resource: jobs, Namespace: "ns", Prefix: "run-", rules: rules}, test.running
		if got := newDeleter(t, server).delete(t.Context(), o); got.Outcome != test.want {
			t.Errorf("%s: %s, want %s: %v", name, got.Outcome, test.want, got.Err)
		}
	}
}

// --keep counts objects, with --running also unfinished ones. --keep-failed counts failed objects separately. Names
// decide between objects with equal creation times. An object that the list contains twice counts once.
func TestChooseTheNewest(t *testing.T) {
	pool := &Pool{}
	object := func(name string, created int64) Object {
		return Object{Pool: pool, Name: name, UID: name, Created: created}
	}
	failed := func(name string, created int64) Object {
		o := object(name, created)
		o.failed = true
		return o
	}
	running := func(name string, created int64) Object {
		o := object(name, created)
		o.Running = true
		return o
	}
	two, one := 2, 1
	for name, test := range map[string]struct {
		objects  []Object
		criteria Criteria
		want     string // to delete; * for a tie
	}{
		"ties":            {[]Object{object("a", 9), object("b", 8), object("c", 8), object("d", 8), object("e", 7)}, Criteria{Keep: &two}, "c* d* e"},
		"no ties":         {[]Object{object("a", 9), object("b", 8), object("c", 7), object("d", 7)}, Criteria{Keep: &two}, "c d"},
		"of one second":   {[]Object{object("c", 8), object("a", 8), object("b", 8), failed("d", 8)}, Criteria{Keep: &one, KeepFailed: &one}, "b* c*"},
		"twice":           {[]Object{object("a", 9), object("c", 7), object("b", 8), object("a", 9)}, Criteria{Keep: &two}, "c"},
		"failed apart":    {[]Object{failed("a", 9), object("b", 8), failed("c", 7), object("d", 6), object("e", 5)}, Criteria{Keep: &two, KeepFailed: &one}, "c e"},
		"failed together": {[]Object{failed("a", 9), object("b", 8), failed("c", 7)}, Criteria{Keep: &two}, "c"},
		"failed only":     {[]Object{failed("a", 9), failed("b", 8), object("c", 7)}, Criteria{KeepFailed: &one}, "b c"},
		"running":         {[]Object{running("a", 9), object("b", 8), running("c", 7), object("d", 6)}, Criteria{Keep: &two, Running: true}, "c d"},
	} {
		var got []string
		for d := range decide(test.objects, test.criteria) {
			if d.Reason == "" {
				name := d.Object.Name
				if d.Tied {
					name += "*"
				}
				got = append(got, name)
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
}

// For all objects in any order, the rules choose the same objects as a naive implementation.
func TestChoiceIsTheOracles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		objects := drawObjects(rt)
		criteria := Criteria{Owned: rapid.Bool().Draw(rt, "owned")}
		if rapid.Bool().Draw(rt, "has keep") {
			keep := rapid.IntRange(0, 4).Draw(rt, "keep")
			criteria.Keep = &keep
		}
		if rapid.Bool().Draw(rt, "has before") {
			criteria.Before = time.Unix(rapid.Int64Range(1, 9).Draw(rt, "before"), 0)
		}
		prefixes := []string{"b-", "b-b"}
		chosen, left := choose(rt, objects, Target{configMaps, prefixes}, criteria)
		if diff := gocmp.Diff(oracle(objects, prefixes, criteria), chosen); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
		var total int64
		for _, n := range left {
			total += n
		}
		if total+int64(len(chosen)) != concerned(objects, prefixes) {
			rt.Fatalf("%v %v of %d", chosen, left, concerned(objects, prefixes))
		}
	})
}

// drawObjects draws objects with nested prefixes and equal times.
func drawObjects(t *rapid.T) []object.Object {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) object.Object {
		prefix := rapid.SampledFrom([]string{"b-", "b-b", "c-"}).Draw(t, "prefix")
		o := object.Object{
			Namespace: rapid.SampledFrom([]string{"a", "a-b", "b"}).Draw(t, "namespace"), GenerateName: prefix,
			Name:    prefix + rapid.StringMatching(`[bc]{5}([bc]{5})?`).Draw(t, "suffix"),
			Created: rapid.Int64Range(0, 9).Draw(t, "created"),
		}
		o.UID, o.Deleting = o.Namespace+"/"+o.Name, rapid.IntRange(0, 5).Draw(t, "deleting") == 0
		if rapid.IntRange(0, 5).Draw(t, "controlled") == 0 {
			o.Owners = []object.Owner{{Kind: "Job", Controller: true}}
		}
		if rapid.IntRange(0, 5).Draw(t, "given") == 0 {
			o.GenerateName = ""
		}
		return o
	}), 0, 60, func(o object.Object) string { return o.Namespace + "/" + o.Name }).Draw(t, "objects")
}

// oracle chooses the objects to delete from objects that are all in memory.
func oracle(objects []object.Object, prefixes []string, criteria Criteria) (chosen []string) {
	byPool := map[string][]object.Object{}
	for _, o := range objects {
		if !slices.Contains(prefixes, o.GenerateName) || o.Deleting || o.Created == 0 || len(o.Owners) > 0 && !criteria.Owned {
			continue
		}
		of := o.Namespace + "/" + o.GenerateName
		byPool[of] = append(byPool[of], o)
	}
	for _, all := range byPool {
		slices.SortFunc(all, func(a, b object.Object) int {
			return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(a.Name, b.Name))
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
func concerned(objects []object.Object, prefixes []string) (n int64) {
	for _, o := range objects {
		in, _, _ := names.Split(o.Name)
		if slices.Contains(prefixes, o.GenerateName) || o.GenerateName == "" && slices.Contains(prefixes, in) {
			n++
		}
	}
	return n
}

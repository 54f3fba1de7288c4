package create

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const key = idempotency.Key("k")

// idOf returns the creation ID of the n-th copy of configmaps/a/x- under the key.
func idOf(t *testing.T, n int) string {
	t.Helper()
	return copyOf(t, "configmaps/a/x-", n)
}

// copyOf returns the creation ID of the n-th copy of a document.
func copyOf(t *testing.T, text string, n int) string {
	t.Helper()
	d := document(text)
	sum, err := digest.Of(d.Object)
	if err != nil {
		t.Fatal(err)
	}
	return key.CreationID(idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}, sum, n)
}

func withKey(c *cluster) Config {
	config := configOf(c)
	config.Key, config.Concurrency = key, 1
	return config
}

// A run with a key creates the missing objects. Equal documents are numbered consecutively.
func TestRepeatably(t *testing.T) {
	c := &cluster{existing: []idempotency.Existing{{Name: "x-11111", ID: idOf(t, 1)}}}
	config := withKey(c)
	config.Copies = 2
	expect(t, words(begin(t.Context(), config, input("configmaps/a/x-", "configmaps/a/x-"))),
		"created x-", "exists x-11111", "created x-", "created x-", "end 2")
	for i, n := range []int{0, 2, 3} {
		if want := exactlyonce.Derived(idOf(t, n), key.RunLabel()); c.ids[i] != want {
			t.Errorf("create %d is under %v, want %v", i, c.ids[i], want)
		}
	}
}

// Nothing is created if the key has created an object that the input does not contain. Objects to
// which controllers copied the key's label don't count.
func TestUnexpected(t *testing.T) {
	for name, test := range map[string]struct {
		existing []idempotency.Existing
		want     string
	}{
		"another id": {[]idempotency.Existing{{Name: "y", ID: "v1-other"}}, "configmaps/y -n a"},
		"no id":      {[]idempotency.Existing{{Name: "y"}}, ""},
		"a child":    {[]idempotency.Existing{{Name: "y", Owned: true}}, ""},
	} {
		c := &cluster{existing: test.existing}
		var found *UnexpectedError
		for e := range begin(t.Context(), withKey(c), input("configmaps/a/x-")) {
			if problem, is := e.(Problem); is {
				errors.As(problem.Err, &found)
			}
		}
		switch {
		case test.want == "" && (found != nil || len(c.sent) != 1):
			t.Errorf("%s: %v, sent %q", name, found, c.sent)
		case test.want != "" && (found == nil || len(c.sent) > 0 || found.Objects[0] != test.want):
			t.Errorf("%s: %v, sent %q", name, found, c.sent)
		}
	}
}

// An unexpected object is compared with the document that could have created it, unless that document
// already has an object.
func TestChange(t *testing.T) {
	stored := document("configmaps/a/x-").Object
	stored.SetName("x-bcdfg")
	for name, test := range map[string]struct {
		object, input string
		get           func(string) (*unstructured.Unstructured, error)
		want          *Change
	}{
		"the same prefix": {"x-bcdfg", "configmaps/a/x-", nil, &Change{Document: "configmaps/x-", Object: "configmaps/x-bcdfg -n a"}},
		"another prefix":  {"y-bcdfg", "configmaps/a/x-", nil, nil},
		"a longer name":   {"x-bcdfgh", "configmaps/a/x-", nil, nil},
		"a fixed name":    {"own", "configmaps/a/own", nil, &Change{Document: "configmaps/own", Object: "configmaps/own -n a", Fields: []string{"metadata.labels"}}},
		"unreadable": {"x-bcdfg", "configmaps/a/x-", func(string) (*unstructured.Unstructured, error) {
			return nil, errForbidden
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{existing: []idempotency.Existing{{Name: test.object, ID: "v1-other"}}, get: test.get}
			if c.get == nil {
				c.get = func(string) (*unstructured.Unstructured, error) { return stored, nil }
			}
			var found *UnexpectedError
			d := document(test.input)
			if d.Object.GetName() != "" {
				d.Object.SetLabels(map[string]string{"changed": "yes"})
			}
			for e := range begin(t.Context(), withKey(c), func(yield func(*Document, error) bool) { yield(d, nil) }) {
				if problem, is := e.(Problem); is {
					errors.As(problem.Err, &found)
				}
			}
			if found == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, found.Change); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The state of an existing object is its final state, Suspended or Running.
func TestStateOf(t *testing.T) {
	job := func(suspend bool, conditions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{"suspend": suspend},
			"status": map[string]any{"conditions": conditions},
		}}
	}
	for want, object := range map[string]*unstructured.Unstructured{
		"Running": job(false), "Suspended": job(true), "": nil,
		"Failed": job(false, map[string]any{"type": "Failed", "status": "True"}),
	} {
		c := &cluster{get: func(string) (*unstructured.Unstructured, error) {
			if object == nil {
				return nil, errForbidden
			}
			return object, nil
		}}
		w := &worker{config: withKey(c), ctx: t.Context()}
		if got := w.stateOf(document("configmaps/a/x"), "x"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The states of MaxStates objects are read, also if a refusal stops the other copies meanwhile.
func TestStatesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := 0
		c := &cluster{takes: time.Second, ends: func(string) (exactlyonce.Result, error) { return exactlyonce.Result{}, errForbidden }}
		c.get = func(string) (*unstructured.Unstructured, error) {
			time.Sleep(time.Second / 10)
			read++
			return document("Pod/a/x").Object, nil
		}
		config := withKey(c)
		config.Copies, config.Concurrency, config.States = 3*MaxStates, 2, true
		for n := 1; n < config.Copies; n++ {
			c.existing = append(c.existing, idempotency.Existing{Name: fmt.Sprint("x-", n), ID: copyOf(t, "Pod/a/x-", n)})
		}
		reported := words(begin(t.Context(), config, input("Pod/a/x-")))
		if read > MaxStates || len(reported) != config.Copies+1 {
			t.Errorf("%d states were read, %d events", read, len(reported))
		}
	})
}

// An object whose name follows from the input, but whose ID doesn't, has its own error.
func TestOtherIDs(t *testing.T) {
	name := names.Candidate("x-", idOf(t, 1), 0, 5)
	c := &cluster{existing: []idempotency.Existing{{Name: name, ID: "v1-other"}}}
	config := withKey(c)
	config.Copies = 2
	expect(t, words(begin(t.Context(), config, input("configmaps/a/x-"))),
		"problem 1 objects of the key have another creation ID, like configmaps/"+name+" -n a", "end 1")
}

// If no name follows from a shared ID, each object may belong to the run.
func TestRenamedDuplicates(t *testing.T) {
	id := idOf(t, 0)
	c := &cluster{existing: []idempotency.Existing{{Name: "a", ID: id}, {Name: "b", ID: id}}}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))),
		"problem runs with this key have created one object several times: configmaps/a -n a, configmaps/b -n a", "exists a", "end 1")
}

// If the server stores a given status, documents with different statuses differ.
func TestStoredStatus(t *testing.T) {
	for resource, different := range map[string]bool{"things": true, "jobs": false} {
		c := &cluster{verbs: []string{"create", "get"}}
		documents := func(yield func(*Document, error) bool) {
			for _, phase := range []string{"A", "B"} {
				d := document(resource + "/a/x-")
				d.Object.Object["status"] = map[string]any{"phase": phase}
				yield(d, nil)
			}
		}
		words(begin(t.Context(), withKey(c), documents))
		d := document(resource + "/a/x-")
		second := key.CreationID(idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: "a"}, must(digest.Of(d.Object)), 1)
		if len(c.ids) != 2 || (c.ids[1].String() == second) == different {
			t.Errorf("%s: %v", resource, c.ids)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// If the input can't be read completely or a list fails, nothing is created.
func TestNothingIsCreatedInDoubt(t *testing.T) {
	c := &cluster{}
	expect(t, words(begin(t.Context(), withKey(c), func(yield func(*Document, error) bool) {
		_ = yield(document("configmaps/a/x-"), nil) && yield(nil, io.EOF)
	})), "problem EOF", "end 1")
	c.findErr = errors.New("needs list")
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))), "problem needs list", "end 1")
	if len(c.sent) > 0 {
		t.Errorf("sent: %q", c.sent)
	}
}

// With Whole, existing objects are read. An object that is gone by then is created again.
func TestExistsAndWhole(t *testing.T) {
	c := &cluster{existing: []idempotency.Existing{{Name: "x-11111", ID: idOf(t, 0)}}}
	config := withKey(c)
	config.Whole = true
	c.get = func(name string) (*unstructured.Unstructured, error) {
		return &unstructured.Unstructured{Object: map[string]any{"data": name}}, nil
	}
	for e := range begin(t.Context(), config, input("configmaps/a/x-")) {
		if o, is := e.(Outcome); is && o.Result.Object.Object["data"] != "x-11111" {
			t.Errorf("%+v", o)
		}
	}
	c.get = func(name string) (*unstructured.Unstructured, error) {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	expect(t, words(begin(t.Context(), config, input("configmaps/a/x-"))), "created x-", "end 1")
	c.get = func(string) (*unstructured.Unstructured, error) { return nil, io.EOF }
	for e := range begin(t.Context(), config, input("configmaps/a/x-")) {
		if o, is := e.(Outcome); is && !errors.Is(o.Err, io.EOF) {
			t.Errorf("%+v", o)
		}
	}
}

// The run warns of copies by others, of objects that are being deleted, and of objects without an ID.
func TestWarnings(t *testing.T) {
	id := idOf(t, 0)
	own := names.Candidate("x-", id, 0, 5)
	c := &cluster{existing: []idempotency.Existing{
		{Name: own, ID: id, Deleting: true},
		{Name: "x-2", ID: id},
		{Name: "z"},
		{Name: "y"},
		{Name: "child", Owned: true},
	}}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))),
		warningOf(MissingIDs, 2, "configmaps/y -n a"), warningOf(Copied, "configmaps/"+own+" -n a", "configmaps/x-2 -n a"),
		warningOf(Terminating, "configmaps/"+own), "exists "+own, "end 1")
	d := document("jobs/a/x-")
	d.Object.Object["spec"] = map[string]any{"ttlSecondsAfterFinished": int64(1)}
	got := words(begin(t.Context(), withKey(&cluster{}), func(yield func(*Document, error) bool) { yield(d, nil) }))
	if len(got) != 3 || got[0] != warningOf(Expiring, schema.GroupResource{Resource: "jobs"}) {
		t.Errorf("%q", got)
	}
}

// If several objects have one ID, the run reports the object whose name follows from the ID, in any
// order of the list.
func TestCopiesOfOthers(t *testing.T) {
	id := idOf(t, 0)
	own := names.Candidate("x-", id, 1, 5)
	for _, copied := range []string{"a", "zzz"} {
		c := &cluster{existing: []idempotency.Existing{{Name: copied, ID: id}, {Name: own, ID: id}}}
		expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))),
			warningOf(Copied, "configmaps/"+own+" -n a", "configmaps/"+copied+" -n a"),
			"exists "+own, "end 1")
	}
}

// If the names of two objects follow from one ID, two runs with the key created them. The later run
// reports it at its end, and so does each run after it.
func TestTwoRunsAtTheSameMoment(t *testing.T) {
	id := idOf(t, 0)
	first, second := names.Candidate("x-", id, 0, 5), names.Candidate("x-", id, 1, 5)
	several := "problem runs with this key have created one object several times: configmaps/" + first + " -n a, configmaps/" + second + " -n a"
	both := []idempotency.Existing{{Name: second, ID: id}, {Name: "copy", ID: id}, {Name: first, ID: id}}
	copied := warningOf(Copied, "configmaps/"+first+" -n a", "configmaps/copy -n a")

	c := &cluster{later: both}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-", "configmaps/a/y-"))),
		"created x-", "created y-", several, copied, "end 2")
	c = &cluster{existing: both}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))), several, copied, "exists "+first, "end 1")
	if !slices.Equal(c.found, []string{"configmaps/a"}) {
		t.Errorf("looked for in %q", c.found)
	}
	c = &cluster{existing: both, later: both}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-", "configmaps/a/y-"))),
		several, copied, "exists "+first, "created y-", "end 2")
}

// Eight places are listed concurrently. A slow search is reported, and an interrupt stops it.
func TestLooking(t *testing.T) {
	var documents []string
	for n := range 20 {
		documents = append(documents, fmt.Sprintf("configmaps/%02d/x-", n))
	}
	for name, test := range map[string]struct {
		takes, interruptAfter, want time.Duration
		late, notAttempted          int
	}{
		"soon":        {time.Millisecond, 0, 6 * time.Millisecond, 0, 0}, // before the creates, and again at the end
		"late":        {2 * time.Second, 0, 12 * time.Second, 2, 0},
		"interrupted": {time.Hour, time.Minute, time.Minute, 1, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				if test.interruptAfter > 0 {
					time.AfterFunc(test.interruptAfter, interrupt)
				}
				c := &cluster{findTakes: test.takes}
				start, late, notAttempted, last := time.Now(), 0, 0, Searching{}
				for e := range begin(ctx, withKey(c), input(documents...)) {
					switch e := e.(type) {
					case Searching:
						if last = e; e.Late {
							late++
						}
					case Outcome:
						notAttempted += missedIn(e)
					case Problem:
						t.Error(e.Err)
					}
				}
				if took := time.Since(start); took != test.want || c.mostFinds != findAtOnce {
					t.Errorf("it took %s, %d at once", took, c.mostFinds)
				}
				if late != test.late || notAttempted != test.notAttempted || last.Places != 20 {
					t.Errorf("%d times late, %d not attempted, at last %+v", late, notAttempted, last)
				}
			})
		})
	}
}

// If the list misses an object because its label was removed, but the create finds it by its name, it
// exists. An object with the label is newer than the list.
func TestFoundByName(t *testing.T) {
	c := &cluster{ends: func(string) (exactlyonce.Result, error) {
		object := document("configmaps/a/x-").Object
		return exactlyonce.Result{Outcome: exactlyonce.Found, Name: "x-11111", Object: object, Stripped: []string{exactlyonce.RunLabel}}, nil
	}}
	unlabelled := 0
	reported := words(func(yield func(Event) bool) {
		for e := range begin(t.Context(), withKey(c), input("configmaps/a/x-")) {
			if e, is := e.(Summary); is {
				unlabelled = e.Unlabelled
			}
			yield(e)
		}
	})
	expect(t, reported, warningOf(LabelLost, "configmaps/x-11111", exactlyonce.RunLabel),
		"exists x-11111", "end 1")
	if unlabelled != 1 {
		t.Errorf("%d without the label", unlabelled)
	}
	c.ends = func(string) (exactlyonce.Result, error) {
		return exactlyonce.Result{Outcome: exactlyonce.Found, Name: "x-11111", Object: document("configmaps/a/x-").Object}, nil
	}
	expect(t, words(begin(t.Context(), withKey(c), input("configmaps/a/x-"))), "created x-11111", "end 1")
}

// A changed spec is detected only for types with a status subresource.
func TestGenerations(t *testing.T) {
	for document, test := range map[string]struct{ generation, want int64 }{
		"jobs/a/j":       {2, 2},
		"jobs/a/first":   {1, 0},
		"things/a/x":     {2, 0},
		"configmaps/a/c": {0, 0},
	} {
		id := copyOf(t, document, 0)
		c := &cluster{existing: []idempotency.Existing{{Name: "n", ID: id, Generation: test.generation}}, verbs: []string{"get", "create"}}
		for e := range begin(t.Context(), withKey(c), input(document)) {
			if e, is := e.(Outcome); is && e.Generation != test.want {
				t.Errorf("%s: %d", document, e.Generation)
			}
		}
	}
}

// Dry runs with a key show the outcome of a run, and don't list again at the end.
func TestDryRunsWithAKey(t *testing.T) {
	for dryRun, created := range map[DryRun]string{ClientDryRun: "shown " + names.Candidate("x-", idOf(t, 1), 0, 5) + "x-", ServerDryRun: "created x-"} {
		c := &cluster{existing: []idempotency.Existing{{Name: "x-11111", ID: idOf(t, 0)}}}
		config := withKey(c)
		config.DryRun, config.Copies = dryRun, 2
		expect(t, words(begin(t.Context(), config, input("configmaps/a/x-"))), "exists x-11111", created, "end 1")
		if len(c.ids) > 0 && c.ids[0] != exactlyonce.Untracked() || len(c.found) != 1 {
			t.Errorf("sent as %v, looked for in %v", c.ids, c.found)
		}
		config.Copies = 1
		c.existing[0].ID = "v1-other"
		reported := words(begin(t.Context(), config, input("configmaps/a/x-")))
		if len(reported) != 2 || !strings.HasSuffix(reported[0], "configmaps/x-11111 -n a") {
			t.Errorf("%q", reported)
		}
	}
}

// If objects can't be read back, the server names them, and a key is refused.
func TestNaming(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		verbs    []string
		key      idempotency.Key
		want     []string
		marked   bool
	}{
		"get":             {"configmaps/a/x-", []string{"create", "get"}, "", []string{"created x-", "end 1"}, true},
		"not known":       {"configmaps/a/x-", nil, "", []string{"created x-", "end 1"}, true},
		"a name":          {"configmaps/a/x", []string{"create"}, "", []string{"created x", "end 1"}, false},
		"no get":          {"things/a/x-", []string{"create", "list"}, "", []string{warningOf(ServerNames, schema.GroupResource{Resource: "things"}, NotReadable), "created x-", "end 1"}, false},
		"a review":        {"reviews/a/x-", []string{"create"}, "", []string{warningOf(ServerNames, schema.GroupResource{Resource: "reviews"}, NotStored), "created x-", "end 1"}, false},
		"no get, and key": {"things/a/x-", []string{"create", "list"}, "k", []string{"problem things can't be named by the client: no verb to get", "end 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{verbs: test.verbs}
			config := configOf(c)
			config.Key = test.key
			expect(t, words(begin(t.Context(), config, input(test.document))), test.want...)
			if len(c.ids) > 0 && (c.ids[0].String() != "") != test.marked {
				t.Errorf("its id is %q", c.ids[0])
			}
		})
	}
}

// A client dry run of a run with a key prints the first name and the creation ID annotation. Without a
// key it prints only the document.
func TestClientDryRun(t *testing.T) {
	config := configOf(&cluster{})
	config.DryRun = ClientDryRun
	expect(t, words(begin(t.Context(), config, input("configmaps/a/x-"))), "shown x-", "end 1")
	config.Key = key
	id := idOf(t, 0)
	for e := range begin(t.Context(), config, input("configmaps/a/x-")) {
		if o, is := e.(Outcome); is && (o.Result.Object.GetName() != names.Candidate("x-", id, 0, 5) || o.Result.Object.GetAnnotations()[exactlyonce.Annotation] != id) {
			t.Errorf("%v", o.Result.Object)
		}
	}
}

// Listed objects are reported as existing, even if others are refused.
func TestExistsAfterRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{
			existing: []idempotency.Existing{{Name: "x-1", ID: idOf(t, 1)}, {Name: "x-2", ID: idOf(t, 2)}},
			ends:     func(string) (exactlyonce.Result, error) { return exactlyonce.Result{}, errForbidden },
		}
		config := withKey(c)
		config.Copies, config.Concurrency = 3, 1
		expect(t, words(begin(t.Context(), config, input("configmaps/a/x-"))), "failed x-", "exists x-1", "exists x-2", "end 1")
	})
}

// They are also reported after an interrupt, unless they must be read.
func TestExistsAfterInterrupt(t *testing.T) {
	for _, whole := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			c := &cluster{
				existing: []idempotency.Existing{{Name: "x-2", ID: idOf(t, 2)}},
				during:   func(string) { interrupt() },
				takes:    time.Second,
			}
			config := withKey(c)
			config.Copies, config.Concurrency, config.Whole = 4, 1, whole
			want := []string{"created x-", "2 not attempted", "exists x-2", "end 1"}
			if whole {
				want = []string{"created x-", "3 not attempted", "end 1"}
			}
			expect(t, words(begin(ctx, config, input("configmaps/a/x-"))), want...)
		})
	}
}

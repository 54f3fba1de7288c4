package create

import (
	"errors"
	"io"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

const key = idempotency.Key("k")

// idOf is the creation id of the n-th copy of configmaps/a/x- under the key.
func idOf(t *testing.T, n int) string {
	t.Helper()
	d := document("configmaps/a/x-")
	sum, err := digest.Of(d.Object)
	if err != nil {
		t.Fatal(err)
	}
	return key.CreationID(idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}, sum, n)
}

func keyed(c *cluster) Config {
	config := configOf(c)
	config.Key, config.Concurrency = key, 1
	return config
}

// A run with a key creates what is missing, equal documents numbered through.
func TestRepeatably(t *testing.T) {
	c := &cluster{existing: []idempotency.Existing{{Name: "x-11111", ID: idOf(t, 1)}}}
	config := keyed(c)
	config.Copies = 2
	expect(t, words(Run(t.Context(), config, input("configmaps/a/x-", "configmaps/a/x-"))),
		"created x-", "unchanged x-11111", "created x-", "created x-", "end 2")
	for i, n := range []int{0, 2, 3} {
		if want := once.Derived(idOf(t, n), key.RunLabel()); c.ids[i] != want {
			t.Errorf("create %d is under %v, want %v", i, c.ids[i], want)
		}
	}
}

// Nothing is created if the key has created something that the input does not
// ask for, but what controllers copied its label to.
func TestStrangers(t *testing.T) {
	for name, test := range map[string]struct {
		existing []idempotency.Existing
		want     string
	}{
		"another id": {[]idempotency.Existing{{Name: "y", ID: "v1-other"}}, "configmaps/y -n a"},
		"no id":      {[]idempotency.Existing{{Name: "y"}}, "configmaps/y -n a (without its creation id)"},
		"a child":    {[]idempotency.Existing{{Name: "y", Owned: true}}, ""},
	} {
		c := &cluster{existing: test.existing}
		var found *StrangersError
		for e := range Run(t.Context(), keyed(c), input("configmaps/a/x-")) {
			if problem, is := e.(Problem); is {
				errors.As(problem.Err, &found)
			}
		}
		switch {
		case test.want == "" && (found != nil || len(c.sent) != 1):
			t.Errorf("%s: %v, sent %q", name, found, c.sent)
		case test.want != "" && (found == nil || len(c.sent) > 0 || found.Strangers[0] != test.want):
			t.Errorf("%s: %v, sent %q", name, found, c.sent)
		}
	}
}

// An input that cannot be read whole, or a list that fails, creates nothing.
func TestNothingIsCreatedInDoubt(t *testing.T) {
	c := &cluster{}
	expect(t, words(Run(t.Context(), keyed(c), func(yield func(Item, error) bool) {
		_ = yield(Item{Document: document("configmaps/a/x-")}, nil) && yield(Item{Reached: func(bool) {}}, nil) && yield(Item{}, io.EOF)
	})), "problem EOF", "end 1")
	c.findErr = errors.New("needs list")
	expect(t, words(Run(t.Context(), keyed(c), input("configmaps/a/x-"))), "problem nothing was changed: needs list", "end 1")
	if len(c.sent) > 0 {
		t.Errorf("sent: %q", c.sent)
	}
}

// What is there is read where it is shown whole; what is gone by then is
// created again.
func TestUnchangedAndWhole(t *testing.T) {
	c := &cluster{existing: []idempotency.Existing{{Name: "x-11111", ID: idOf(t, 0)}}}
	config := keyed(c)
	config.Whole = true
	c.get = func(name string) (*unstructured.Unstructured, error) {
		return &unstructured.Unstructured{Object: map[string]any{"data": name}}, nil
	}
	for e := range Run(t.Context(), config, input("configmaps/a/x-")) {
		if u, is := e.(Unchanged); is && u.Object.Object["data"] != "x-11111" {
			t.Errorf("%+v", u)
		}
	}
	c.get = func(name string) (*unstructured.Unstructured, error) {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name)
	}
	expect(t, words(Run(t.Context(), config, input("configmaps/a/x-"))), "created x-", "end 1")
	c.get = func(string) (*unstructured.Unstructured, error) { return nil, io.EOF }
	for e := range Run(t.Context(), config, input("configmaps/a/x-")) {
		if u, is := e.(Unchanged); is && !errors.Is(u.Err, io.EOF) {
			t.Errorf("%+v", u)
		}
	}
}

// Copies that others made, and objects that are being deleted, are told of.
func TestWarnings(t *testing.T) {
	id := idOf(t, 0)
	c := &cluster{existing: []idempotency.Existing{{Name: "x-1", ID: id, Deleting: true}, {Name: "x-2", ID: id}}}
	expect(t, words(Run(t.Context(), keyed(c), input("configmaps/a/x-"))),
		`warning configmaps in "a" x-1 and x-2 carry the same creation id: somebody has copied one of them`,
		"warning configmaps/x-1 is being deleted: a later run with this key creates it again",
		"unchanged x-1", "end 1")
	d := document("jobs/a/x-")
	d.Object.Object["spec"] = map[string]any{"ttlSecondsAfterFinished": int64(1)}
	got := words(Run(t.Context(), keyed(&cluster{}), func(yield func(Item, error) bool) { yield(Item{Document: d}, nil) }))
	if len(got) != 3 || got[0] != "warning jobs with ttlSecondsAfterFinished are deleted some time after they finish: a later run with the same key creates them again" {
		t.Errorf("%q", got)
	}
}

// Of several objects with one id, the one that is told of is that whose name
// follows from the id, whichever comes first in a list.
func TestCopiesOfOthers(t *testing.T) {
	id := idOf(t, 0)
	own := names.Candidate("x-", id, 1, 5)
	for _, copied := range []string{"a", "zzz"} {
		c := &cluster{existing: []idempotency.Existing{{Name: copied, ID: id}, {Name: own, ID: id}}}
		told := words(Run(t.Context(), keyed(c), input("configmaps/a/x-")))
		if len(told) != 3 || told[1] != "unchanged "+own {
			t.Errorf("%q", told)
		}
	}
}

// What cannot be read back is named by the server, and refuses a key.
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
		"no get":          {"things/a/x-", []string{"create", "list"}, "", []string{"warning things cannot be read back (the API has no get): the server picks their names, and a lost answer cannot be settled", "created x-", "end 1"}, false},
		"a review":        {"reviews/a/x-", []string{"create"}, "", []string{"warning reviews are answered, and not stored: the server picks their names, and a lost answer cannot be settled", "created x-", "end 1"}, false},
		"no get, and key": {"things/a/x-", []string{"create", "list"}, "k", []string{"problem --idempotency-key cannot be used for things, which cannot be read back (the API has no get) (in test.yaml)", "end 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{verbs: test.verbs}
			config := configOf(c)
			config.Key = test.key
			expect(t, words(Run(t.Context(), config, input(test.document))), test.want...)
			if len(c.ids) > 0 && (c.ids[0].String() != "") != test.marked {
				t.Errorf("its id is %q", c.ids[0])
			}
		})
	}
}

// A client's dry run shows the first name and the marks of a run with a key,
// and nothing that was not said of another.
func TestClientDryRun(t *testing.T) {
	config := configOf(&cluster{})
	config.DryRun = ClientDryRun
	expect(t, words(Run(t.Context(), config, input("configmaps/a/x-"))), "shown x-", "end 1")
	config.Key = key
	id := idOf(t, 0)
	for e := range Run(t.Context(), config, input("configmaps/a/x-")) {
		if shown, is := e.(Shown); is && (shown.Object.GetName() != names.Candidate("x-", id, 0, 5) || shown.Object.GetAnnotations()[once.Annotation] != id) {
			t.Errorf("%v", shown.Object)
		}
	}
}

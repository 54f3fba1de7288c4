package keyed

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// The tests of internal/create check the meaning of each listed object. The tests here check runs whose
// places become known one after the other.

const key = idempotency.Key("k")

// lists are the objects by namespace.
type lists map[string][]idempotency.Existing

func (l lists) find(_ context.Context, _ schema.GroupVersionResource, namespace string) ([]idempotency.Existing, error) {
	if namespace == "unreadable" {
		return nil, errUnreadable
	}
	return l[namespace], nil
}

var errUnreadable = errors.New("forbidden")

func placeIn(namespace string, generateNames ...string) Place {
	p := Place{
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: schema.GroupKind{Kind: "ConfigMap"},
		Namespace: namespace, GenerateNames: map[string]bool{},
	}
	for _, generateName := range generateNames {
		p.GenerateNames[generateName] = true
	}
	return p
}

func secretOf(character string) derive.Secret {
	secret, err := derive.ParseSecret(strings.Repeat(character, 32))
	if err != nil {
		panic(err)
	}
	return secret
}

func identity(namespace, generateName string) derive.Object {
	return derive.Object{Kind: "ConfigMap", Namespace: namespace, GenerateName: generateName}
}

// made returns an object that a run with the secret has created.
func made(namespace, generateName string, secrets ...derive.Secret) idempotency.Existing {
	id := New(key, secrets, nil).ID(identity(namespace, generateName), Content{})
	return idempotency.Existing{Name: id.Name(generateName, 0), GenerateName: generateName, ID: id.Creation}
}

// step is the next place of a run, and the conflict that the run has after it.
type step struct {
	namespace string
	conflict  []string
}

func TestOnePlaceAtATime(t *testing.T) {
	first, second := secretOf("1"), secretOf("2")
	under := made("b", "x-", first)
	for name, test := range map[string]struct {
		secrets []derive.Secret
		lists   lists
		steps   []step
		want    derive.Secret // the secret of the next object
	}{
		"nothing exists":        {nil, nil, []step{{"a", nil}, {"b", nil}}, derive.Secret{}},
		"the current secret":    {[]derive.Secret{second, first}, nil, []step{{"a", nil}}, second},
		"a former secret":       {[]derive.Secret{second, first}, lists{"b": {under}}, []step{{"b", nil}, {"a", nil}}, first},
		"a former secret later": {[]derive.Secret{second, first}, lists{"b": {under}}, []step{{"a", nil}, {"b", []string{"configmaps/" + under.Name + " -n b"}}}, second},
		"both secrets": {
			[]derive.Secret{second, first},
			lists{"b": {under}, "c": {made("c", "x-", second)}},
			[]step{{"b", nil}, {"c", []string{"configmaps/" + under.Name + " -n b", "configmaps/" + made("c", "x-", second).Name + " -n c"}}},
			first,
		},
		"a secret that the run lacks": {nil, lists{"b": {under}}, []step{{"a", nil}, {"b", []string{"configmaps/" + under.Name + " -n b"}}}, derive.Secret{}},
		"beside ours":                 {nil, lists{"b": {under}, "a": {made("a", "x-")}}, []step{{"a", nil}, {"b", nil}}, derive.Secret{}},
	} {
		run := New(key, test.secrets, test.lists.find)
		var last exactlyonce.ID
		for _, s := range test.steps {
			if err := run.At(t.Context(), placeIn(s.namespace, "x-")); err != nil {
				t.Fatal(err)
			}
			var conflict *SecretsError
			errors.As(run.Conflict(), &conflict)
			if got := conflict; (got == nil) != (s.conflict == nil) || got != nil && !slices.Equal(got.Objects, s.conflict) {
				t.Errorf("%s: at %s: %v, want %q", name, s.namespace, got, s.conflict)
			}
			last = run.ID(identity(s.namespace, "x-"), Content{})
		}
		if last.Secret != test.want {
			t.Errorf("%s: the run goes on with another secret", name)
		}
	}
}

// If Existing was called for an object, the object isn't unmatched, even after its place was listed again
// with another generateName. An object without a generateName then belongs to the run.
func TestUnasked(t *testing.T) {
	asked, restored := made("a", "x-"), made("a", "y-")
	restored.GenerateName = ""
	run := New(key, nil, lists{"a": {asked, restored, {Name: "other"}, {Name: "owned", Owned: true}}}.find)
	if err := run.At(t.Context(), placeIn("a", "x-")); err != nil {
		t.Fatal(err)
	}
	at := placeIn("a", "x-", "y-")
	if e := run.Existing(at, run.ID(identity("a", "x-"), Content{})); e == nil || e.Name != asked.Name {
		t.Errorf("%+v exists, want %s", e, asked.Name)
	}
	if e := run.Existing(at, run.ID(identity("a", "z-"), Content{})); e != nil {
		t.Errorf("%+v exists, want none", e)
	}
	expect := func(unmatched, others []string) {
		t.Helper()
		var got []string
		for _, o := range run.Unmatched() {
			got = append(got, o.Name)
		}
		if !slices.Equal(got, unmatched) || !slices.Equal(run.Others(), others) {
			t.Errorf("unmatched: %q, others: %q, want %q and %q", got, run.Others(), unmatched, others)
		}
	}
	others := []string{"configmaps/other -n a", "configmaps/" + restored.Name + " -n a"}
	expect(nil, others)
	if err := run.At(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	expect([]string{restored.Name}, others[:1])
	if err := run.At(t.Context(), placeIn("unreadable")); !errors.Is(err, errUnreadable) {
		t.Error(err)
	}
}

// listed are the objects of a server, by name.
type listed map[string]idempotency.Existing

func (l listed) start() *Contents {
	return NewContents(New(key, nil, func(context.Context, schema.GroupVersionResource, string) ([]idempotency.Existing, error) {
		return slices.Collect(maps.Values(l)), nil
	}))
}

// claim begins a create with a content.
func claim(t *testing.T, run *Contents, content string) (*Claim, error) {
	return run.Claim(t.Context(), placeIn("ns"), "x-", func(derive.Secret, derive.Object) (string, bool) { return content, true })
}

func (l listed) store(c *Claim) {
	name := c.ID.Name("x-", 0)
	l[name] = idempotency.Existing{Name: name, GenerateName: "x-", ID: c.ID.Creation, Digest: c.ID.Digest}
	c.End(true)
}

// Two concurrent runs with one key create the same two objects, in any order. If a run lists the first object
// but begins with the second one, the second one is refused until the run has created the first one again.
func TestOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := listed{}
		first, second, late := stored.start(), stored.start(), stored.start()
		begin := func(run *Contents, content string) *Claim {
			c, err := claim(t, run, content)
			if err != nil {
				t.Fatalf("%s: %v", content, err)
			}
			return c
		}
		a := begin(first, "A")
		b := begin(second, "B") // A was not stored yet
		stored.store(a)
		var left *UnmatchedError
		if _, err := claim(t, late, "B"); !errors.As(err, &left) || stored[left.Object.Name].Name == "" {
			t.Errorf("%v, want that A was not created again", err)
		}
		stored.store(b)
		for _, step := range []struct {
			run     *Contents
			content string
		}{{second, "A"}, {first, "B"}, {late, "A"}, {late, "B"}} {
			stored.store(begin(step.run, step.content))
		}
		if len(stored) != 2 {
			t.Errorf("%d objects, want 2", len(stored))
		}
	})
}

// If the create of an existing object failed (an outage), its content isn't new when the program repeats the create.
func TestRepeatedAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := listed{}
		first, second := stored.start(), stored.start()
		for _, content := range []string{"A", "B"} {
			c, err := claim(t, first, content)
			if err != nil {
				t.Fatal(err)
			}
			stored.store(c)
		}
		failed, err := claim(t, second, "A")
		if err != nil {
			t.Fatal(err)
		}
		failed.End(false)
		if again, err := claim(t, second, "A"); err != nil || again.Listed == nil || again.Listed.Name != failed.Listed.Name {
			t.Errorf("%+v, %v, want the object %s", again, err, failed.Listed.Name)
		}
	})
}

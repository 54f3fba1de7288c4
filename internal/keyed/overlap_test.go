package keyed

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

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

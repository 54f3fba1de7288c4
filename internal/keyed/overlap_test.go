package keyed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Runs with one key that overlap make the same two objects, also in another order. If a run lists the first object and
// begins with the second one, the second one is refused until the run has created the first one again.
func TestOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := map[string]idempotency.Existing{}
		start := func() *Contents {
			return NewContents(New(key, nil, func(
				context.Context, schema.GroupVersionResource, string,
			) (found []idempotency.Existing, _ error) {
				for _, o := range stored {
					found = append(found, o)
				}
				return found, nil
			}))
		}
		claim := func(run *Contents, content string) (store func(), err error) {
			claim, err := run.Claim(t.Context(), placeIn("ns"), "x-",
				func(derive.Secret, derive.Object) (string, bool) { return content, true })
			return func() {
				name := claim.ID.Name("x-", 0)
				stored[name] = idempotency.Existing{
					Name: name, GenerateName: "x-", ID: claim.ID.Creation, Digest: claim.ID.Digest,
				}
				claim.End(true)
			}, err
		}
		create := func(run *Contents, content string) error {
			store, err := claim(run, content)
			if err == nil {
				store()
			}
			return err
		}
		first, second, late := start(), start(), start()
		store, err := claim(first, "A")
		if err != nil {
			t.Fatal(err)
		}
		storeB, err := claim(second, "B") // A was not stored yet
		if err != nil {
			t.Fatal(err)
		}
		store()
		var left *UnmatchedError
		if err := create(late, "B"); !errors.As(err, &left) || stored[left.Object.Name].Name == "" {
			t.Errorf("%v, want that A was not created again", err)
		}
		storeB()
		for _, step := range []struct {
			run     *Contents
			content string
		}{{second, "A"}, {first, "B"}, {late, "A"}, {late, "B"}} {
			if err := create(step.run, step.content); err != nil {
				t.Error(err)
			}
		}
		if len(stored) != 2 {
			t.Errorf("%d objects, want 2", len(stored))
		}
	})
}

// An existing object whose create failed, such as for an outage, is no new content when the program repeats the create.
func TestRepeatedAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored []idempotency.Existing
		start := func() *Contents {
			return NewContents(New(key, nil, func(
				context.Context, schema.GroupVersionResource, string,
			) ([]idempotency.Existing, error) {
				return stored, nil
			}))
		}
		claim := func(run *Contents, content string) *Claim {
			claim, err := run.Claim(t.Context(), placeIn("ns"), "x-",
				func(derive.Secret, derive.Object) (string, bool) { return content, true })
			if err != nil {
				t.Fatalf("%s: %v", content, err)
			}
			return claim
		}
		first := start()
		for _, content := range []string{"A", "B"} {
			id := claim(first, content).ID
			stored = append(stored, idempotency.Existing{
				Name: id.Name("x-", 0), GenerateName: "x-", ID: id.Creation, Digest: id.Digest,
			})
		}
		second := start()
		claim(second, "A").End(false)
		if again := claim(second, "A"); again.Listed == nil || again.Listed.Name != stored[0].Name {
			t.Errorf("%+v, want the object %s", again.Listed, stored[0].Name)
		}
	})
}

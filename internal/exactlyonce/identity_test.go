package exactlyonce

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// only returns the one object of the server.
func only(t *testing.T, server *oncetest.Server) *unstructured.Unstructured {
	t.Helper()
	objects := server.Objects()
	if len(objects) != 1 {
		t.Fatalf("%d objects", len(objects))
	}
	return objects[0]
}

// An object with a fixed name keeps it, and is found by its ID. An object without an
// ID under this name belongs to another client, as with kubectl. No second object is
// created.
func TestNameOfItsOwn(t *testing.T) {
	server := oncetest.NewServer()
	c := creatorFor(t, server.Config())
	named, id := configMap(), Derive(Derivation{Creation: "v1-x"})
	named.SetName("mine")
	for _, want := range []Outcome{Created, Found} {
		if r, err := c.Create(t.Context(), configMapMapping, named, id); err != nil || r.Outcome != want || r.Name != "mine" {
			t.Errorf("%+v, %v, want %s", r, err, want)
		}
	}
	older := only(t, server)
	older.SetAnnotations(nil)
	server.Put(older)
	if r, err := c.Create(t.Context(), configMapMapping, named, id); !errors.Is(err, ErrTaken) || r.Object.GetName() != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
	older.SetAnnotations(map[string]string{Annotation: id.String()})
	server.Put(older)
	if r, err := c.Create(t.Context(), configMapMapping, named, id); err != nil || r.Outcome != Found {
		t.Errorf("%+v, %v", r, err)
	}
	only(t, server)
}

// An outcome that can't be settled for lack of a permission says which one.
func TestUnknownWithoutPermission(t *testing.T) {
	for _, id := range []ID{NewID(), Derive(Derivation{Creation: "v1-x"})} {
		server := oncetest.NewServer()
		server.Next("create", "*", oncetest.AfterStore(oncetest.GatewayTimeout))
		server.Next("get", "*", oncetest.Forbidden)
		_, err := creatorFor(t, server.Config(), WithRetryTimeout(0)).Create(t.Context(), configMapMapping, configMap(), id)
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "needs the permission get") {
			t.Error(err)
		}
	}
}

// A run with other content and the same key has created the object. That is a mismatch even if this POST was lost,
// so that a GET finds the object after a request that could have stored it.
func TestMismatchAfterALostRequest(t *testing.T) {
	for name, test := range map[string]struct {
		digest string
		want   error
	}{
		"other content": {"d1-other", ErrMismatch}, "the same": {"d1-ours", nil}, "stripped": {"", nil}, "another version": {"d2-other", nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := oncetest.NewServer()
			id := Derive(Derivation{Creation: "v1-x", Digest: "d1-ours"})
			server.Next("create", "*", func(r *oncetest.Request) (*http.Response, error) {
				theirs := r.Object.DeepCopy()
				Derive(Derivation{Creation: "v1-x", Digest: test.digest}).Stamp(theirs)
				server.Put(theirs)
				return oncetest.DropRequest(r)
			})
			r, err := creatorFor(t, server.Config()).Create(t.Context(), configMapMapping, configMap(), id)
			if !errors.Is(err, test.want) || r.Object == nil {
				t.Errorf("%+v, %v, want %v", r, err, test.want)
			}
			only(t, server)
		})
	}
}

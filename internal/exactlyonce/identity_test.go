package exactlyonce

import (
	"errors"
	"net/http"
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

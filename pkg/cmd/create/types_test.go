package create

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
)

// server is a server's types, and which of them it was asked for.
type server struct {
	meta.RESTMapper
	types, asked []string
	resets       int
}

func (s *server) Reset() { s.resets++ }

func (s *server) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	asked := kind.Kind + "." + versions[0]
	s.asked = append(s.asked, asked)
	if !slices.Contains(s.types, asked) {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{GroupVersionKind: kind.WithVersion(versions[0])}, nil
}

// A type is looked up once. A missing type is looked up again after the earlier documents are
// created.
func TestTypesAreLookedForOnce(t *testing.T) {
	s := &server{types: []string{"A.v1", "A.v2"}}
	waited := 0
	in := &input{ctx: t.Context(), yield: func(item create.Item, _ error) bool {
		waited++
		s.types = append(s.types, "B.v1")
		item.Reached(true)
		return true
	}}
	types := newWaitingTypes(nil, in)
	types.mapper.RESTMapper = s
	for _, name := range []string{"A.v1", "A.v1", "A.v2", "B.v1", "B.v1", "A.v1", "A.v1"} {
		kind, version, _ := strings.Cut(name, ".")
		asked := schema.GroupVersionKind{Version: version, Kind: kind}
		mapping, err := types.mapper.RESTMapping(asked.GroupKind(), asked.Version)
		if err != nil || mapping.GroupVersionKind != asked {
			t.Errorf("%s: %v, %v", asked, mapping, err)
		}
	}
	if want := []string{"A.v1", "A.v2", "B.v1", "B.v1", "A.v1"}; !slices.Equal(s.asked, want) || s.resets != 1 || waited != 1 {
		t.Errorf("asked %q, want %q; %d resets, waited %d times", s.asked, want, s.resets, waited)
	}
}

// A missing type isn't looked up again for each document, unless a document brings types.
func TestMissingTypes(t *testing.T) {
	s := &server{}
	waited := 0
	in := &input{ctx: t.Context(), yield: func(item create.Item, _ error) bool {
		waited++
		item.Reached(true)
		return true
	}}
	types := newWaitingTypes(nil, in)
	types.mapper.RESTMapper = s
	look := func(kinds ...string) {
		for _, kind := range kinds {
			if _, err := types.mapper.RESTMapping(schema.GroupKind{Kind: kind}, "v1"); !meta.IsNoMatchError(err) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
	look("A", "B", "A")
	if s.resets != 1 || waited != 1 {
		t.Errorf("%d resets, waited %d times", s.resets, waited)
	}
	in.typesCome = true
	look("A", "B")
	if s.resets != 3 || waited != 3 {
		t.Errorf("with types that come, %d resets, waited %d times", s.resets, waited)
	}
}

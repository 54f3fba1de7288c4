package create

import (
	"errors"
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

// A type is looked up once. One missing type is looked up again, and after a document that adds types, each missing
// type. The earlier documents are created first.
func TestTypesAreLookedForOnce(t *testing.T) {
	s := &server{types: []string{"A.v1", "A.v2"}}
	settled := 0
	in := &input{options: &options{}, yield: func(_ *create.Document, err error) bool {
		if errors.Is(err, errSettle) {
			settled++
		}
		return true
	}}
	types := newTypes(nil, in)
	types.mapper.RESTMapper = s
	look := func(found bool, names ...string) {
		t.Helper()
		for _, name := range names {
			kind, version, _ := strings.Cut(name, ".")
			asked := schema.GroupVersionKind{Version: version, Kind: kind}
			mapping, err := types.mapper.RESTMapping(asked.GroupKind(), asked.Version)
			if found && (err != nil || mapping.GroupVersionKind != asked) || !found && !meta.IsNoMatchError(err) {
				t.Errorf("%s: %v, %v", asked, mapping, err)
			}
		}
	}
	look(true, "A.v1", "A.v1", "A.v2")
	look(false, "B.v1", "C.v1")
	if want := []string{"A.v1", "A.v2", "B.v1", "B.v1", "C.v1"}; !slices.Equal(s.asked, want) || s.resets != 1 {
		t.Errorf("asked %q, want %q; %d resets", s.asked, want, s.resets)
	}
	s.types, in.typesCome = append(s.types, "B.v1"), true
	look(true, "B.v1", "A.v1")
	look(false, "C.v1", "D.v1")
	if s.resets != 3 || settled != 3 {
		t.Errorf("%d resets after a document that brings types, and %d batches ended", s.resets, settled)
	}
	in.keyed = true
	look(false, "E.v1")
	if settled != 3 {
		t.Error("a run with a key ended a batch, before it had read all")
	}
}

// A batch ends after a document that brings types, and before one whose type is missing. A run with a key has one
// batch.
func TestBatches(t *testing.T) {
	kinds := []schema.GroupKind{
		{Kind: "ConfigMap"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Kind: "Secret"},
		{Kind: "Secret"},
		{Group: "apiregistration.k8s.io", Kind: "APIService"},
	}
	var in *input
	documents := func(yield func(*create.Document, error) bool) {
		for i, kind := range kinds {
			if i == 3 && !in.keyed && !yield(nil, errSettle) { // its type is missing
				return
			}
			d := demo()
			d.Mapping.GroupVersionKind = kind.WithVersion("v1")
			if !yield(d, nil) {
				return
			}
		}
	}
	for key, want := range map[string][]int{"": {2, 1, 2, 0}, "k": {5}} {
		var got []int
		in = &input{options: &options{}, keyed: key != ""}
		for batch := range in.split(documents) {
			n := 0
			for _, err := range batch {
				if n++; err != nil {
					t.Error(err)
				}
			}
			got = append(got, n)
		}
		if !slices.Equal(got, want) || in.typesCome != (key == "") {
			t.Errorf("with the key %q: %v, want %v", key, got, want)
		}
	}
}

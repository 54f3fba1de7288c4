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

// A type is looked up once. Missing types are looked up again once for each batch.
func TestTypesAreLookedForOnce(t *testing.T) {
	s := &server{types: []string{"A.v1", "A.v2"}}
	in := &input{newTypes: true}
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
	s.types, in.newTypes = append(s.types, "B.v1"), true
	look(true, "B.v1", "A.v1")
	look(false, "C.v1", "D.v1")
	if s.resets != 2 {
		t.Errorf("%d resets after a batch", s.resets)
	}
}

// A batch ends after a document that brings types. A run with a key has one batch.
func TestBatches(t *testing.T) {
	kinds := []schema.GroupKind{
		{Kind: "ConfigMap"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Kind: "Secret"},
		{Kind: "Secret"},
		{Group: "apiregistration.k8s.io", Kind: "APIService"},
	}
	documents := func(yield func(*create.Document, error) bool) {
		for _, kind := range kinds {
			d := demo()
			d.Mapping.GroupVersionKind = kind.WithVersion("v1")
			if !yield(d, nil) {
				return
			}
		}
	}
	for key, want := range map[string][]int{"": {2, 3, 0}, "k": {5}} {
		in, got := &input{}, []int(nil)
		for batch := range in.split(documents, key != "") {
			n := 0
			for _, err := range batch {
				if n++; err != nil {
					t.Error(err)
				}
			}
			got = append(got, n)
		}
		if !slices.Equal(got, want) || in.newTypes != (key == "") {
			t.Errorf("with the key %q: %v, want %v", key, got, want)
		}
	}
}

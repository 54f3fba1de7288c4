package create

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/manifest"
)

// server has the types of a server, and records the requests for them.
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

type getter struct {
	genericclioptions.RESTClientGetter
	server *server
}

func (g getter) ToRESTMapper() (meta.RESTMapper, error) { return g.server, nil }

// A type is looked up once. Only one missing type is looked up again. After a document that adds types, every missing
// type is. Before that, the earlier documents are created.
func TestTypesAreLookedForOnce(t *testing.T) {
	s := &server{types: []string{"A.v1", "A.v2"}}
	flushed := 0
	in := &input{options: &options{}, flush: func() bool { flushed++; return true }}
	types, _ := manifest.NewTypes(getter{nil, s}, in.askAgain).ToRESTMapper()
	look := func(found bool, names ...string) {
		t.Helper()
		for _, name := range names {
			kind, version, _ := strings.Cut(name, ".")
			asked := schema.GroupVersionKind{Version: version, Kind: kind}
			mapping, err := types.RESTMapping(asked.GroupKind(), asked.Version)
			if found && (err != nil || mapping.GroupVersionKind != asked) || !found && !meta.IsNoMatchError(err) {
				t.Errorf("%s: %v, %v, want it found: %t", asked, mapping, err, found)
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
	if s.resets != 3 || flushed != 3 {
		t.Errorf("%d resets after a document that brings types, and earlier documents were created %d times", s.resets, flushed)
	}
	in.keyed = true
	look(false, "E.v1")
	if flushed != 3 {
		t.Error("a run with a key created documents before it had read all")
	}
}

// A document that brings types is created before the next one is read, but not in a run with a key. After an
// interrupt, no document is handed over.
func TestDocumentsThatBringTypes(t *testing.T) {
	for name, test := range map[string]struct {
		keyed, interrupted bool
		want               string
	}{
		"in order":    {false, false, "1 2 flushed 3 4 flushed"},
		"with a key":  {true, false, "1 2 3 4"},
		"interrupted": {false, true, "1 2 flushed"},
	} {
		var done []string
		in := &input{
			options: &options{}, keyed: test.keyed,
			yield: func(d *create.Document, _ error) bool { done = append(done, d.Source); return true },
			flush: func() bool { done = append(done, "flushed"); return !test.interrupted },
		}
		for i, kind := range []schema.GroupKind{
			{Kind: "ConfigMap"},
			{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
			{Kind: "Secret"},
			{Group: "apiregistration.k8s.io", Kind: "APIService"},
		} {
			d := demo()
			d.Source, d.Mapping.GroupVersionKind = strconv.Itoa(i+1), kind.WithVersion("v1")
			in.hand(d, nil)
		}
		if got := strings.Join(done, " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	pages "github.com/kubectl-genname/kubectl-genname/docs/rules"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// serverMinor is the minor version of the control plane's servers.
const serverMinor = 34

// server sends objects to a real server.
type server struct {
	client    dynamic.Interface
	resources map[schema.GroupVersionKind]metav1.APIResource
	options   metav1.CreateOptions
}

// newServer discovers the resource types that the server can create.
func newServer(t *testing.T, config *rest.Config, options metav1.CreateOptions) *server {
	t.Helper()
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	found, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{client, map[schema.GroupVersionKind]metav1.APIResource{}, options}
	for _, list := range found {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "create") {
				resource.Group, resource.Version = version.Group, version.Version
				s.resources[version.WithKind(resource.Kind)] = resource
			}
		}
	}
	return s
}

// create sends an object. create uses the namespace "default" if the object has none.
func (s *server) create(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, has := s.resources[object.GroupVersionKind()]
	if !has {
		return nil, fmt.Errorf("the server has no %s", object.GroupVersionKind())
	}
	client := s.client.Resource(schema.GroupVersionResource{Group: resource.Group, Version: resource.Version, Resource: resource.Name})
	if resource.Namespaced {
		return client.Namespace("default").Create(ctx, object, s.options)
	}
	return client.Create(ctx, object, s.options)
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// A real server refuses each bad example of an error rule, or has the result that the rule describes. The server
// accepts each good example.
func TestServerAgrees(t *testing.T) {
	cp := controlplane.New(t)
	s := newServer(t, cp.Admin(), dryRun)
	t.Run("examples", func(t *testing.T) {
		for _, rule := range rules.All {
			for _, example := range rule.Page().Examples {
				t.Run(rule.Name+"/"+example.About, func(t *testing.T) { s.compareExample(t, rule, example) })
			}
		}
	})
	t.Run("names of all types", func(t *testing.T) { s.compareTypes(t) })
}

// compareExample compares the findings of a rule in an example with the server's responses.
func (s *server) compareExample(t *testing.T, rule *rules.Rule, example pages.Example) {
	objects, _ := manifest.Read([]byte(example.Manifest))
	var made []string
	var refusals []error
	for _, o := range objects {
		object, err := s.create(t.Context(), o.Unstructured)
		if err != nil {
			refusals = append(refusals, err)
			continue
		}
		made = append(made, object.GetName())
	}
	bad := example.Level == string(v1alpha1.LintError)
	switch {
	case rule.Name == "hook-names": // Argo CD picks the names, so the server accepts each
		if len(refusals) > 0 {
			t.Errorf("refused: %v", refusals)
		}
	case rule.Name == "missing-name" && example.Level != "" && example.Level != string(v1alpha1.LintWarning):
		if len(refusals) != 1 || !refersToName(refusals[0]) && !strings.Contains(refusals[0].Error(), "generateName") {
			t.Errorf("not refused for its name: %v", refusals)
		}
	case !bad && len(refusals) > 0:
		t.Errorf("refused: %v", errors.Join(refusals...))
	case !bad:
	case rule.Name == "truncated-prefix":
		if len(made) != 2 || made[0][:names.MaxPrefixLength] != made[1][:names.MaxPrefixLength] {
			t.Errorf("made %q", made)
		}
	case rule.Name == "reference-by-prefix":
		named := objects[0].DeepCopy()
		named.SetGenerateName("")
		named.SetName(objects[0].GetGenerateName())
		if _, err := s.create(t.Context(), named); !apierrors.IsInvalid(err) {
			t.Errorf("something can be called %s: %v", named.GetName(), err)
		}
	case rule.Name == "child-names" && objects[0].GetKind() == "StatefulSet": // the server refuses the Pods
		if len(refusals) > 0 {
			t.Errorf("refused: %v", refusals)
		}
	case len(refusals) != 1 || !refersToName(refusals[0]):
		t.Errorf("not refused for its name: %v", refusals)
	}
}

// refersToName reports whether a server refused an object for its name.
func refersToName(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool {
		return c.Field == "metadata.name" || c.Field == "metadata.generateName"
	})
}

// compareTypes sends objects without content of every resource type, under prefixes that some types refuse. The server
// reports all errors of an object, and therefore also whether its name is invalid.
func (s *server) compareTypes(t *testing.T) {
	decided := 0
	for kind, resource := range s.resources {
		if kind.Group == "authorization.k8s.io" || kind.Group == "authentication.k8s.io" || strings.Contains(resource.Name, "/") {
			continue // the server responds and stores nothing
		}
		for _, prefix := range []string{"ok-", "Upper-", "under_score-", "dot.ted-", "1st-", "colon:s-", "dot.-"} {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(kind)
			object.SetGenerateName(prefix)
			_, err := s.create(t.Context(), object)
			if err != nil && !apierrors.IsInvalid(err) {
				t.Logf("%s: %v", kind, err)
				continue
			}
			decided++
			if refused := refusedByRules(object); refused != refersToName(err) {
				t.Errorf("%s %s: the rules say refused: %v; the server: %v", kind, prefix, refused, err)
			}
		}
	}
	if t.Logf("%d responses for %d types", decided, len(s.resources)); decided < 300 {
		t.Errorf("only %d responses depend on the name", decided)
	}
}

// refusedByRules reports whether the rules about names predict a refusal of an object.
func refusedByRules(object *unstructured.Unstructured) bool {
	m := rules.NewManifest(&manifest.Object{Unstructured: object}, "", rules.Tree{})
	var facts rules.Facts
	facts.Add(m)
	in := rules.NewInput(serverMinor, facts)
	for _, name := range []string{"invalid-name", "fixed-name"} {
		rule, _ := rules.Named(name)
		found := append(rule.Check(serverMinor, m), rule.Compare(in)...)
		if slices.ContainsFunc(found, func(f rules.Finding) bool { return f.Level == v1alpha1.LintError }) {
			return true
		}
	}
	return false
}

// docs/reference/derived-names.md has exactly the rows of the table that the rule uses. "make -f lab/Makefile controllers" writes the
// tables from the observed names of real controllers.
func TestDerivedNames(t *testing.T) {
	page := harness.Read(t, harness.Root+"docs/reference/derived-names.md")
	rows := strings.Count(page, "\n| ") - strings.Count(page, "\n| owner |")
	if rows != len(derived.Table) {
		t.Errorf("%d rows, and %d in the table", rows, len(derived.Table))
	}
	for _, row := range derived.Table {
		if want := row.Cells() + " "; !strings.Contains(page, "\n"+want) || !strings.Contains(page, row.Source) {
			t.Errorf("the page has not %q from %s", want, row.Source)
		}
	}
}

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// chancePrefixes nest, share their first 58 bytes, and have the maximum length.
var chancePrefixes = []string{
	"a-", "a-b", "a-bbbbb", "run-", "run-bb-", "z",
	strings.Repeat("l", 57) + "-", strings.Repeat("l", 58) + "-one-", strings.Repeat("l", 58) + "-two-", strings.Repeat("l", 57) + "bbbbbb",
}

// chanceObject draws an object with a generated name, or with a fixed name that looks generated or
// not. Some objects have a generateName whose prefix their name lacks.
func chanceObject(r *rand.Rand, kind schema.GroupVersionKind, namespace string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace(namespace)
	prefix := chancePrefixes[r.IntN(len(chancePrefixes))]
	named := func(alphabet string) string {
		name := prefix[:min(58, len(prefix))]
		for range 5 {
			name += string(alphabet[r.IntN(len(alphabet))])
		}
		return name
	}
	switch r.IntN(6) {
	case 0, 1, 2:
		o.SetGenerateName(prefix)
	case 3:
		o.SetName(named("bcdfghjklmnpqrstvwxz2456789"))
	case 4:
		o.SetName(named("aeiou013"))
	case 5:
		o.SetName(named("bcdf"))
		o.SetGenerateName(chancePrefixes[r.IntN(len(chancePrefixes))])
	}
	if r.IntN(5) == 0 {
		o.SetFinalizers([]string{"e2e.test/hold"})
	}
	return o
}

// chanceType is a resource type with random objects.
type chanceType struct {
	schema.GroupVersionResource
	kind string
}

// fill creates n random objects, and deletes those with finalizers, which remain.
func (c chanceType) fill(t *testing.T, r *rand.Rand, namespaces []string, n int) {
	t.Helper()
	client, err := dynamic.NewForConfig(retrying.Admin())
	if err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	group.SetLimit(8)
	for range n {
		o := chanceObject(r, c.GroupVersion().WithKind(c.kind), namespaces[r.IntN(len(namespaces))])
		group.Go(func() error {
			objects := client.Resource(c.GroupVersionResource).Namespace(o.GetNamespace())
			made, err := objects.Create(t.Context(), o, metav1.CreateOptions{})
			switch {
			case apierrors.IsAlreadyExists(err): // the same name was drawn twice
				return nil
			case err != nil || len(made.GetFinalizers()) == 0:
				return err
			}
			return objects.Delete(t.Context(), made.GetName(), metav1.DeleteOptions{})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// For any objects, an audit finds the same counts as an independent count. It audits one namespace and
// all, with pages of any size, and as a user with few permissions.
func TestAuditOfChance(t *testing.T) {
	r := rand.New(rand.NewPCG(harness.Seed(t), 0))
	gadgets := customResource(t, retrying, "gadgets")
	types := []chanceType{
		{configMapResource, "ConfigMap"},
		{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "Secret"},
		{gadgets, "Kind-of-gadgets"},
	}
	for round := range 3 {
		namespaces := []string{harness.Namespace(t, retrying), harness.Namespace(t, retrying)}
		want := []counted{}
		for _, c := range types {
			c.fill(t, r, namespaces, 20+r.IntN(80))
			for _, ns := range namespaces {
				want = append(want, count(t, retrying, c.GroupVersionResource, ns)...)
			}
		}
		chunk := fmt.Sprintf("--chunk-size=%d", 1+r.IntN(120))
		admin := harness.As(t, retrying.Admin())
		_, all := audit(t, admin, "-A", "--min-count=0", chunk)
		all = slices.DeleteFunc(all, func(c counted) bool { return !slices.Contains(namespaces, c.Namespace) })
		compare(t, fmt.Sprintf("round %d, all namespaces, %s", round, chunk), want, all)

		ns := namespaces[0]
		elsewhere := func(c counted) bool { return c.Namespace != ns }
		_, here := audit(t, admin, "configmaps,gadgets,secrets", "-n", ns, "--min-count=0", chunk)
		here2 := slices.DeleteFunc(slices.Clone(want), elsewhere)
		compare(t, fmt.Sprintf("round %d, one namespace, %s", round, chunk), here2, here)

		name := "few-" + ns
		harness.Grant(t, retrying, ns, name, []string{"list"}, "configmaps", "gadgets")
		few := slices.DeleteFunc(slices.Clone(here2), func(c counted) bool { return c.Resource == "secrets" })
		compareFew(t, harness.As(t, retrying.User(name)), ns, few)
	}
}

func compare(t *testing.T, what string, want, got []counted) {
	t.Helper()
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("%s: the audit differs from the count (-count +audit):\n%s", what, diff)
	}
}

// compareFew audits as a user who can't list everything. The counts of the other types are right, and
// the report names the rest.
func compareFew(t *testing.T, u harness.User, ns string, want []counted) {
	t.Helper()
	var report v1alpha1.AuditReport
	harness.Eventually(t, func() error { // new permissions take a moment
		r := u.Run("audit", "-n", ns, "-o", "json", "--min-count=0")
		report = v1alpha1.AuditReport{}
		if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
			return fmt.Errorf("%+v", r)
		}
		if report.Summary.ResourceTypes < 2 {
			return fmt.Errorf("%d types are counted", report.Summary.ResourceTypes)
		}
		return nil
	})
	got := []counted{}
	for _, i := range report.Items {
		if i.Naming == v1alpha1.NamingStem {
			continue
		}
		got = append(got, counted{i.Resource, i.Namespace, i.Prefix, i.Names, i.Generated, i.RawPrefixes})
	}
	compare(t, "few permissions", want, got)
	forbidden := func(s v1alpha1.Skipped) bool { return s.Resource == "secrets" && s.Reason == "forbidden" }
	if !slices.ContainsFunc(report.Skipped, forbidden) || !report.Complete {
		t.Errorf("secrets are not skipped, or the report is not whole: %v, %+v", report.Complete, report.Skipped)
	}
}

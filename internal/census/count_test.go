package census

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

var configMaps = Resource{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, "ConfigMap", true}

// countOf counts the ConfigMaps of server a. It fails the test if the scan skipped anything.
func countOf(t testing.TB, a *fakeapi.Server, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	pools, summary := countWithFaults(t, a, s)
	if len(summary.Skipped) > 0 {
		t.Fatalf("skipped: %+v", summary.Skipped)
	}
	return pools, summary
}

func countWithFaults(t testing.TB, a *fakeapi.Server, s *Scanner) ([]pools.Pool, Summary) {
	t.Helper()
	if s.Config == nil {
		s.Config = a.Start(t)
	}
	return count(t, s, "", configMaps)
}

// count returns the sorted name pools that s counts.
func count(t require, s *Scanner, namespace string, resources ...Resource) ([]pools.Pool, Summary) {
	counts, summary, err := s.Count(t.Context(), resources, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(counts.All()), summary
}

// require is implemented by a test, and by one case of a property test.
type require interface {
	Context() context.Context
	Fatal(args ...any)
}

// naiveCount counts objects without a server, in the order in which etcd stores them.
func naiveCount(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(x, y metav1.ObjectMeta) int { return cmp.Compare(fakeapi.Key(x), fakeapi.Key(y)) })
	return countInOrder(objects, s)
}

// countInOrder counts objects without a server, in the given order. internal/pools tests the counting itself.
func countInOrder(objects []metav1.ObjectMeta, s *Scanner) []pools.Pool {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList"}}
	for _, o := range objects {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	rules := s.rules()
	set := pools.New(configMaps.GroupVersionResource, &rules)
	if _, err := decode.List(bytes.NewReader(censustest.JSON(list)), decode.Options{}, func(o *object.Object) error {
		set.Add(o)
		return nil
	}); err != nil {
		panic(err)
	}
	set.Folds()
	return sorted(set.All())
}

func sorted(all iter.Seq[*pools.Pool]) (sorted []pools.Pool) {
	for pool := range all {
		sorted = append(sorted, *pool)
	}
	slices.SortFunc(sorted, func(a, b pools.Pool) int { return a.Compare(b.Key) })
	return sorted
}

var testSince = []time.Time{time.Unix(1_700_000_050, 0), time.Unix(1_700_000_200, 0)}

package namepools

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

func TestStorageOrderIsThatOfKeys(t *testing.T) {
	part := rapid.StringMatching(`[a-c./-]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		namespace1 := rapid.StringMatching(`[ab0-]{1,3}`).Draw(t, "namespace 1")
		namespace2 := rapid.StringMatching(`[ab0-]{1,3}`).Draw(t, "namespace 2")
		name1, name2 := part.Draw(t, "name 1"), part.Draw(t, "name 2")
		want := strings.Compare(namespace1+"/"+name1, namespace2+"/"+name2)
		if got := StorageOrder(namespace1, name1, namespace2, name2); got != want {
			t.Errorf("%s/%s and %s/%s: %d, want %d", namespace1, name1, namespace2, name2, got, want)
		}
	})
}

// counted has the name pools that were emitted, in order.
type counted []censustest.NamePool

func (c *counted) emit(id ID, t *Tally) {
	*c = append(*c, censustest.NamePool{
		Namespace: id.Namespace, Prefix: id.Prefix, SuffixLength: id.SuffixLength,
		Names: t.Names, Generated: t.Generated, Recent: t.Recent, RawPrefixes: t.RawPrefixes(),
		Oldest: time.Unix(t.Oldest, 0).UTC(), Newest: time.Unix(t.Newest, 0).UTC(),
	})
}

func (c *counted) sorted() []censustest.NamePool {
	slices.SortFunc(*c, func(a, b censustest.NamePool) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Prefix, b.Prefix))
	})
	return *c
}

// objectsOf converts objects to their decoded form.
func objectsOf(metas []metav1.ObjectMeta) (objects []*decode.Object) {
	for _, m := range metas {
		objects = append(objects, &decode.Object{
			Namespace: m.Namespace, Name: m.Name, GenerateName: m.GenerateName, Created: m.CreationTimestamp.Unix(),
		})
	}
	return objects
}

// sweepAll walks as often as the sweep needs. It returns the number of walks and the final count.
func sweepAll(s *Sweep, objects []*decode.Object) (walks int, count Count) {
	for more := true; more; {
		for _, o := range objects {
			_ = s.Add(o)
		}
		walks++
		count, more = s.Finish()
	}
	return walks, count
}

// Stems with a sweep of their strays, and sweeps alone in any order, count the same as the oracle.
func TestStemsAndSweeps(t *testing.T) {
	metas := censustest.Population([]string{"a", "a-b", "b"}, 200)
	metas = append(metas, metav1.ObjectMeta{
		Namespace: "a", Name: "early-bbbbb", GenerateName: "late-", CreationTimestamp: metav1.Unix(1_700_000_000, 0),
	}, metav1.ObjectMeta{
		Namespace: "a", Name: "late-bbbbb", GenerateName: "early-", CreationTimestamp: metav1.Unix(1_700_000_000, 0),
	})
	since := time.Unix(1_700_000_050, 0)
	want := censustest.Oracle{Since: []time.Time{since}}.Count(metas)
	rules := &Rules{Since: []int64{since.Unix()}, AtOnce: 6}
	objects := objectsOf(metas)
	slices.SortFunc(objects, func(a, b *decode.Object) int {
		return StorageOrder(a.Namespace, a.Name, b.Namespace, b.Name)
	})

	var inOrder counted
	stems := NewStems(rules, inOrder.emit)
	for _, o := range objects {
		if err := stems.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if !stems.Finish() {
		t.Error("no strays")
	}
	if walks, count := sweepAll(NewSweepAfter(stems), objects); walks != 1 || count.Uncounted != 0 {
		t.Errorf("%d walks, %+v", walks, count)
	}
	if diff := gocmp.Diff(want, inOrder.sorted()); diff != "" {
		t.Errorf("in order (-want +got)\n%s", diff)
	}

	rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	var shuffled counted
	rules.AtOnce = 2
	if walks, count := sweepAll(NewSweep(rules, shuffled.emit), objects); walks != 1+(len(want)+1)/2 || count.Uncounted != 0 {
		t.Errorf("%d walks for %d spaces, two at once, %+v", walks, len(want), count)
	}
	if diff := gocmp.Diff(want, shuffled.sorted()); diff != "" {
		t.Errorf("shuffled (-want +got)\n%s", diff)
	}
}

func TestStemsNeedOrder(t *testing.T) {
	stems := NewStems(&Rules{AtOnce: 1}, func(ID, *Tally) {})
	err := errors.Join(stems.Add(&decode.Object{Name: "b"}), stems.Add(&decode.Object{Name: "b"}))
	if err != nil {
		t.Error(err)
	}
	if err := stems.Add(&decode.Object{Name: "a"}); !errors.Is(err, ErrUnsorted) {
		t.Error(err)
	}
}

// The shortlist keeps the first IDs, whatever it is offered.
func TestShortlist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offered := rapid.SliceOf(rapid.StringMatching(`[a-z]{1,2}`)).Draw(t, "offered")
		l := shortlist{limit: rapid.IntRange(1, 5).Draw(t, "limit")}
		for _, prefix := range offered {
			l.offer(ID{Prefix: prefix})
		}
		slices.Sort(offered)
		offered = slices.Compact(offered)
		got := l.first()
		if len(got) != min(len(offered), l.limit) {
			t.Fatalf("%v of %v", got, offered)
		}
		for i, id := range got {
			if id.Prefix != offered[i] {
				t.Fatalf("%v of %v", got, offered)
			}
		}
	})
}

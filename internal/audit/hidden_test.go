package audit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// What is kept of the places grows with none of what they may be many of, and
// what is said of them is true: of where the most is, if one place stands out.
func TestHiddenInManyPlaces(t *testing.T) {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var lists [2]hidden
		truth := map[place]int64{}
		var all v1alpha1.AuditHidden
		add := func(namespace int, names int64) {
			at := place{configMaps, fmt.Sprintf("tenant-%d", namespace)}
			lists[random.IntN(2)].add(at, 1, names)
			truth[at] += names
			all.Prefixes++
			all.Names += names
		}
		places := 1 + random.IntN(10*maxPlaces)
		great := random.Int64N(20 * int64(places)) // in the first place, beside what the others have
		for i := range places {
			add(i, 1+random.Int64N(50))
			add(random.IntN(places), 1+random.Int64N(50))
			add(0, great/int64(places))
		}
		h := lists[0]
		h.merge(&lists[1])
		if h.all != all {
			t.Fatalf("seed %d: %+v, want %+v", seed, h.all, all)
		}
		if len(h.places) >= 2*maxPlaces {
			t.Fatalf("seed %d: %d places are kept", seed, len(h.places))
		}
		most := h.most()
		if most == (Hidden{}) {
			if truth[place{configMaps, "tenant-0"}] > all.Names/100 {
				t.Errorf("seed %d: the place with %d of %d names is not found", seed, truth[place{configMaps, "tenant-0"}], all.Names)
			}
			continue
		}
		names := truth[place{most.Resource, most.Namespace}]
		if most.Names > names || most.Exact && most.Names != names {
			t.Errorf("seed %d: %+v, but it has %d", seed, most, names)
		}
		for at, n := range truth {
			if n > names {
				t.Errorf("seed %d: %+v is the most, but %s has %d", seed, most, at.namespace, n)
			}
		}
		if few := places < 2*maxPlaces; few && !most.Exact {
			t.Errorf("seed %d: %d places, and not exact", seed, places)
		}
	}
}

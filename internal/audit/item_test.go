package audit

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// recent returns the creates of the last ten minutes and 24 hours.
func recent(counts ...int64) (r [pools.Spans]int64) {
	copy(r[:], counts)
	return r
}

// itemOf returns the item of a name pool where a server tries eight names.
func itemOf(t *testing.T, s pools.Pool) v1alpha1.AuditItem {
	t.Helper()
	return finish(t, building(Config{}, s)).Report.Items[0]
}

// The wanted numbers were computed outside this project as (k/N)^t, in Python with mpmath.
func TestItem(t *testing.T) {
	s := pool("p-", 5_000_000)
	s.Recent = recent(0, 500_000)
	item := itemOf(t, s)
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"next create, no retry", item.NextCreate.NoRetry, 0.3484585968812816},
		{"next create, server retry", *item.NextCreate.ServerRetry, 2.1737493659e-4},
		{"room's probability", item.Room.Probability, 0.001},
	} {
		if math.Abs(test.got-test.want) > 1e-6*test.want {
			t.Errorf("%s is %.9g, want %.9g", test.name, test.got, test.want)
		}
	}
	// Each create fails with 2.17e-4. The sum of four creates is below 0.1%, and the sum of five is above.
	if *item.Room.ServerRetry != 4 || *item.Room.NoRetry != 0 {
		t.Errorf("room %d, %d, want 4, 0", *item.Room.ServerRetry, *item.Room.NoRetry)
	}
	if item.Oldest != nil || item.Newest != nil || item.Creators != nil || item.Growth != nil {
		t.Errorf("something is known of nothing: %+v", item)
	}
	if diff := cmp.Diff([]string{"fails within an hour", "strains etcd"}, item.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// A client that generates its names makes one attempt, regardless of the server.
func TestItemNamedByClients(t *testing.T) {
	s := pool("p-", 1000)
	s.ClientGenerated = true
	if item := itemOf(t, s); *item.Attempts != 1 || item.AttemptsSource != v1alpha1.SourceDefault ||
		NextFails(item) != item.NextCreate.NoRetry || !item.ClientGenerated {
		t.Errorf("%d attempts by %s, client-generated %t, chance %g, want 1 by default, true and %g", *item.Attempts, item.AttemptsSource, item.ClientGenerated, NextFails(item), item.NextCreate.NoRetry)
	}
}

// If our create command is the only observed creator, the number of attempts is that of
// our command.
func TestItemCreatedByThePlugin(t *testing.T) {
	s := pool("p-", 1000)
	for creators, want := range map[int]int{1: 16, 2: 8} {
		s.Creator, s.HasCreationID, s.Creators = object.Creator{Manager: "kubectl-create", Certain: true}, true, creators
		if item := itemOf(t, s); *item.Attempts != want {
			t.Errorf("%d creators: %d attempts, want %d", creators, *item.Attempts, want)
		}
	}
}

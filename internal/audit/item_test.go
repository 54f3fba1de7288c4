package audit

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// recent returns the creates in the four windows.
func recent(counts ...int64) (r [census.MaxWindows]int64) {
	copy(r[:], counts)
	return r
}

// itemOf returns the item of a name pool where a server tries so many names; 0 for
// unknown.
func itemOf(t *testing.T, s census.NamePool, attempts int) v1alpha1.AuditItem {
	t.Helper()
	c := collector(Options{})
	c.retriesOf = retries(attempts)
	item, err := c.item(&row{NamePool: s})
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// The numbers were computed apart from this project, in Python with mpmath: (k/N)^t,
// the Garwood intervals of 500,000 events, the sums of (k/N)^t and of survivals.
func TestItem(t *testing.T) {
	s := pool("p-", 5_000_000)
	s.Recent = recent(0, 20_000, 500_000, 3_500_000)
	item := itemOf(t, s, 8)
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"next create, no retry", item.NextCreate.NoRetry, 0.3484585968812816},
		{"next create, server retry", *item.NextCreate.ServerRetry, 2.1737493659e-4},
		{"creates per day", item.Creates.PerDay, 500_000},
		{"creates per day, lower", item.Creates.PerDayLower, 498_615.04},
		{"creates per day, upper", item.Creates.PerDayUpper, 501_387.85},
		{"creates per day, least of a week", item.Creates.Windows[3].PerDayLower, 3_495_809.4 / 7},
		{"forecast, steady", *item.Forecast.Steady.ServerRetry, 30 * 3_495_809.4 / 7 * 2.1737493659e-4},
		{"first failure, steady", *item.FirstFailure.SteadyDays, 7 / 3_495_809.4 / 2.1737493659e-4},
		{"room's probability", item.Room.Probability, 0.001},
		{"forecast's days", item.Forecast.Days, 30},
	} {
		if math.Abs(test.got-test.want) > 1e-6*test.want {
			t.Errorf("%s is %.9g, want %.9g", test.name, test.got, test.want)
		}
	}
	if item.Creates.LeastPerDay() != item.Creates.Windows[3].PerDayLower {
		t.Errorf("the rate is not the greatest of %+v", item.Creates.Windows)
	}
	if first := item.FirstFailure; !(*first.GrowingDays > 0 && *first.GrowingDays < *first.SteadyDays) {
		t.Errorf("the first failure in %v to %v days", *first.GrowingDays, *first.SteadyDays)
	}
	// Four creates at 2.17e-4 each are below 0.1%, five above.
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

// A prefix without observed creates never fails, and its forecast is null.
func TestItemWithoutCreates(t *testing.T) {
	s := pool("p-", 5_000_000)
	s.Recent = recent()
	item := itemOf(t, s, 8)
	if first := item.FirstFailure; first.GrowingDays != nil || first.SteadyDays != nil || item.Creates.LeastPerDay() != 0 {
		t.Errorf("%+v, %+v", first, item.Creates)
	}
}

// If the attempts are unknown, the values that depend on them are null. The first failure
// is between that without retries and that with kube-apiserver's retries.
func TestItemWithUnknownRetries(t *testing.T) {
	s := pool("p-", 100_000)
	s.Resource = resource("example.dev", "widgets")
	c := collector(Options{})
	c.retriesOf = ofItsOwn(8)
	item, err := c.item(&row{NamePool: s})
	if err != nil {
		t.Fatal(err)
	}
	if item.NextCreate.ServerRetry != nil || item.Room.ServerRetry != nil ||
		item.Forecast.Steady.ServerRetry != nil || item.Forecast.NothingDeleted.ServerRetry != nil {
		t.Errorf("something unknown has a value: %+v", item)
	}
	if NextFails(item) != item.NextCreate.NoRetry {
		t.Errorf("unknown attempts count as one, but the chance is %g", NextFails(item))
	}
	none, all := itemOf(t, s, 1), itemOf(t, s, 8)
	want := &v1alpha1.AuditFirstFailure{GrowingDays: none.FirstFailure.GrowingDays, SteadyDays: all.FirstFailure.SteadyDays}
	if diff := cmp.Diff(want, item.FirstFailure); diff != "" {
		t.Errorf("first failure (-want +got):\n%s", diff)
	}
}

// A client that generates its names makes one attempt, regardless of the server. A client
// with longer suffixes has a larger name pool.
func TestItemNamedByClients(t *testing.T) {
	s := pool("p-", 1000)
	s.ClientGenerated = true
	if item := itemOf(t, s, 8); *item.Attempts != 1 || item.AttemptsSource != v1alpha1.SourceDefault ||
		NextFails(item) != item.NextCreate.NoRetry || !item.ClientGenerated || item.SuffixLength != 0 {
		t.Errorf("%+v", item)
	}
	s = pool("p-", 1000)
	s.SuffixLength = 8
	item := itemOf(t, s, 8)
	if want := 1000 / math.Pow(27, 8); *item.Attempts != 16 || item.SuffixLength != 8 ||
		math.Abs(item.NextCreate.NoRetry/want-1) > 1e-12 {
		t.Errorf("%+v, want a chance of %g", item, want)
	}
}

// If our create command is the only observed creator, the number of attempts is that of
// our command.
func TestItemCreatedByThePlugin(t *testing.T) {
	s := pool("p-", 1000)
	for creators, want := range map[int]int{1: 16, 2: 8} {
		s.Creator, s.Creators = census.Creator{Manager: "kubectl-create", Certain: true, HasCreationID: true}, creators
		if item := itemOf(t, s, 8); *item.Attempts != want {
			t.Errorf("%d creators: %d attempts, want %d", creators, *item.Attempts, want)
		}
	}
}

// The newest object shows the creator: its controller, or a manager, which may be a
// guess.
func TestCreatedBy(t *testing.T) {
	for _, test := range []struct {
		creator census.Creator
		want    []v1alpha1.Creator
	}{
		{census.Creator{}, nil},
		{census.Creator{Kind: "PipelineRun", Name: "x"}, []v1alpha1.Creator{{Kind: "PipelineRun", Name: "x"}}},
		{census.Creator{Manager: "argo", Certain: true}, []v1alpha1.Creator{{Manager: "argo"}}},
		{census.Creator{Manager: "argo"}, []v1alpha1.Creator{{Manager: "argo", Guess: true}}},
	} {
		s := pool("p-", 10)
		s.Creator, s.Creators = test.creator, 3
		if item := itemOf(t, s, 8); cmp.Diff(test.want, item.Creators) != "" || item.CreatorCount != 3 {
			t.Errorf("%+v: %+v, %d creators", test.creator, item.Creators, item.CreatorCount)
		}
	}
}

// The rate is the greatest that any window excludes to be less.
func TestRate(t *testing.T) {
	for _, test := range []struct {
		name    string
		windows []time.Duration
		seen    [census.MaxWindows]int64
		perDay  float64
	}{
		{"10,000 a day that live five minutes", Windows, recent(35, 35, 35, 35), 3326},
		{"an hour at 10,000", Windows, recent(1667, 10_000, 10_000, 10_000), 234_653},
		{"100 a day", Windows, recent(1, 4, 100, 700), 91.7},
		{"nothing", Windows, recent(), 0},
		{"a week", []time.Duration{7 * day}, recent(35), 23.098 / 7},
		{"ten minutes", []time.Duration{10 * time.Minute}, recent(35), 3326},
	} {
		e := estimator{windows: test.windows}
		got, err := e.creates(test.seen)
		if err != nil || math.Abs(got.LeastPerDay()-test.perDay) > 0.001*test.perDay {
			t.Errorf("%s: %+v a day, %v", test.name, got.Windows, err)
		}
	}
}

// The help and the README say of the chance 0.1% how many names it means.
func TestNamesOfTheUsualGate(t *testing.T) {
	for _, test := range []struct {
		attempts    int
		below, over int64
	}{{8, 6_000_000, 6_100_000}, {1, 14_000, 14_400}} {
		model, err := modelOf(pool("p-", 1), test.attempts)
		if err != nil {
			t.Fatal(err)
		}
		below, over := model.NextFails(test.below), model.NextFails(test.over)
		if below > 0.001 || over < 0.001 {
			t.Errorf("%d attempts: %g at %d names, %g at %d", test.attempts, below, test.below, over, test.over)
		}
	}
}

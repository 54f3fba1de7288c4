package audit

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func newEstimator() *estimator {
	return &estimator{window: 24 * time.Hour, forecast: 30 * 24 * time.Hour}
}

// The numbers were computed apart from this project, in Python: (k/N)^t, the
// Garwood interval of 500,000 events, and 30·500,000·(k/N)^t conflicts.
func TestItem(t *testing.T) {
	r, note := retries(8)(schema.GroupVersion{})
	item, err := newEstimator().item(space("p-", 5_000_000), r, note)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"next create, no retry", item.NextCreate.NoRetry, 0.3484585968812816},
		{"next create, server retry", *item.NextCreate.ServerRetry, 2.1737493659e-4},
		{"creates per day", item.Creates.PerDay, 500_000},
		{"creates per day, lower", item.Creates.PerDayLower, 498_615.04},
		{"creates per day, upper", item.Creates.PerDayUpper, 501_387.85},
		{"forecast, steady", *item.Forecast.Steady.ServerRetry, 15_000_000 * 2.1737493659e-4},
		{"headroom's probability", item.Headroom.Probability, 0.001},
		{"forecast's days", item.Forecast.Days, 30},
	} {
		if math.Abs(test.got-test.want) > 1e-6*test.want {
			t.Errorf("%s is %.9g, want %.9g", test.name, test.got, test.want)
		}
	}
	// Four creates at 2.17e-4 each are below 0.1 %, five above.
	if *item.Headroom.ServerRetry != 4 || *item.Headroom.NoRetry != 0 {
		t.Errorf("headroom %d, %d, want 4, 0", *item.Headroom.ServerRetry, *item.Headroom.NoRetry)
	}
	if item.Oldest != nil || item.Newest != nil || len(item.Notes) != 0 {
		t.Errorf("oldest %v, newest %v, notes %v", item.Oldest, item.Newest, item.Notes)
	}
}

func TestItemWithUnknownRetries(t *testing.T) {
	r, note := retries(0)(schema.GroupVersion{})
	item, err := newEstimator().item(space("p-", 1000), r, note)
	if err != nil {
		t.Fatal(err)
	}
	if item.NextCreate.ServerRetry != nil || item.Headroom.ServerRetry != nil ||
		item.Forecast.Steady.ServerRetry != nil || item.Forecast.NothingDeleted.ServerRetry != nil {
		t.Errorf("something unknown has a value: %+v", item)
	}
	if Risk(item) != item.NextCreate.NoRetry {
		t.Errorf("unknown attempts count as one, but the risk is %g", Risk(item))
	}
}

// The help and the README say of the chance 0.1 % how many names it means.
func TestNamesOfTheUsualGate(t *testing.T) {
	for _, test := range []struct {
		tries       int
		below, over int64
	}{{8, 6_000_000, 6_100_000}, {1, 14_000, 14_400}} {
		model, err := modelOf(test.tries)
		if err != nil {
			t.Fatal(err)
		}
		below, over := model.NextFails(test.below), model.NextFails(test.over)
		if below > 0.001 || over < 0.001 {
			t.Errorf("%d tries: %g at %d names, %g at %d", test.tries, below, test.below, over, test.over)
		}
	}
}

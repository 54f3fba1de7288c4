package audit

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var watchBegan = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// seen is a name pool that was followed for two hours, with the same creates and deletes
// a day in all windows.
func seen(prefix string, names int64, creates, deletes float64) pools.Row {
	row := pools.Row{
		Pool: pool(prefix, names), Followed: true, Since: watchBegan, At: watchBegan.Add(2 * time.Hour),
		Creates: int64(creates / 12), Deletes: int64(deletes / 12),
	}
	for i := range row.Weighed {
		row.Weighed[i].Creates, row.Weighed[i].Deletes = inTwoHours(i, creates), inTwoHours(i, deletes)
	}
	return row
}

// inTwoHours returns the sum of the weights of events after two hours with a rate per day.
func inTwoHours(window int, rate float64) float64 {
	return rate * pools.Days(pools.Windows[window], 7200)
}

// watched is the input of a watch.
func watched(config Config, rows ...pools.Row) *build {
	config.Watched = true
	b := building(config)
	b.config.Began, b.rows = watchBegan, rows
	return b
}

func watchedReport(t *testing.T, rows ...pools.Row) *v1alpha1.AuditReport {
	t.Helper()
	result, err := watched(Config{MinCount: 10, Order: ByRate}, rows...).report(Counted{
		Ended: watchBegan.Add(2 * time.Hour), Types: []census.Resource{resource("batch", "jobs")},
		Summary: census.Summary{Objects: 77},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// The row that grows fastest comes first, and a watch has no verdict.
func TestWatched(t *testing.T) {
	still := seen("still-", 50_000, 0, 0)
	unfollowed := pools.Row{Pool: pool("other-", 20)}
	// Prefixes with many creates and deletes are shown, even if few names are left.
	passed := []pools.Row{seen("gone-", 0, 4800, 4800), seen("going-", 3, 2400, 2376), seen("never-", 0, 0, 0)}
	report := watchedReport(t, append(passed, still, seen("run-", 40_000, 1_200_000, 600_000), unfollowed, seen("few-", 9, 5, 5))...)
	var order []string
	for _, i := range report.Items {
		order = append(order, i.Prefix)
	}
	if !slices.Equal(order, []string{"run-", "going-", "still-", "other-", "gone-"}) || report.Hidden.Prefixes != 1 || report.Hidden.Names != 9 ||
		report.Summary.Objects != 77 || !report.Complete {
		t.Errorf("order %q, %d prefixes and %d names hidden, %d objects, complete %t, want run- going- still- other- gone-, 1, 9, 77 and true", order, report.Hidden.Prefixes, report.Hidden.Names, report.Summary.Objects, report.Complete)
	}
	if item := report.Items[0]; report.Verdict != nil || item.Last10m != nil || item.Last24h != nil || item.FailsInDays != nil {
		t.Errorf("counted when the watch began: %+v", item)
	}
	m := report.Items[0].Measured
	if m.Creates != 100_000 || m.Deletes != 50_000 || m.Seconds != 7200 || math.Abs(*m.RatePerDay-600_000) > 1e-6 {
		t.Errorf("%d creates, %d deletes, %v seconds, %v per day, want 100000, 50000, 7200 and 600000", m.Creates, m.Deletes, m.Seconds, *m.RatePerDay)
	}
	if report.Items[3].Measured != nil {
		t.Error("measured without being followed")
	}
}

// A watch folds small prefixes, as an audit does. The fold's rate includes the first create of each new
// prefix, and prefixes that are now empty.
func TestWatchedFolds(t *testing.T) {
	at := watchBegan.Add(10 * time.Minute)
	var rows []pools.Row
	for i := range 60 { // a Job with one Pod each ten seconds; the Pods of the first half are deleted
		r := pools.Row{
			Followed: true, Began: watchBegan, Since: watchBegan.Add(time.Duration(10*i+5) * time.Second), At: at, Creates: 1,
			Pool: pool(fmt.Sprintf("job-%d-", i), 1),
		}
		if r.Pool.OwnerKind, r.Pool.Owners = "Job", []uint64{uint64(i)}; i < 30 {
			r.Pool.Names, r.Deletes = 0, 1
		}
		rows = append(rows, r)
	}
	report := watchedReport(t, rows...)
	if len(report.Folded) != 1 || report.Hidden.Prefixes != 0 {
		t.Fatalf("%d folds and %d hidden prefixes, want 1 and 0", len(report.Folded), report.Hidden.Prefixes)
	}
	f := report.Folded[0]
	if f.Names != 30 || f.Measured.Creates != 60 || f.Measured.Deletes != 30 || f.Last10m != nil {
		t.Errorf("%d names, %d creates, %d deletes, last10m %v, want 30, 60, 30 and none", f.Names, f.Measured.Creates, f.Measured.Deletes, f.Last10m)
	}
	if rate := *f.Measured.RatePerDay; rate < 8000 || rate > 9500 { // 6 a minute are 8,640 a day
		t.Errorf("%v a day", rate)
	}
}

// A prefix of an earlier audit is gone if it has no names left. The report still shows the prefix if it had
// many creates since then.
func TestWatchedGone(t *testing.T) {
	row := seen("gone-", 0, 4800, 4800)
	result, err := watched(Config{Old: saved(nil), MinCount: 10}, row).report(Counted{Types: []census.Resource{resource("batch", "jobs")}})
	if err != nil {
		t.Fatal(err)
	}
	gone := result.Report.Gone
	if len(result.Report.Items) != 1 || !slices.ContainsFunc(gone, func(g v1alpha1.AuditGone) bool { return g.Prefix == "gone-" }) {
		t.Errorf("%+v, gone: %+v", result.Report.Items, gone)
	}
}

// A gate, and an audit to compare with, have to know prefixes that the report hides.
func TestCountsFrom(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	f := func(x float64) *float64 { return &x }
	for name, test := range map[string]struct {
		config Config
		want   int64
	}{
		"no gate":                  {Config{MinCount: 10}, 10},
		"all":                      {Config{}, 1},
		"more than are hidden":     {Config{MinCount: 10, FailAboveCount: n(100)}, 10},
		"fewer than are hidden":    {Config{MinCount: 10, FailAboveCount: n(4)}, 5},
		"any":                      {Config{MinCount: 10, FailAboveCount: n(0)}, 1},
		"a chance that takes more": {Config{MinCount: 10, FailAbove: f(0.001)}, 10},
		"one that takes fewer":     {Config{MinCount: 10, FailAbove: f(4e-7)}, 5}, // six names exceed the gate
		"any chance":               {Config{MinCount: 10, FailAbove: f(0)}, 1},
		"growth":                   {Config{MinCount: 10, FailAboveGrowth: f(1000)}, 1},
		"compared":                 {Config{MinCount: 10, Old: saved(nil)}, 1},
		"a prefix that was named":  {Config{MinCount: 10, Prefixes: []string{"p-"}}, 1},
	} {
		if got := test.config.CountsFrom(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// Objects in no row of a prefix get a row if enough of them were created during the watch. Otherwise the
// report has only their number. A prefix that had enough names keeps its row while it has objects.
func TestRowsOfAWatch(t *testing.T) {
	rising, still, shrunk, gone := seen("", 700, 600*12, 0), seen("", 5000, 9*12, 0), seen("shrunk-", 1, 0, 8*12), seen("gone-", 0, 0, 8*12)
	rising.Pool.Key = pools.Key{GroupResource: rising.Pool.GroupResource, Naming: object.Fixed}
	still.Pool.Key = pools.Key{GroupResource: schema.GroupResource{Resource: "secrets"}, Naming: object.Fixed}
	shrunk.Peak, gone.Peak = 25, 25
	result, err := watched(Config{MinCount: 10, MinStem: 20, Order: ByRate}, shrunk, gone).report(Counted{
		Ended: watchBegan.Add(2 * time.Hour), Types: []census.Resource{resource("batch", "jobs")}, Others: []pools.Row{rising, still},
	})
	if err != nil {
		t.Fatal(err)
	}
	report := result.Report
	if len(report.Items) != 1 || report.Items[0].Prefix != "shrunk-" {
		t.Errorf("rows %+v, want one of shrunk-", report.Items)
	}
	if len(report.Folded) != 1 || report.Folded[0].Names != 700 || report.Folded[0].Measured.Creates != 600 {
		t.Errorf("folded %+v, want 700 names and 600 creates", report.Folded)
	}
	if want := []v1alpha1.TypeObjects{{Resource: "secrets", Objects: 5000}}; !slices.Equal(report.ByNumber, want) {
		t.Errorf("by number %+v, want %+v", report.ByNumber, want)
	}
}

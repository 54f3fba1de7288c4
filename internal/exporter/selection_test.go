package exporter

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

var (
	jobs = census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Namespaced: true,
	}
	began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

// fakeEngine is a source whose clock a test sets.
type fakeEngine struct {
	now   time.Time
	rows  map[string]pools.Row // by prefix
	total live.ResourceCount
	skips []census.Skipped
}

func newFakeEngine() *fakeEngine {
	return &fakeEngine{
		now: began.Add(time.Hour), rows: map[string]pools.Row{},
		total: live.ResourceCount{Resource: jobs, Counted: true},
	}
}

// Snapshot implements Source.
func (f *fakeEngine) Snapshot(each func(pools.Row)) live.Snapshot {
	for _, prefix := range slices.Sorted(maps.Keys(f.rows)) {
		row := f.rows[prefix]
		row.At = f.now
		each(row)
	}
	return live.Snapshot{
		At: f.now, Began: began, Summary: census.Summary{Skipped: f.skips}, Watched: 1,
		Types: []census.Resource{f.total.Resource}, Resources: []live.ResourceCount{f.total},
	}
}

// set sets the number of names of a prefix, and the number of creates in the ten-minute window.
func (f *fakeEngine) set(prefix string, names, recent int64) {
	row, ok := f.rows[prefix]
	if !ok {
		row = pools.Row{
			Followed: true, Since: began,
			Pool: pools.Pool{Key: pools.Key{GroupResource: jobs.GroupResource(), Namespace: "ci", Prefix: prefix}},
		}
	}
	f.total.Names += names - row.Pool.Names
	row.Pool.Names = names
	row.Weighed[lately].Creates = float64(recent)
	f.rows[prefix] = row
}

// If each create names another creator, the prefix still has few series.
func TestCreatorOfASeries(t *testing.T) {
	f, s := newFakeEngine(), newSelection(4, 1)
	f.set("run-", 10, 10)
	creators := map[string]bool{}
	for i := range 120 { // two hours of scrapes
		row := f.rows["run-"]
		row.Pool.Creator.Manager = fmt.Sprint("client-", i)
		f.rows["run-"] = row
		rows, _ := s.choose(f)
		creators[rows[0].Pool.Creator.Manager] = true
		f.now = f.now.Add(time.Minute)
	}
	if len(creators) != 2 || !creators["client-0"] || !creators["client-60"] {
		t.Errorf("%d creators: %v", len(creators), creators)
	}
}

// prefixes returns the prefixes of rows.
func prefixes(rows []pools.Row) (all []string) {
	for _, row := range rows {
		all = append(all, row.Pool.Prefix)
	}
	return all
}

// A tenant with many large and busy prefixes leaves half of the series to other tenants, whatever the order of the
// rows. If there are no other tenants, it gets all series.
func TestShareOfANamespace(t *testing.T) {
	for _, first := range []string{"a-", "z-"} {
		f := newFakeEngine()
		for i := range 300 {
			f.set(fmt.Sprintf("m-%03d-", i), 10_000, 1_000)
		}
		s := newSelection(20, 10)
		if rows, _ := s.choose(f); len(rows) != 20 || s.dropped != 280 {
			t.Errorf("alone it has %d series, %d were dropped", len(rows), s.dropped)
		}
		for i := range 12 {
			prefix := fmt.Sprintf("%s%02d-", first, i)
			f.set(prefix, int64(20+i), 0)
			row := f.rows[prefix]
			row.Pool.Namespace = "other"
			f.rows[prefix] = row
		}
		rows, _ := newSelection(20, 10).choose(f)
		var others []string
		for _, row := range rows {
			if row.Pool.Namespace == "other" {
				others = append(others, row.Pool.Prefix)
			}
		}
		if len(rows) != 20 || len(others) != 10 || others[0] != first+"02-" {
			t.Errorf("%s: %d series, of others %q", first, len(rows), others)
		}
	}
}

// A prefix keeps its series for an hour after it has left both lists.
func TestKeepsSeriesForAnHour(t *testing.T) {
	f, s := newFakeEngine(), newSelection(1, 10)
	f.set("small-", 20, 0)
	if rows, _ := s.choose(f); len(rows) != 1 {
		t.Fatal(prefixes(rows))
	}
	f.set("large-", 30, 0)
	for after, want := range map[time.Duration]int{time.Minute: 2, time.Hour: 2} {
		f.now = began.Add(time.Hour + after)
		if rows, _ := s.choose(f); len(rows) != want {
			t.Errorf("after %s %q have series", after, prefixes(rows))
		}
	}
	f.now = began.Add(2*time.Hour + time.Second)
	if rows, _ := s.choose(f); !slices.Equal(prefixes(rows), []string{"large-"}) {
		t.Errorf("after more than an hour %q have series", prefixes(rows))
	}
}

// If too many prefixes have series, the prefixes that left both lists first lose their series.
func TestLeastRecentLeaves(t *testing.T) {
	f, s := newFakeEngine(), newSelection(1, 10)
	for i, want := range []string{"[a-]", "[a- b-]", "[b- c-]"} {
		f.now = f.now.Add(time.Minute)
		f.set(string(rune('a'+i))+"-", int64(20+i), 0)
		if rows, _ := s.choose(f); fmt.Sprint(prefixes(rows)) != want {
			t.Errorf("%q have series, want %s", prefixes(rows), want)
		}
	}
}

// A prefix without series counts as dropped, even if a prefix that has become too small keeps its series.
func TestDropped(t *testing.T) {
	f, s := newFakeEngine(), newSelection(1, 10)
	f.set("shrinks-", 20, 0)
	s.choose(f)
	f.set("shrinks-", 5, 0)
	f.set("large-", 30, 0)
	f.set("dropped-", 25, 0)
	if rows, _ := s.choose(f); fmt.Sprint(prefixes(rows)) != "[large- shrinks-]" || s.dropped != 1 {
		t.Errorf("%q have series, and %d prefixes are dropped, want large-, shrinks- and 1", prefixes(rows), s.dropped)
	}
}

// firsts returns the first prefixes by value, without those whose value is less than 10.
func (f *fakeEngine) firsts(most int, value func(pools.Row) float64) []string {
	var all []string
	for prefix, row := range f.rows {
		row.At = f.now
		if value(row) >= 10 {
			all = append(all, prefix)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		rowA, rowB := f.rows[a], f.rows[b]
		rowA.At, rowB.At = f.now, f.now
		switch d := value(rowB) - value(rowA); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return rowA.Pool.Compare(rowB.Pool.Key)
	})
	return all[:min(most, len(all))]
}

// The first prefixes of both lists always have series. At most 2*top prefixes have series. A prefix outside both lists
// keeps its series for an hour at most. The samples of a type add up to its total.
func TestSelectionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.IntRange(1, 4).Draw(t, "top")
		f, c := newFakeEngine(), New(top, 10)
		c.Follow(f, someOdds, noneLeft)
		last := map[string]time.Time{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			f.now = f.now.Add(time.Duration(rapid.IntRange(1, 2400).Draw(t, "seconds")) * time.Second)
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				prefix := fmt.Sprintf("p%d-", rapid.IntRange(0, 15).Draw(t, "prefix"))
				f.set(prefix, rapid.Int64Range(0, 40).Draw(t, "names"), rapid.Int64Range(0, 40).Draw(t, "recent"))
			}
			got := gather(t, c)
			shown := map[string]bool{}
			var sum float64
			for _, s := range got["genname_prefix_names"] {
				sum += s.value
				if s.labels["prefix"] != other {
					shown[s.labels["prefix"]] = true
				}
			}
			if sum != float64(f.total.Names) {
				t.Fatalf("names add up to %v of %d", sum, f.total.Names)
			}
			if len(shown) > 2*top {
				t.Fatalf("%d prefixes have series, top is %d", len(shown), top)
			}
			names := func(r pools.Row) float64 { return float64(r.Pool.Names) }
			recent := func(r pools.Row) float64 { return r.Weighed[lately].Creates }
			for _, prefix := range append(f.firsts(top, names), f.firsts((top+1)/2, recent)...) {
				if last[prefix] = f.now; !shown[prefix] {
					t.Fatalf("%s is among the first, and has no series: %v", prefix, shown)
				}
			}
			for prefix := range shown {
				if f.now.Sub(last[prefix]) > time.Hour {
					t.Fatalf("%s has series since %s", prefix, last[prefix])
				}
			}
		}
	})
}

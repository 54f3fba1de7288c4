package audit

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// verdictOf returns the verdict on name pools of a server with a number of attempts.
func verdictOf(t *testing.T, config Config, attempts int, pools ...pools.Pool) *v1alpha1.AuditVerdict {
	t.Helper()
	c := building(config, pools...)
	c.retriesOf = retries(attempts)
	return finish(t, c).Report.Verdict
}

// The chance that the next create fails is above 0.1% from 14,349 names on with one attempt, and from
// 6,050,830 names on with eight.
func TestCloseByChance(t *testing.T) {
	eight := int64(27 * 27 * 27 * 27 * 27 * math.Pow(0.001, 0.125))
	for _, test := range []struct {
		attempts int
		names    int64
		close    int64
	}{{1, 14_348, 0}, {1, 14_349, 1}, {8, eight, 0}, {8, eight + 1, 1}, {0, 14_348, 0}, {0, 14_349, 1}} {
		for _, config := range []Config{{}, {MinCount: 1 << 40}, {Top: 1}} { // shown, or hidden
			last := pool("z-", 100)
			v := verdictOf(t, config, test.attempts, rated("p-", test.names, 0), last)
			if v.CloseToFailing != test.close || v.Closest.Prefix != "p-" {
				t.Errorf("%d attempts, %d names, %+v: %d close to failing, %+v", test.attempts, test.names, config, v.CloseToFailing, v.Closest)
			}
		}
	}
}

// A prefix is close to failing if one failure is expected within a year, at the rate of the last 24 hours. With one
// attempt, 15 creates a day are enough.
func TestCloseByGrowth(t *testing.T) {
	for _, test := range []struct{ perDay, close int64 }{{0, 0}, {14, 0}, {15, 1}, {1000, 1}} {
		v := verdictOf(t, Config{}, 1, rated("p-", 20, test.perDay))
		if v.CloseToFailing != test.close || (v.Closest.FailsInDays != nil) != (test.close == 1) {
			t.Fatalf("%d a day: %+v, %+v", test.perDay, v, v.Closest)
		}
	}
	// n creates from nothing fail n^2/2N times on average: once after 5,357 creates.
	v := verdictOf(t, Config{}, 1, rated("p-", 20, 1000))
	if days := *v.Closest.FailsInDays; math.Abs(days-5.34) > 0.02 {
		t.Errorf("it fails in %v days", days)
	}
	if v := verdictOf(t, Config{}, 8, rated("p-", 20, 1000)); v.CloseToFailing != 0 || v.Closest.FailsInDays != nil || v.Closest.Room < 1_000_000 {
		t.Errorf("eight attempts: %+v", v.Closest)
	}
}

// Prefixes with many new objects are in the verdict. First come prefixes with at least 1,000 objects of the
// last ten minutes, or with at least 100 if these are a tenth of the names. Then come those with more than
// 1,000 objects of the last 24 hours.
func TestMostCreated(t *testing.T) {
	for _, test := range []struct{ names, last10m, last24h, many int64 }{
		{100, 99, 100, 0},
		{100, 100, 100, 1},
		{1000, 100, 100, 1},
		{1001, 100, 1000, 0},
		{1001, 101, 101, 1},
		{1_000_000, 999, 1000, 0},
		{1_000_000, 1000, 1000, 1},
		{1500, 0, 1500, 1}, // eleven minutes after 1,500 creates
		{1_000_000, 0, 1001, 1},
	} {
		if v := verdictOf(t, Config{}, 8, created("p-", test.names, test.last10m, test.last24h)); v.MostCreatedCount != test.many || int64(len(v.MostCreated)) != test.many {
			t.Errorf("%d and %d of %d names: %+v", test.last10m, test.last24h, test.names, v)
		}
	}
	var many []pools.Pool
	for i := range int64(2000) {
		many = append(many, created(fmt.Sprintf("p%04d-", i), 5000, 1000+i*7%2000, 5000))
	}
	day := created("day-", 9000, 999, 9000)
	if v := verdictOf(t, Config{}, 8, day, many[0]); v.MostCreated[0].Last10m != 1000 || v.MostCreated[1].Last24h != 9000 {
		t.Errorf("most created %+v, want 1000 in 10 minutes, then 9000 in 24 hours", v.MostCreated)
	}
	for _, config := range []Config{{}, {Order: ByPrefix, Top: 5}, {MinCount: 1 << 40}} {
		v := verdictOf(t, config, 8, append(many, day)...)
		var got []int64
		for _, m := range v.MostCreated {
			got = append(got, m.Last10m)
		}
		if diff := cmp.Diff([]int64{2999, 2998, 2997}, got); diff != "" || v.MostCreatedCount != 2001 {
			t.Errorf("%+v: %d (-want +got):\n%s", config, v.MostCreatedCount, diff)
		}
	}
}

// Small prefixes whose objects have controllers of one kind are one entry for each namespace, type and
// kind. If an owner has two prefixes, it counts once. The report hides entries that are still too small.
func TestFolded(t *testing.T) {
	pod := func(namespace, prefix, kind string, names int64, owners ...uint64) pools.Pool {
		s := pool(prefix, names)
		s.Key, s.OwnerKind, s.Owners = pools.Key{GroupResource: pods, Namespace: namespace, Prefix: prefix}, kind, owners
		s.Recent = recent(1, 2)
		s.Creator = object.Creator{Kind: kind, Name: prefix, Manager: "kube-controller-manager", Certain: true}
		if kind == "Workflow" {
			s.Creator.Manager = "argo-" + prefix
		}
		return s
	}
	c := building(Config{MinCount: 10})
	c.add(pod("a", "x-", "Job", 6, 1), pod("a", "y-0-", "Job", 2, 2), pod("b", "z-", "Job", 9, 9), pod("a", "other-", "", 4))
	c.add(pod("a", "y-1-", "Job", 2, 2), pod("a", "w-", "Workflow", 9, 3, 4), pod("a", "v-", "Workflow", 8, 5), pool("large-", 50))
	report := finish(t, c).Report
	want := []v1alpha1.AuditFolded{
		{
			Resource: "pods", Namespace: "a", OwnerKind: "Workflow", Owners: 3, Prefixes: 2, Names: 17, Last10m: new(int64(2)), Last24h: new(int64(4)),
			Creators: []v1alpha1.Creator{{Manager: "argo-w-"}, {Manager: "argo-v-"}},
			Largest:  &v1alpha1.AuditLargest{Prefix: "w-", Names: 9},
		},
		{
			Resource: "pods", Namespace: "a", OwnerKind: "Job", Owners: 2, Prefixes: 3, Names: 10, Last10m: new(int64(3)), Last24h: new(int64(6)),
			Creators: []v1alpha1.Creator{{Manager: "kube-controller-manager"}},
			Largest:  &v1alpha1.AuditLargest{Prefix: "x-", Names: 6},
		},
	}
	if diff := cmp.Diff(want, report.Folded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (v1alpha1.AuditHidden{Prefixes: 2, Names: 13}); report.Hidden != want || len(report.Items) != 1 {
		t.Errorf("hidden %+v, %d items", report.Hidden, len(report.Items))
	}
}

// The rate is from the shortest window with enough changes. There is none before ten seconds.
func TestRatePerDay(t *testing.T) {
	type windows [len(pools.Windows)]float64 // creates per day, four times as many as deletes
	const second = 86_400
	for _, test := range []struct {
		name    string
		windows windows
		seconds float64
		want    float64 // negative for none
	}{
		{"too early", windows{20 * second, 20 * second, 20 * second, 20 * second}, 9.9, -1},
		{"fast", windows{20 * second, 3 * second, 2 * second, second}, 10, 15 * second},
		{"a few a minute", windows{second / 20, second / 30, second / 60, second / 90}, 3600, 0.75 * second / 30},
		{"few in all", windows{60, 50, 40, 30}, 7200, 22.5},
		{"nothing", windows{}, 7200, 0},
	} {
		var sums pools.Weighed
		for i, rate := range test.windows {
			days := pools.Days(pools.Windows[i], test.seconds)
			sums[i].Creates, sums[i].Deletes = rate*days, rate/4*days
		}
		if got := ratePerDay(sums, test.seconds); math.IsNaN(got) != (test.want < 0) || math.Abs(got-test.want) > 1e-6 && test.want >= 0 {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

package audit

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
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
	item := itemOf(t, created("p-", 5_000_000, 0, 500_000))
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

// A prefix that the server has truncated inside a character is compared with the same prefix, and not with
// a prefix truncated inside another character.
func TestPrefixesTruncatedInsideACharacter(t *testing.T) {
	pods := resource("", "pods")
	audit := func(config Config) *v1alpha1.AuditReport {
		c := building(config)
		for i, prefix := range []string{"x\xc3", "x\xc4", "x\xe2\x82", "x\ufffd"} {
			s := pool(prefix, int64(20+i))
			s.GroupResource = pods.GroupResource()
			c.add(s)
		}
		result, err := c.report(Counted{
			Types:  []census.Resource{pods},
			Server: v1alpha1.AuditServer{Retries: v1alpha1.Retries{AttemptsSource: v1alpha1.SourceVersion}},
		})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(result.Report)
		if err != nil {
			t.Fatal(err)
		}
		report, err := v1alpha1.ReadAuditReport(data)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	now := audit(Config{Old: audit(Config{MinCount: 1}), MinCount: 1, AsOf: began.Add(24 * time.Hour)})
	found := map[string]bool{}
	for _, item := range now.Items {
		found[item.Prefix] = true
		if item.Growth == nil || item.Growth.Names == nil || *item.Growth.Names != 0 {
			t.Errorf("%q: growth %+v, want 0 names", item.Prefix, item.Growth)
		}
	}
	if len(found) != 4 || len(now.Gone) > 0 || !found[`x\xe2\x82`] {
		t.Errorf("%v, gone: %+v", found, now.Gone)
	}
}

func TestRetentionSetting(t *testing.T) {
	jobs, secrets := schema.GroupResource{Group: "batch", Resource: "jobs"}, schema.GroupResource{Resource: "secrets"}
	limit := "lower successfulJobsHistoryLimit and failedJobsHistoryLimit of the CronJob, or set activeDeadlineSeconds if its Jobs hang"
	for _, test := range []struct {
		of      schema.GroupResource
		names   int64
		owners  int64
		prefix  string
		creator v1alpha1.Creator
		want    string
	}{
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{Kind: "CronJob", Name: "nightly"}, limit},
		{jobs, 99, 1, "nightly-", v1alpha1.Creator{Kind: "CronJob", Name: "nightly"}, ""},
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{Manager: "CronJob"}, ""},
		{jobs, 100, 1, "nightly-", v1alpha1.Creator{}, ""},
		{secrets, 28_000, 1, "sh.helm.release.v1.app.v", v1alpha1.Creator{Manager: "Helm"}, "set helm upgrade --history-max"},
		{jobs, 150, 75, "", v1alpha1.Creator{Kind: "CronJob"}, limit},
		{jobs, 149, 75, "", v1alpha1.Creator{Kind: "CronJob"}, ""}, // one Job each
		{secrets, 150, 150, "sh.helm.release.v1.app.v", v1alpha1.Creator{Manager: "Helm"}, ""},
		{pods, 404, 404, "", v1alpha1.Creator{Kind: "Job"}, "set ttlSecondsAfterFinished of the Jobs"},
		{secrets, 28_000, 1, "", v1alpha1.Creator{Manager: "Helm"}, ""}, // from charts
		{secrets, 28_000, 1, "sh.helm.release.v1.app.v", v1alpha1.Creator{Kind: "Helm"}, ""},
	} {
		if got := RetentionSetting(test.of, test.names, test.owners, test.prefix, test.creator); got != test.want {
			t.Errorf("%d %s of %+v: %q, want %q", test.names, test.of, test.creator, got, test.want)
		}
	}
}

// A prefix that is younger than a day has no forecast, unless it has many objects of the last ten minutes.
// A prefix whose names replicas limit has no forecast either.
func TestForecastOfYoungPrefixes(t *testing.T) {
	young := func(names, last10m, days int64) pools.Pool {
		p := pool("run-", names)
		p.Recent = recent(last10m, names)
		p.Oldest = began.Add(-time.Hour)
		if days > 0 {
			p.Oldest = began.Add(-2 * day)
		}
		return p
	}
	bounded := young(3000, 0, 2)
	bounded.ReplicaBounded = true
	machines := young(3000, 0, 2)
	machines.GroupResource = nodes
	stem := young(3000, 3000, 2)
	stem.Naming = object.ByStem
	for name, test := range map[string]struct {
		pool  pools.Pool
		close int64
	}{
		"young": {young(16, 16, 0), 0}, "old": {young(3000, 0, 2), 1}, "a storm": {young(3000, 3000, 0), 1},
		"replicas": {bounded, 0}, "Nodes": {machines, 0}, "a stem": {stem, 0},
	} {
		b := building(Config{Began: began}, test.pool)
		b.retriesOf = retries(1)
		if v := finish(t, b).Report.Verdict; v.CloseToFailing != test.close {
			t.Errorf("%s: %d close to failing, want %d", name, v.CloseToFailing, test.close)
		}
	}
}

// ofItsOwn returns the attempts that a server makes for its own types. The attempts of example.dev are unknown.
func ofItsOwn(attempts int) RetriesOf {
	return func(api schema.GroupVersion) (v1alpha1.Retries, string) {
		if api.Group == "example.dev" {
			return retries(0)(api)
		}
		return retries(attempts)(api)
	}
}

// created is a name pool with creates of the last ten minutes and 24 hours.
func created(prefix string, names, last10m, last24h int64) pools.Pool {
	s := pool(prefix, names)
	s.Recent = recent(last10m, last24h)
	return s
}

// rated is a name pool in which perDay names are created each day.
func rated(prefix string, names, perDay int64) pools.Pool {
	return created(prefix, names, perDay/144, perDay)
}

// The largest number of the chosen column comes first, then the most names.
func TestOrders(t *testing.T) {
	for order, want := range map[Order][]string{
		ByNames:   {"old-", "ci-", "loop-", "also-"},
		ByLast10m: {"loop-", "ci-", "old-", "also-"},
		ByLast24h: {"ci-", "loop-", "old-", "also-"},
		ByPrefix:  {"also-", "ci-", "loop-", "old-"},
	} {
		c := building(Config{Order: order}, created("loop-", 1900, 1900, 1900), created("ci-", 40_000, 30, 5000),
			created("old-", 90_000, 0, 0), created("also-", 100, 0, 0))
		if diff := cmp.Diff(want, prefixes(finish(t, c).Report)); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
	}
}

// A prefix with many names and retries doesn't hide a smaller prefix that is closer to failing. The
// attempts of the smaller prefix are unknown, so they count as one.
func TestVerdictOfUnknownAttempts(t *testing.T) {
	widgets := rated("few-", 15_000, 0)
	widgets.Group, widgets.Resource = "example.dev", "widgets"
	c := building(Config{}, rated("huge-", 2_000_000, 5), widgets)
	c.retriesOf = ofItsOwn(8)
	v := finish(t, c).Report.Verdict
	if v.CloseToFailing != 1 || v.Closest.Prefix != "few-" || v.Closest.Attempts != 1 ||
		!slices.Equal(v.AttemptsUnknown, []string{"widgets.example.dev"}) {
		t.Errorf("%d close to failing, closest %+v, attempts unknown for %q, want 1, few- with 1 attempt, and widgets", v.CloseToFailing, v.Closest, v.AttemptsUnknown)
	}
}

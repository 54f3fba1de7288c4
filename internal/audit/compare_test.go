package audit

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// saved is an audit of two days before, of all Jobs and Pods.
func saved(change func(*v1alpha1.AuditReport)) *v1alpha1.AuditReport {
	report := &v1alpha1.AuditReport{
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(began.Add(-48 * time.Hour))},
		Scope: v1alpha1.AuditScope{
			AllNamespaces: true, Resources: []string{"jobs.batch", "pods"}, MinCount: 10,
		},
		Items: []v1alpha1.AuditItem{
			{PrefixRef: v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "p-"}, Names: 100},
			{PrefixRef: v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "gone-"}, Names: 40},
			{PrefixRef: v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "had-gone-"}}, // a watch saw it
		},
	}
	if change != nil {
		change(report)
	}
	return report
}

// hid changes an audit, so that it hid some prefixes.
func hid(prefixes, names int64, top int) func(*v1alpha1.AuditReport) {
	return func(r *v1alpha1.AuditReport) {
		r.Hidden, r.Scope.Top = v1alpha1.AuditHidden{Prefixes: prefixes, Names: names}, top
	}
}

// Growth starts at the number in the earlier audit. It is a range if the earlier audit hid the prefix (--min-count)
// or folded it. It is unknown if --top might have removed the prefix. If the earlier audit doesn't show a
// client-generated prefix, the prefix had too few names to be recognized.
func TestGrowth(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	f := func(x float64) *float64 { return &x }
	known := func(names int64) *v1alpha1.Growth {
		return &v1alpha1.Growth{Days: 2, Names: &names, PerDay: f(float64(names) / 2), PerDayMost: 10}
	}
	minCount := func(n int64) func(*v1alpha1.AuditReport) {
		return func(r *v1alpha1.AuditReport) { r.Scope.MinCount = n }
	}
	clients := pool("c-", 20)
	clients.Generated, clients.ClientGenerated = 0, true
	stem := pool("p-", 20) // its prefix is also a generateName
	stem.Generated, stem.Naming = 0, object.ByStem
	for _, test := range []struct {
		name string
		old  *v1alpha1.AuditReport
		of   pools.Pool
		want *v1alpha1.Growth
	}{
		{"grown", saved(nil), pool("p-", 150), &v1alpha1.Growth{Days: 2, Names: n(50), PerDay: f(25), PerDayMost: 25}},
		{"shrunk", saved(nil), pool("p-", 60), &v1alpha1.Growth{Days: 2, Names: n(-40), PerDay: f(-20), PerDayMost: -20}},
		{"new", saved(nil), pool("new-", 20), &v1alpha1.Growth{Days: 2, Names: n(20), PerDay: f(10), PerDayMost: 10, New: true}},
		{"hidden by --min-count", saved(hid(3, 24, 0)), pool("new-", 20), known(11)},
		{"hidden with few names", saved(hid(1, 4, 0)), pool("new-", 20), known(16)},
		{"cut off by --top", saved(hid(3, 24, 2)), pool("new-", 20), &v1alpha1.Growth{Days: 2, PerDayMost: 10}},
		{"cut off by a --top that was just reached", saved(hid(3, 24, 3)), pool("new-", 20), &v1alpha1.Growth{Days: 2, PerDayMost: 10}},
		{"not cut off by a --top that was not reached", saved(hid(3, 24, 10)), pool("new-", 20), known(11)},
		{"folded", saved(func(r *v1alpha1.AuditReport) {
			r.Folded = []v1alpha1.AuditFolded{{Group: "batch", Resource: "jobs", Namespace: "ci", Prefixes: 3, Names: 24}}
		}), pool("new-", 20), known(11)},
		{"named by clients", saved(nil), clients, known(11)},
		{"named by clients, in an audit of many names", saved(minCount(16)), clients, known(5)},
		{"named by clients, in an audit of few", saved(minCount(1)), clients, known(11)},
		{"named by clients, in one that hid few names", saved(hid(1, 4, 0)), clients, known(11)},
		{"a stem that a watch left out", saved(func(r *v1alpha1.AuditReport) { r.Scope.MinStem = 20 }), stem, known(1)},
		{"of what it did not read", saved(func(r *v1alpha1.AuditReport) {
			r.Skipped = []v1alpha1.Skipped{{Group: "batch", Resource: "jobs", Namespace: "ci"}}
		}), pool("p-", 150), nil},
		{"of another type", saved(func(r *v1alpha1.AuditReport) { r.Scope.Resources = []string{"pods"} }), pool("p-", 150), nil},
		{"of another namespace", saved(func(r *v1alpha1.AuditReport) {
			r.Scope.AllNamespaces, r.Scope.Namespace = false, "prod"
		}), pool("p-", 150), nil},
		{"of another prefix", saved(func(r *v1alpha1.AuditReport) { r.Scope.Prefixes = []string{"q-"} }), pool("p-", 150), nil},
		{"of another type's prefix", saved(func(r *v1alpha1.AuditReport) { r.Scope.Prefixes = []string{"jobs.batch/q-", "pods/p-"} }), pool("p-", 150), nil},
	} {
		if diff := cmp.Diff(test.want, growthOf(t, Config{Old: test.old}, test.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A prefix of the earlier audit is gone if this audit searched for it and found no names. The stem p- is gone, and the
// generateName p- is not.
func TestGone(t *testing.T) {
	scan := Counted{Types: []census.Resource{resource("batch", "jobs"), resource("", "configmaps")}}
	for _, test := range []struct {
		name    string
		config  Config
		skipped []census.Skipped
		gone    []string
	}{
		{"all read", Config{}, nil, []string{"gone-", "p-"}},
		{"hidden is not gone", Config{MinCount: 1000}, nil, []string{"gone-", "p-"}},
		{"not looked for", Config{Prefixes: []string{"p-"}}, nil, []string{"p-"}},
		{"another namespace", Config{Namespace: "prod"}, nil, nil},
		{"not read", Config{}, []census.Skipped{{Group: "batch", Resource: "jobs", Namespace: "ci"}}, nil},
		{"a type that was not read", Config{}, []census.Skipped{{Group: "batch", Resource: "jobs"}}, nil},
	} {
		test.config.Old = saved(func(r *v1alpha1.AuditReport) {
			stem := v1alpha1.PrefixRef{Group: "batch", Resource: "jobs", Namespace: "ci", Prefix: "p-", Naming: v1alpha1.NamingStem}
			r.Items = append(r.Items, v1alpha1.AuditItem{PrefixRef: stem, Names: 30})
		})
		c := building(test.config, pool("p-", 150))
		scan.Summary.Skipped = test.skipped
		result, err := c.report(scan)
		if err != nil {
			t.Fatal(err)
		}
		var gone []string
		for _, g := range result.Report.Gone {
			gone = append(gone, g.Prefix)
		}
		if diff := cmp.Diff(test.gone, gone); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A gate on growth evaluates every name pool. If the earlier audit doesn't show whether a
// name pool exceeds the gate, the result reports it as undecided.
func TestGateOnGrowth(t *testing.T) {
	limit := 9.0
	config := Config{Old: saved(hid(3, 24, 0)), MinCount: 1 << 40, FailAboveGrowth: &limit}
	gate := finish(t, building(config, pool("p-", 150), pool("new-", 20), pool("few-", 17))).Report.Gate
	if len(gate.Exceeded) != 1 || gate.Exceeded[0].Prefix != "p-" || *gate.Exceeded[0].GrowthPerDay != 25 || gate.Undecided != 1 {
		t.Errorf("%+v exceed the gate, %d undecided, want p- with 25 per day, and 1", gate.Exceeded, gate.Undecided)
	}
	for _, test := range []struct {
		reason    v1alpha1.SkipReason
		namespace string
		undecided int64
	}{{census.TimedOut, "", 1}, {census.TimedOut, "ci", 1}, {census.TimedOut, "other", 0}, {census.Excluded, "", 0}} {
		old := saved(func(r *v1alpha1.AuditReport) {
			skipped := v1alpha1.Skipped{Group: "batch", Resource: "jobs", Namespace: test.namespace, Reason: test.reason}
			r.Skipped = append(r.Skipped, skipped)
		})
		c := building(Config{Old: old, MinCount: 1, FailAboveGrowth: &limit}, pool("new-", 200), pool("few-", 5))
		if gate := finish(t, c).Report.Gate; gate.Undecided != test.undecided {
			t.Errorf("%s in %q: %d undecided, want %d", test.reason, test.namespace, gate.Undecided, test.undecided)
		}
	}
}

// The days until a gate is exceeded follow from the growth. They are 0 if it is exceeded already.
func TestDaysToGate(t *testing.T) {
	count, chance, eight := int64(1000), 0.001, 8
	retried := v1alpha1.Retries{Attempts: &eight}
	for _, test := range []struct {
		name    string
		config  Config
		retries v1alpha1.Retries
		names   int64
		perDay  float64
		days    float64 // negative for never
	}{
		{"names", Config{FailAboveCount: &count}, retried, 900, 50, 2},
		{"just below", Config{FailAboveCount: &count}, retried, 999, 50, 0.02},
		{"at the limit", Config{FailAboveCount: &count}, retried, 1000, 50, 0},
		{"above", Config{FailAboveCount: &count}, retried, 1001, -3, 0},
		{"no growth", Config{FailAboveCount: &count}, retried, 900, 0, -1},
		{"no gate", Config{}, retried, 900, 50, -1},
		{"chance", Config{FailAbove: &chance}, v1alpha1.Retries{}, 0, 14_348.907, 1},
		{"chance of eight attempts", Config{FailAbove: &chance}, retried, 0, 14348907 * math.Pow(0.001, 0.125), 1},
		{"the sooner of two", Config{FailAbove: &chance, FailAboveCount: &count}, retried, 0, 1000, 1},
	} {
		got := daysToGate(new(pool("p-", test.names)), &test.config, test.retries, test.perDay)
		if test.days < 0 != (got == nil) || got != nil && math.Abs(*got-test.days) > 1e-9 {
			t.Errorf("%s: %v, want %v", test.name, got, test.days)
		}
	}
}

// Audits that can't be compared are refused.
func TestNotComparable(t *testing.T) {
	for name, config := range map[string]Config{
		"a later one": {Old: saved(func(r *v1alpha1.AuditReport) { r.Metadata.CreationTimestamp = metav1.NewTime(began.Add(time.Hour)) })},
		"of itself":   {Old: saved(func(r *v1alpha1.AuditReport) { r.Metadata.CreationTimestamp = metav1.NewTime(began) })},
		"of others":   {Old: saved(nil), LabelSelector: "app=x"},
		"another namespace": {Namespace: "ci", Old: saved(func(r *v1alpha1.AuditReport) {
			r.Scope.AllNamespaces, r.Scope.Namespace = false, "prod"
		})},
		"of no time": {Old: saved(func(r *v1alpha1.AuditReport) { r.Metadata.CreationTimestamp = metav1.Time{} })},
		"of nothing": {Old: saved(func(r *v1alpha1.AuditReport) { r.Scope.Resources = nil })},
	} {
		config.Began = began
		if err := config.Comparable(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// When the first object has a client-generated prefix as its generateName, its naming changes. This is no
// growth.
func TestAnotherNaming(t *testing.T) {
	before, limit := pool("p-", 5000), 80.0
	before.Naming, before.Generated, before.ClientGenerated = object.ByClient, 0, true
	types := Counted{Types: []census.Resource{resource("batch", "jobs")}}
	old, err := building(Config{}, before).report(types)
	if err != nil {
		t.Fatal(err)
	}
	old.Report.Metadata.CreationTimestamp = metav1.NewTime(began.Add(-24 * time.Hour))
	now := pool("p-", 5001)
	now.Naming, now.Generated = object.FromGenerateName, 1
	got, err := building(Config{Old: old.Report, FailAboveGrowth: &limit}, now).report(types)
	if err != nil {
		t.Fatal(err)
	}
	report := got.Report
	if growth := report.Items[0].Growth; *growth.Names != 1 || growth.New || len(report.Gone)+len(report.Gate.Exceeded) > 0 {
		t.Errorf("growth of %d names, new %v, gone %v, above the gate %v, want 1 name, and none",
			*growth.Names, growth.New, report.Gone, report.Gate.Exceeded)
	}
}

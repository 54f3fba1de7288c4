package audit

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func resource(group, name string) census.Resource {
	return census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: name},
		Namespaced:           true,
	}
}

func pool(prefix string, names int64) pools.Pool {
	return pools.Pool{
		Key:     pools.Key{GroupResource: schema.GroupResource{Group: "batch", Resource: "jobs"}, Namespace: "ci", Prefix: prefix},
		Version: "v1", Names: names, Generated: names, RawPrefixes: 1,
		Recent: [pools.Spans]int64{names / 10},
	}
}

func retries(attempts int) RetriesOf {
	return func(schema.GroupVersion) (v1alpha1.Retries, string) {
		if attempts == 0 {
			return v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown}, "attempts unknown: aggregated API"
		}
		return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceMetric}, ""
	}
}

// began is when the audits of the tests begin.
var began = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// build is the input of a Build.
type build struct {
	config    Config
	retriesOf RetriesOf
	rows      []pools.Row
}

// building returns the input for servers that try eight names.
func building(config Config, pools ...pools.Pool) *build {
	config.Began = began
	if config.Order == "" {
		config.Order = ByNames
	}
	b := &build{config: config, retriesOf: retries(8)}
	b.add(pools...)
	return b
}

func (b *build) add(all ...pools.Pool) {
	for _, pool := range all {
		b.rows = append(b.rows, pools.Row{Pool: pool})
	}
}

func (b *build) report(counted Counted) (*Result, error) {
	rows := func(each func(pools.Row)) {
		for _, r := range b.rows {
			each(r)
		}
	}
	return Build(rows, &counted, b.config, NewOdds(b.retriesOf))
}

// finish returns the result of a scan that needs only its name pools.
func finish(t *testing.T, b *build) *Result {
	t.Helper()
	result, err := b.report(Counted{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// growthOf returns the growth of a name pool since the audit of config.Old.
func growthOf(t *testing.T, config Config, pool pools.Pool) *v1alpha1.Growth {
	t.Helper()
	if config.Began.IsZero() {
		config.Began = began
	}
	old, err := newBaseline(config.Old, &config)
	if err != nil {
		t.Fatal(err)
	}
	return old.growthOf(&pool, &config, v1alpha1.Retries{})
}

func prefixes(report *v1alpha1.AuditReport) []string {
	found := []string{}
	for _, item := range report.Items {
		found = append(found, item.Prefix)
	}
	return found
}

func TestCollector(t *testing.T) {
	many := make([]pools.Pool, 100)
	for i := range many {
		many[i] = pool(fmt.Sprintf("p%02d-", i), int64(1+i*7%100))
	}
	many = append(many, pool("none-", 0))
	limit, chance := int64(98), 1e-60
	for _, test := range []struct {
		name     string
		config   Config
		prefixes []string
		hidden   v1alpha1.AuditHidden
		exceeded int
	}{
		{
			"top",
			Config{Top: 3},
			[]string{"p57-", "p14-", "p71-"},
			v1alpha1.AuditHidden{Prefixes: 97, Names: 5050 - 100 - 99 - 98, BelowTop: 97, NamesBelowTop: 5050 - 100 - 99 - 98},
			-1,
		},
		{
			"a top of all",
			Config{Top: math.MaxInt, MinCount: 99},
			[]string{"p57-", "p14-"},
			v1alpha1.AuditHidden{}, // all others are in one fold
			-1,
		},
		{
			"min-count",
			Config{MinCount: 99},
			[]string{"p57-", "p14-"},
			v1alpha1.AuditHidden{}, // all others are in one fold
			-1,
		},
		{
			"by prefix",
			Config{Top: 2, Order: ByPrefix},
			[]string{"p00-", "p01-"},
			v1alpha1.AuditHidden{Prefixes: 98, Names: 5050 - 1 - 8, BelowTop: 98, NamesBelowTop: 5050 - 1 - 8},
			-1,
		},
		{
			"only some",
			Config{Prefixes: []string{"p00-", "p99-"}},
			[]string{"p99-", "p00-"},
			v1alpha1.AuditHidden{},
			-1,
		},
		{
			"a gate sees what is hidden",
			Config{MinCount: 1000, FailAboveCount: &limit},
			[]string{},
			v1alpha1.AuditHidden{},
			2,
		},
		{
			"nothing is said of a prefix without names",
			Config{Prefixes: []string{"none-"}, FailAbove: new(float64)},
			[]string{},
			v1alpha1.AuditHidden{},
			0,
		},
		{
			"a gate on the chance",
			Config{Top: 1, FailAbove: &chance},
			[]string{"p57-"},
			v1alpha1.AuditHidden{Prefixes: 99, Names: 4950, BelowTop: 99, NamesBelowTop: 4950},
			100,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := finish(t, building(test.config, many...)).Report
			if diff := cmp.Diff(test.prefixes, prefixes(report)); diff != "" {
				t.Errorf("prefixes (-want +got):\n%s", diff)
			}
			if report.Hidden != test.hidden {
				t.Errorf("hidden %+v, want %+v", report.Hidden, test.hidden)
			}
			checkGate(t, report.Gate, test.exceeded)
		})
	}
}

// checkGate compares the number of name pools that exceeded a gate. If exceeded is negative, there must be no gate.
func checkGate(t *testing.T, gate *v1alpha1.AuditGate, exceeded int) {
	t.Helper()
	switch {
	case exceeded < 0 && gate != nil:
		t.Errorf("a gate that nobody asked for: %+v", gate)
	case exceeded >= 0 && (len(gate.Exceeded) != exceeded || gate.ExceededCount != int64(exceeded)):
		t.Errorf("%d of %d exceeded the gate, want %d", len(gate.Exceeded), gate.ExceededCount, exceeded)
	}
}

// If many prefixes exceed a gate, the report has the worst prefixes and the number of all. Memory stays
// small.
func TestCollectorKeepsTheWorst(t *testing.T) {
	limit, all := int64(0), int64(5*maxExceeded)
	c := building(Config{MinCount: 1 << 40, FailAboveCount: &limit})
	for i := range all {
		c.add(pool(fmt.Sprintf("p%d-", i), i*7919%all+1))
	}
	gate := finish(t, c).Report.Gate
	if gate.ExceededCount != all || len(gate.Exceeded) != maxExceeded {
		t.Fatalf("%d of %d", len(gate.Exceeded), gate.ExceededCount)
	}
	for i, exceeded := range gate.Exceeded {
		if exceeded.Names != all-int64(i) {
			t.Fatalf("the worst but %d has %d names, want %d", i, exceeded.Names, all-int64(i))
		}
	}
}

// A prefix that the user named is found if a complete list has a name with it, even hidden. A name of
// another type doesn't count.
func TestNotFound(t *testing.T) {
	of := map[schema.GroupResource][]string{{Group: "batch", Resource: "jobs"}: {"a-"}, {Resource: "pods"}: {"a-", "b-"}}
	const release = "sh.helm.release.v1.payments-of-the-shop-in-the-eu-central-1.v" // servers don't truncate a stem
	for _, test := range []struct {
		config      Config
		want, scope []string
	}{
		{Config{MinCount: 10, Prefixes: []string{"a-", "none-", "lost-", "nonsuch-"}}, []string{"none-", "lost-", "nonsuch-"}, []string{"a-", "none-", "lost-", "nonsuch-"}},
		{Config{Prefixes: []string{"a-", "b-"}, PrefixesOf: of}, []string{"pods/a-", "pods/b-"}, []string{"jobs.batch/a-", "pods/a-", "pods/b-"}},
		{Config{Prefixes: []string{release[:58], release}}, nil, []string{release[:58]}},
		{Config{Prefixes: []string{release[:58], release + "2"}}, []string{release[:58]}, []string{release[:58]}},
	} {
		result := finish(t, building(test.config, pool("a-", 5), pool("none-", 0), pool("other-", 100), pool(release, 3)))
		if diff := cmp.Diff(test.want, result.NotFound) + cmp.Diff(test.scope, result.Report.Scope.Prefixes); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A named prefix without names is gone if the earlier audit has it. Otherwise it might be misspelled.
func TestGoneIsNotNotFound(t *testing.T) {
	c := building(Config{Prefixes: []string{"gone-", "nonsuch-"}, Old: saved(nil)})
	result, err := c.report(Counted{Types: []census.Resource{resource("batch", "jobs")}})
	if err != nil || len(result.Report.Gone) != 1 || cmp.Diff([]string{"nonsuch-"}, result.NotFound) != "" {
		t.Errorf("%+v, want one prefix in Gone, and nonsuch- in NotFound: %v", result, err)
	}
}

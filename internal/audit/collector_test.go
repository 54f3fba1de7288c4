package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func resource(group, name string) census.Resource {
	return census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: name},
		Namespaced:           true,
	}
}

func pool(prefix string, names int64) census.NamePool {
	return census.NamePool{
		Resource:  resource("batch", "jobs"),
		Namespace: "ci", Prefix: prefix, SuffixLength: 5, Names: names, Generated: names, RawPrefixes: 1,
		Recent: [census.MaxWindows]int64{names / 10},
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

// collector returns a collector for servers that try eight names.
func collector(options Options) *Collector {
	options.Began = began
	if options.Order == "" {
		options.Order = ByNames
	}
	c, err := NewCollector(options, retries(8))
	if err != nil {
		panic(err)
	}
	return c
}

// add gives a list to a collector.
func add(c *Collector, committed bool, pools ...census.NamePool) {
	batch := c.Begin()
	for _, pool := range pools {
		batch.Add(pool)
	}
	if committed {
		batch.Commit()
	}
}

// finish returns the result of a scan of which no more than its name pools is asked.
func finish(t *testing.T, c *Collector) *Result {
	t.Helper()
	result, err := c.Report(Scan{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func prefixes(report *v1alpha1.AuditReport) []string {
	found := []string{}
	for _, item := range report.Items {
		found = append(found, item.Prefix)
	}
	return found
}

func TestCollector(t *testing.T) {
	many := make([]census.NamePool, 100)
	for i := range many {
		many[i] = pool(fmt.Sprintf("p%02d-", i), int64(1+i*7%100))
	}
	many = append(many, pool("none-", 0))
	limit, chance := int64(98), 1e-60
	for _, test := range []struct {
		name     string
		options  Options
		prefixes []string
		hidden   v1alpha1.AuditHidden
		exceeded int
	}{
		{
			"top",
			Options{Top: 3},
			[]string{"p57-", "p14-", "p71-"},
			v1alpha1.AuditHidden{Prefixes: 97, Names: 5050 - 100 - 99 - 98, BelowTop: 97},
			-1,
		},
		{
			"a top of all",
			Options{Top: math.MaxInt, MinCount: 99},
			[]string{"p57-", "p14-"},
			v1alpha1.AuditHidden{Prefixes: 98, Names: 5050 - 100 - 99},
			-1,
		},
		{
			"min-count",
			Options{MinCount: 99},
			[]string{"p57-", "p14-"},
			v1alpha1.AuditHidden{Prefixes: 98, Names: 5050 - 100 - 99},
			-1,
		},
		{
			"by prefix",
			Options{Top: 2, Order: ByPrefix},
			[]string{"p00-", "p01-"},
			v1alpha1.AuditHidden{Prefixes: 98, Names: 5050 - 1 - 8, BelowTop: 98},
			-1,
		},
		{
			"only some",
			Options{Prefixes: []string{"p00-", "p99-"}},
			[]string{"p99-", "p00-"},
			v1alpha1.AuditHidden{},
			-1,
		},
		{
			"a gate sees what is hidden",
			Options{MinCount: 1000, FailAboveCount: &limit},
			[]string{},
			v1alpha1.AuditHidden{Prefixes: 100, Names: 5050},
			2,
		},
		{
			"nothing is said of a prefix without names",
			Options{Prefixes: []string{"none-"}, FailAbove: new(float64)},
			[]string{},
			v1alpha1.AuditHidden{},
			0,
		},
		{
			"a gate on the chance",
			Options{Top: 1, FailAbove: &chance},
			[]string{"p57-"},
			v1alpha1.AuditHidden{Prefixes: 99, Names: 4950, BelowTop: 99},
			100,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := collector(test.options)
			add(c, true, many...)
			report := finish(t, c).Report
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

// The report shows the first rows, regardless of the order in which rows arrive.
func TestTopOfManyOrders(t *testing.T) {
	const many, top = 200, 7
	for _, order := range Orders {
		all := make([]census.NamePool, many)
		for i := range all {
			all[i] = pool(fmt.Sprintf("p%03d-", i*7%many), int64(1+i*i%50)) // many have as many names
		}
		c := collector(Options{Order: order})
		add(c, true, all...)
		want := prefixes(finish(t, c).Report)[:top]
		for seed := range uint64(20) {
			rand.New(rand.NewPCG(seed, 1)).Shuffle(many, func(i, j int) { all[i], all[j] = all[j], all[i] })
			c := collector(Options{Order: order, Top: top})
			add(c, true, all[:many/3]...)
			add(c, true, all[many/3:]...)
			report := finish(t, c).Report
			if diff := cmp.Diff(want, prefixes(report)); diff != "" || report.Hidden.Prefixes != many-top {
				t.Fatalf("by %s, seed %d: %d hidden (-want +got):\n%s", order, seed, report.Hidden.Prefixes, diff)
			}
		}
	}
}

// checkGate compares the number of name pools that exceeded a gate; there is to be
// none if exceeded is negative.
func checkGate(t *testing.T, gate *v1alpha1.AuditGate, exceeded int) {
	t.Helper()
	switch {
	case exceeded < 0 && gate != nil:
		t.Errorf("a gate that nobody asked for: %+v", gate)
	case exceeded >= 0 && (len(gate.Exceeded) != exceeded || gate.ExceededCount != int64(exceeded)):
		t.Errorf("%d of %d exceeded the gate, want %d", len(gate.Exceeded), gate.ExceededCount, exceeded)
	}
}

// A list that failed on its way leaves no trace.
func TestCollectorForgetsWhatIsNotCommitted(t *testing.T) {
	limit := int64(0)
	c := collector(Options{FailAboveCount: &limit})
	add(c, false, pool("p-", 5))
	report := finish(t, c).Report
	if len(report.Items) != 0 || report.Summary.Prefixes != 0 || len(report.Gate.Exceeded) != 0 {
		t.Errorf("%+v", report)
	}
}

// However many prefixes exceed a gate, the report names the worst, and says how
// many there are; so does the memory that it takes.
func TestCollectorKeepsTheWorst(t *testing.T) {
	limit, all := int64(0), int64(5*maxExceeded)
	c := collector(Options{MinCount: 1 << 40, FailAboveCount: &limit})
	for list := range int64(5) { // several lists, the worst in none of them alone
		b := c.Begin().(*batch)
		for i := range all / 5 {
			b.Add(pool(fmt.Sprintf("p%d-", i*5+list), i*5+list+1))
			if len(b.kept.exceeded) > 2*maxExceeded {
				t.Fatalf("keeps %d", len(b.kept.exceeded))
			}
		}
		b.Commit()
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

// The server may take seconds to say how it retries: without a gate or a top,
// no list waits for that.
func TestCollectorAsksForRetriesAtTheEnd(t *testing.T) {
	asked := false
	c := collector(Options{})
	c.retriesOf = func(v schema.GroupVersion) (v1alpha1.Retries, string) {
		asked = true
		return retries(8)(v)
	}
	add(c, true, pool("p-", 5))
	if asked {
		t.Error("asked while names are counted")
	}
	items := finish(t, c).Report.Items
	if !asked || len(items) != 1 || *items[0].Attempts != 8 {
		t.Errorf("asked: %v, %+v", asked, items)
	}
}

// A prefix that was asked for is found if a list that came to its end has a
// name under it, shown or not.
func TestNotFound(t *testing.T) {
	c := collector(Options{MinCount: 10, Prefixes: []string{"hidden-", "none-", "lost-", "nonsuch-"}})
	add(c, true, pool("hidden-", 1), pool("none-", 0), pool("other-", 100))
	add(c, false, pool("lost-", 100))
	if diff := cmp.Diff([]string{"none-", "lost-", "nonsuch-"}, finish(t, c).NotFound); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One that was asked for of a type is not found because another type has it.
func TestNotFoundOfTheType(t *testing.T) {
	c := collector(Options{Prefixes: []string{"a-", "b-"}, PrefixesOf: map[schema.GroupResource][]string{
		{Group: "batch", Resource: "jobs"}: {"a-"}, {Resource: "pods"}: {"a-", "b-"},
	}})
	add(c, true, pool("a-", 5))
	if diff := cmp.Diff([]string{"pods/a-", "pods/b-"}, finish(t, c).NotFound); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// One that the earlier audit has is gone, and was not misspelled.
func TestGoneIsNotNotFound(t *testing.T) {
	c := collector(Options{Prefixes: []string{"gone-", "nonsuch-"}, Old: saved(nil)})
	result, err := c.Report(Scan{Resources: []census.Resource{resource("batch", "jobs")}})
	if err != nil || len(result.Report.Gone) != 1 || cmp.Diff([]string{"nonsuch-"}, result.NotFound) != "" {
		t.Errorf("%v, %+v", err, result)
	}
}

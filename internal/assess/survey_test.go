package assess

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func space(prefix string, names int64) census.Space {
	return census.Space{
		Resource:  census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Namespaced: true},
		Namespace: "ci", Prefix: prefix, Names: names, Generated: names, RawPrefixes: 1,
		Recent: names / 10,
	}
}

func retries(attempts int) func(schema.GroupVersion) (v1alpha1.Retries, string) {
	return func(schema.GroupVersion) (v1alpha1.Retries, string) {
		if attempts == 0 {
			return v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown}, "aggregated API: server retries unknown"
		}
		return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceMetric}, ""
	}
}

var lens = Lens{Window: 24 * time.Hour, Forecast: 30 * 24 * time.Hour}

// The numbers were computed apart from this project, in Python: (k/N)^t, the
// Garwood interval of 500,000 events, and 30·500,000·(k/N)^t conflicts.
func TestItem(t *testing.T) {
	r, note := retries(8)(schema.GroupVersion{})
	item, err := lens.Item(space("p-", 5_000_000), r, note)
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
	item, err := lens.Item(space("p-", 1000), r, note)
	if err != nil {
		t.Fatal(err)
	}
	if item.NextCreate.ServerRetry != nil || item.Headroom.ServerRetry != nil || item.Forecast.Steady.ServerRetry != nil || item.Forecast.NothingDeleted.ServerRetry != nil {
		t.Errorf("something unknown has a value: %+v", item)
	}
	if Risk(item) != item.NextCreate.NoRetry {
		t.Errorf("unknown attempts count as one, but the risk is %g", Risk(item))
	}
}

func survey(s Survey, committed bool, spaces ...census.Space) *v1alpha1.AuditReport {
	s.Lens, s.RetriesOf = lens, retries(8)
	if s.Order == nil {
		s.Order = Orders["risk"]
	}
	batch := s.Begin()
	for _, space := range spaces {
		batch.Add(space)
	}
	if committed {
		batch.Commit()
	}
	report := &v1alpha1.AuditReport{}
	if err := s.Fill(report); err != nil {
		panic(err)
	}
	return report
}

func prefixes(report *v1alpha1.AuditReport) []string {
	found := []string{}
	for _, item := range report.Items {
		found = append(found, item.Prefix)
	}
	return found
}

func TestSurvey(t *testing.T) {
	many := make([]census.Space, 100)
	for i := range many {
		many[i] = space(fmt.Sprintf("p%02d-", i), int64(1+i*7%100))
	}
	many = append(many, space("none-", 0))
	limit, chance := int64(98), 1e-60
	for _, test := range []struct {
		name     string
		survey   Survey
		prefixes []string
		hidden   v1alpha1.AuditHidden
		exceeded int
	}{
		{"top", Survey{Top: 3}, []string{"p57-", "p14-", "p71-"}, v1alpha1.AuditHidden{Prefixes: 97, Objects: 5050 - 100 - 99 - 98}, -1},
		{"a top of all", Survey{Top: math.MaxInt, MinCount: 99}, []string{"p57-", "p14-"}, v1alpha1.AuditHidden{Prefixes: 98, Objects: 5050 - 100 - 99}, -1},
		{"min-count", Survey{MinCount: 99}, []string{"p57-", "p14-"}, v1alpha1.AuditHidden{Prefixes: 98, Objects: 5050 - 100 - 99}, -1},
		{"by prefix", Survey{Top: 2, Order: Orders["prefix"]}, []string{"p00-", "p01-"}, v1alpha1.AuditHidden{Prefixes: 98, Objects: 5050 - 1 - 8}, -1},
		{"only some", Survey{Prefixes: []string{"p00-", "p99-"}}, []string{"p99-", "p00-"}, v1alpha1.AuditHidden{}, -1},
		{"a gate sees what is hidden", Survey{MinCount: 1000, FailAboveCount: &limit}, []string{}, v1alpha1.AuditHidden{Prefixes: 100, Objects: 5050}, 2},
		{"nothing is said of a prefix without names", Survey{Prefixes: []string{"none-"}, FailAbove: new(float64)}, []string{}, v1alpha1.AuditHidden{}, 0},
		{"a gate on the chance", Survey{Top: 1, FailAbove: &chance}, []string{"p57-"}, v1alpha1.AuditHidden{Prefixes: 99, Objects: 4950}, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := survey(test.survey, true, many...)
			if diff := cmp.Diff(test.prefixes, prefixes(report)); diff != "" {
				t.Errorf("prefixes (-want +got):\n%s", diff)
			}
			if report.Hidden != test.hidden {
				t.Errorf("hidden %+v, want %+v", report.Hidden, test.hidden)
			}
			switch {
			case test.exceeded < 0 && report.Gate != nil:
				t.Errorf("a gate that nobody asked for: %+v", report.Gate)
			case test.exceeded >= 0 && (len(report.Gate.Exceeded) != test.exceeded || report.Gate.ExceededCount != int64(test.exceeded)):
				t.Errorf("%d of %d exceeded the gate, want %d", len(report.Gate.Exceeded), report.Gate.ExceededCount, test.exceeded)
			}
		})
	}
}

// A list that failed on its way leaves no trace.
func TestSurveyForgetsWhatIsNotCommitted(t *testing.T) {
	limit := int64(0)
	report := survey(Survey{FailAboveCount: &limit}, false, space("p-", 5))
	if len(report.Items) != 0 || report.Summary.Prefixes != 0 || len(report.Gate.Exceeded) != 0 {
		t.Errorf("%+v", report)
	}
}

// However many prefixes exceed a gate, the report names the worst, and says how
// many there are; so does the memory that it takes.
func TestSurveyKeepsTheWorst(t *testing.T) {
	limit, all := int64(0), int64(5*MaxExceeded)
	s := Survey{Lens: lens, RetriesOf: retries(8), Order: Orders["risk"], MinCount: 1 << 40, FailAboveCount: &limit}
	for list := range int64(5) { // several lists, the worst in none of them alone
		b := s.Begin().(*batch)
		for i := range all / 5 {
			b.Add(space(fmt.Sprintf("p%d-", i*5+list), i*5+list+1))
			if len(b.exceeded) > 2*MaxExceeded {
				t.Fatalf("keeps %d", len(b.exceeded))
			}
		}
		b.Commit()
	}
	report := &v1alpha1.AuditReport{}
	if err := s.Fill(report); err != nil {
		t.Fatal(err)
	}
	gate := report.Gate
	if gate.ExceededCount != all || len(gate.Exceeded) != MaxExceeded {
		t.Fatalf("%d of %d", len(gate.Exceeded), gate.ExceededCount)
	}
	for i, exceeded := range gate.Exceeded {
		if exceeded.Names != all-int64(i) {
			t.Fatalf("the worst but %d has %d names, want %d", i, exceeded.Names, all-int64(i))
		}
	}
}

// Where the most is hidden is known however it was hidden: by --min-count or by
// --top, in one list or in several.
func TestMostHidden(t *testing.T) {
	in := func(namespace string, s census.Space) census.Space {
		s.Namespace = namespace
		return s
	}
	s := Survey{Lens: lens, RetriesOf: retries(8), Order: Orders["risk"], MinCount: 5, Top: 1}
	for _, list := range [][]census.Space{
		{in("a", space("p-", 100)), in("b", space("p-", 60)), in("b", space("q-", 3))},
		{in("b", space("r-", 40)), in("c", space("p-", 90)), in("d", space("p-", 103))},
	} {
		batch := s.Begin()
		for _, space := range list {
			batch.Add(space)
		}
		batch.Commit()
	}
	want := Hidden{schema.GroupResource{Group: "batch", Resource: "jobs"}, "b", 103}
	if got := s.MostHidden(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (&Survey{}).MostHidden(); got != (Hidden{}) {
		t.Errorf("nothing is hidden, but %+v", got)
	}
}

// The server may take seconds to say how it retries: without a gate or a top,
// no list waits for that.
func TestSurveyAsksForRetriesAtTheEnd(t *testing.T) {
	asked := false
	s := Survey{Lens: lens, Order: Orders["risk"], RetriesOf: func(v schema.GroupVersion) (v1alpha1.Retries, string) {
		asked = true
		return retries(8)(v)
	}}
	batch := s.Begin()
	batch.Add(space("p-", 5))
	batch.Commit()
	if asked {
		t.Error("asked while names are counted")
	}
	var report v1alpha1.AuditReport
	if err := s.Fill(&report); err != nil || !asked || len(report.Items) != 1 || *report.Items[0].Attempts != 8 {
		t.Errorf("%v, asked: %v, %+v", err, asked, report.Items)
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

// A prefix that was asked for is found if a list that came to its end has a
// name under it, shown or not.
func TestNotFound(t *testing.T) {
	s := Survey{Lens: lens, RetriesOf: retries(8), Order: Orders["risk"], MinCount: 10, Prefixes: []string{"hidden-", "none-", "lost-", "nonsuch-"}}
	whole, broken := s.Begin(), s.Begin()
	whole.Add(space("hidden-", 1))
	whole.Add(space("none-", 0))
	whole.Add(space("other-", 100))
	broken.Add(space("lost-", 100))
	whole.Commit()
	if diff := cmp.Diff([]string{"none-", "lost-", "nonsuch-"}, s.NotFound()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

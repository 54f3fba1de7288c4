package audit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// days returns a number of days as reports have it. A negative number stands for no end, which is null.
func days(n float64) *float64 {
	if n < 0 {
		return nil
	}
	return &n
}

func TestSpanText(t *testing.T) {
	const minute, hour, year = 1.0 / 1440, 1.0 / 24, 365.25
	for want, d := range map[string]float64{
		"<1m": 0.2 * minute, "20m": 20 * minute, "13h": 13 * hour, "47h": 47 * hour, "3d": 3, "99y": 99 * year,
		"more than 100y": 101 * year,
	} {
		if got := spanText(&d); got != want {
			t.Errorf("%v days is %q, want %q", d, got, want)
		}
	}
}

func TestGrowthText(t *testing.T) {
	for _, test := range []struct {
		growth *v1alpha1.Growth
		want   string
		gate   string
	}{
		{nil, "?", "x"},
		{&v1alpha1.Growth{PerDayMost: 10}, "?", "x"},
		{&v1alpha1.Growth{PerDay: days(25), PerDayMost: 25, DaysToGate: days(3)}, "+25", "above the gate in 3d; x"},
		{&v1alpha1.Growth{PerDay: days(5.5), PerDayMost: 10, DaysToGate: days(0)}, "+5.5–+10", "above the gate now; x"},
		{&v1alpha1.Growth{PerDay: days(10), PerDayMost: 10, New: true}, "+10 (new)", "x"},
		{&v1alpha1.Growth{PerDay: days(0), PerDayMost: 0}, "0", "x"},
	} {
		r := &row{AuditItem: v1alpha1.AuditItem{Growth: test.growth, Notes: []string{"x"}}}
		if got, gate := growthText(test.growth), notesText(r, true); got != test.want || gate != test.gate {
			t.Errorf("%+v: %q and %q, want %q and %q", test.growth, got, gate, test.want, test.gate)
		}
	}
	if got := signed(-20); got != "-20" {
		t.Errorf("%q, want -20", got)
	}
}

// In 80 columns, LAST-10M gives way before a prefix or a creator is cut, but not if rows are sorted by it, or the
// verdict is about it.
func TestFitOfWholeNames(t *testing.T) {
	rows := []row{{AuditItem: v1alpha1.AuditItem{
		PrefixRef: v1alpha1.PrefixRef{Namespace: "team-billing", Group: "batch", Resource: "jobs", Prefix: "nightly-report-billing-"},
		Names:     120, Last10m: new(int64(5)), Last24h: new(int64(9)), Creators: []v1alpha1.Creator{{Manager: "kubectl-create"}}, CreatorCount: 2,
	}}}
	whole := tableOf(layout{namespaces: true}.auditColumns(&v1alpha1.AuditReport{}), rows)
	created := func(m v1alpha1.AuditMostCreated) *v1alpha1.AuditVerdict {
		return &v1alpha1.AuditVerdict{MostCreated: []v1alpha1.AuditMostCreated{m, {Last10m: 100}}}
	}
	for _, test := range []struct {
		order   audit.Order
		verdict *v1alpha1.AuditVerdict
		want    string
	}{
		{audit.ByNames, nil, "team-billing   jobs       nightly-report-billing-     120   kubectl-create +1"},
		{audit.ByNames, &v1alpha1.AuditVerdict{}, "team-billing   jobs       nightly-report-billing-     120   kubectl-create +1"},
		{audit.ByLast10m, nil, "team…ling   jobs       nightly-r…-billing-     120          5   kubectl-create …"},
		{audit.ByNames, created(v1alpha1.AuditMostCreated{Last10m: 1000}), "team…ling   jobs       nightly-r…-billing-     120          5   kubectl-create …"},
		{audit.ByNames, created(v1alpha1.AuditMostCreated{Last24h: 1001}), "team…ling   jobs       nightly-r…-billing-     120          9   kubectl-create …"},
	} {
		fitted := fit(whole, 80, givingWay(test.order, test.verdict))
		if got := fitted.Lines(fitted.Widths(nil), false); got[0] != test.want {
			t.Errorf("by %s, %+v: %s", test.order, test.verdict, got[0])
		}
	}
}

// Folds are rows among the others, in their order, and --top counts them.
func TestRowsOf(t *testing.T) {
	n := func(x int64) *int64 { return &x }
	report := &v1alpha1.AuditReport{
		Items: []v1alpha1.AuditItem{
			{PrefixRef: v1alpha1.PrefixRef{Prefix: "a-"}, Names: 500, Last10m: n(1), Last24h: n(9)},
			{PrefixRef: v1alpha1.PrefixRef{Prefix: "b-"}, Names: 80, Last10m: n(0), Last24h: n(0)},
		},
		Folded: []v1alpha1.AuditFolded{{Resource: "pods", OwnerKind: "Job", Owners: 404, Names: 404, Last10m: new(int64(7)), Last24h: new(int64(404)), Creators: []v1alpha1.Creator{{Manager: "kube-controller-manager"}}}},
	}
	for order, want := range map[audit.Order]string{
		audit.ByNames: "a- (404 Jobs) b-", audit.ByLast10m: "(404 Jobs) a- b-", audit.ByPrefix: "(404 Jobs) a- b-",
	} {
		var got []string
		for _, r := range rowsOf(report, order) {
			got = append(got, prefixText(&r))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("by %s: %q, want %s", order, got, want)
		}
	}
	report.Scope.Top = 2
	rows := rowsOf(report, audit.ByNames)
	if len(rows) != 2 || creatorText(&rows[1]) != "kube-controller-manager" {
		t.Errorf("%d rows, want 2, the second by kube-controller-manager: %+v", len(rows), rows)
	}
	for _, c := range (layout{wide: true}).auditColumns(report) {
		if text := c.cell(&rows[1]); slices.Contains([]string{"ATTEMPTS", "ROOM", "OLDEST", "NEWEST"}, c.name) && text != "" {
			t.Errorf("%s of a fold: %s", c.name, text)
		}
	}
	report.Items[0].Last10m, report.Folded[0].Last10m = n(0), n(0) // then names decide
	if rows := rowsOf(report, audit.ByLast10m); rows[0].Prefix != "a-" || rows[1].fold == nil {
		t.Errorf("%q is first, then the fold %+v, want a- and a fold", rows[0].Prefix, rows[1].fold)
	}
}

// A prefix that would look like another one is quoted.
func TestPrefixText(t *testing.T) {
	for prefix, want := range map[string]string{
		"run-": "run-", "a b-": `"a b-"`, "a  b-": `"a  b-"`, `\u001b`: `"\\u001b"`, "(404 Jobs)": `"(404 Jobs)"`,
	} {
		if got := prefixText(&row{AuditItem: v1alpha1.AuditItem{PrefixRef: v1alpha1.PrefixRef{Prefix: prefix}}}); got != want {
			t.Errorf("%q is shown as %s", prefix, got)
		}
	}
}

// An undecided gate is an error. The error of an exceeded gate has priority.
func TestGradeGrowth(t *testing.T) {
	limit := 10.0
	r := &run{}
	report := &v1alpha1.AuditReport{Complete: true, Gate: &v1alpha1.AuditGate{FailAboveGrowth: &limit, Undecided: 2}}
	if err := r.evaluate(t.Context(), &audit.Result{Report: report}); err == nil || !strings.Contains(err.Error(), "2 prefixes") {
		t.Errorf("%v, want an error about 2 prefixes", err)
	}
	report.Gate.Exceeded = []v1alpha1.AuditExceeded{{Resource: "jobs.batch", Prefix: "p-", Names: 30, GrowthPerDay: days(math.Pi)}}
	report.Gate.ExceededCount = 1
	err := r.evaluate(t.Context(), &audit.Result{Report: report})
	if want := "error: 1 prefix above --fail-above-growth 10: jobs.batch/p- with 30 names, +3.1 a day\n  kubectl genname audit jobs.batch/p- -o wide"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The message names the prefix that is farthest above the given limit.
func TestWorst(t *testing.T) {
	chance, count, growth := 0.1, int64(5), 2.5
	gate := func(change func(*v1alpha1.AuditGate)) *v1alpha1.AuditGate {
		g := &v1alpha1.AuditGate{ExceededCount: 3, Exceeded: []v1alpha1.AuditExceeded{ // by the chance
			{Resource: "pods", Prefix: "likely-", Names: 10, NextCreate: 0.3, GrowthPerDay: days(3)},
			{Resource: "pods", Prefix: "many-", Names: 20, NextCreate: 0.2, GrowthPerDay: days(4)},
			{Resource: "pods", Prefix: "fast-", Names: 15, NextCreate: 0.1, GrowthPerDay: days(5)},
		}}
		change(g)
		return g
	}
	for want, g := range map[string]*v1alpha1.AuditGate{
		"pods/likely-": gate(func(g *v1alpha1.AuditGate) { g.FailAbove, g.FailAboveCount = &chance, &count }),
		"pods/many-":   gate(func(g *v1alpha1.AuditGate) { g.FailAboveCount, g.FailAboveGrowth = &count, &growth }),
		"3 prefixes above --fail-above-growth 2.5. The worst is pods/fast-": gate(func(g *v1alpha1.AuditGate) { g.FailAboveGrowth = &growth }),
	} {
		if got := exceededText(g); !strings.Contains(got, want+" with ") {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

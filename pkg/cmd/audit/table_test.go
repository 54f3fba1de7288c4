package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
)

// days returns a time as a report has it; a negative one has no end.
func days(n float64) *float64 {
	if n < 0 {
		return nil
	}
	return &n
}

func TestFirstIn(t *testing.T) {
	const minute, hour, year = 1.0 / 1440, 1.0 / 24, 365.25
	for _, test := range []struct {
		growing, steady float64
		want            string
	}{
		{13 * hour, 41, "13h–41d"},
		{0.2 * minute, 20 * minute, "<1m–20m"},
		{47 * hour, 3, "47h–3d"},
		{99 * year, 101 * year, "99y–never"},
		{12, -1, "12d–never"},
		{101 * year, -1, "never"},
		{-1, -1, "never"},
		{5, 5, "5d"},
	} {
		item := v1alpha1.AuditItem{
			FirstFailure: &v1alpha1.AuditFirstFailure{GrowingDays: days(test.growing), SteadyDays: days(test.steady)},
		}
		if got := failsInText(item); got != test.want {
			t.Errorf("%v to %v days is %q, want %q", test.growing, test.steady, got, test.want)
		}
	}
}

// A lower bound is never rounded up.
func TestPerDay(t *testing.T) {
	for rate, want := range map[float64]string{
		0: "≥0", 0.00179: "≥0.0017", 0.0018: "≥0.0018", 0.999: "≥0.99", 1.99: "≥1.9", 3: "≥3", 9.96: "≥9.9", 23.99: "≥23",
		3326.2: "≥3,326", 234_653.9: "≥234,653",
	} {
		item := v1alpha1.AuditItem{Creates: v1alpha1.Creates{Windows: []v1alpha1.CreatesWindow{{PerDayLower: rate}, {PerDayLower: rate / 2}}}}
		if got := perDayText(item); got != want {
			t.Errorf("%v is %q, want %q", rate, got, want)
		}
	}
}

func TestMadeBy(t *testing.T) {
	for _, test := range []struct {
		creator  *v1alpha1.Creator
		creators int
		want     string
	}{
		{nil, 0, "?"},
		{&v1alpha1.Creator{Kind: "PipelineRun", Name: "x"}, 1, "PipelineRun/x"},
		{&v1alpha1.Creator{Manager: "argo"}, 1, "argo"},
		{&v1alpha1.Creator{Manager: "argo", Guess: true}, 3, "argo? +2"},
	} {
		item := v1alpha1.AuditItem{CreatorCount: test.creators}
		if test.creator != nil {
			item.Creators = []v1alpha1.Creator{*test.creator}
		}
		if got := creatorText(item); got != test.want {
			t.Errorf("%+v: %q, want %q", test.creator, got, test.want)
		}
	}
}

// A chance too small to matter is ~0, none at all is 0, and where the attempts are unknown
// it is a range.
func TestConflict(t *testing.T) {
	eight := 8
	for _, test := range []struct {
		noRetry float64
		retried *float64
		own     *int
		want    string
	}{
		{0.01, days(1e-16), &eight, "~0"},
		{0.01, days(1e-8), &eight, "1 in 1.0e8"},
		{0, days(0), &eight, "0"},
		{0.01, nil, &eight, "~0–1%"},
		{1, nil, &eight, "100%"},
		{0.01, nil, nil, "?–1%"},
	} {
		item := v1alpha1.AuditItem{NextCreate: v1alpha1.NextCreate{NoRetry: test.noRetry, ServerRetry: test.retried}}
		if got := failureText(item, v1alpha1.Retries{Attempts: test.own}); got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}

func TestGrowthText(t *testing.T) {
	for _, test := range []struct {
		growth *v1alpha1.Growth
		want   string
		gate   string
	}{
		{nil, "?", "?"},
		{&v1alpha1.Growth{PerDayMost: 10}, "?", "?"},
		{&v1alpha1.Growth{PerDay: days(25), PerDayMost: 25, DaysToGate: days(3)}, "+25", "3d"},
		{&v1alpha1.Growth{PerDay: days(5.5), PerDayMost: 10, DaysToGate: days(0)}, "+5.5–+10", "now"},
		{&v1alpha1.Growth{PerDay: days(10), PerDayMost: 10, New: true}, "+10 (new)", "never"},
		{&v1alpha1.Growth{PerDay: days(0), PerDayMost: 0}, "0", "never"},
	} {
		item := v1alpha1.AuditItem{Growth: test.growth}
		if got, gate := growthText(item), gateInText(item); got != test.want || gate != test.gate {
			t.Errorf("%+v: %q and %q, want %q and %q", test.growth, got, gate, test.want, test.gate)
		}
	}
	if got := signed(-20); got != "-20" {
		t.Errorf("%q", got)
	}
}

// Whatever the width, no two prefixes look the same, and none is longer than it was.
func TestDistinct(t *testing.T) {
	x := strings.Repeat("x", 40)
	texts := map[string]bool{
		"short-": true, x + "-one-": true, x + "-two-": true, "a" + x + "-one-": true, "b" + x + "-one-": true,
		x[:20] + "A" + x[:20]: true, x[:20] + "B" + x[:20]: true, x: true, x + "x": true, x + "xx": true,
		strings.Repeat("é", 40): true, x[:10] + "…" + x[:5]: true,
	}
	for width := 8; width <= 50; width++ {
		short := distinct(texts, width)
		seen := map[string]string{}
		for text := range texts {
			got := short[text]
			if other, twice := seen[got]; twice {
				t.Errorf("width %d: %q and %q are both shown as %q", width, text, other, got)
			}
			seen[got] = text
			if got == "" || utf8.RuneCountInString(got) > utf8.RuneCountInString(text) {
				t.Errorf("width %d: %q is shown as %q", width, text, got)
			}
		}
	}
	const long = "integration-tests-of-the-payments-service-on-the-branch-re"
	if got := distinct(map[string]bool{long: true, "fits-": true}, 29); got[long] != "integration-te…-the-branch-re" || got["fits-"] != "fits-" {
		t.Errorf("%q", got)
	}
}

// Notes give way first, then creators, then what tells rows apart; what fits stays as it
// is.
func TestFit(t *testing.T) {
	long := strings.Repeat("n", 60)
	table := grid{
		header: []string{"RESOURCE", "PREFIX", "NAMES", "CREATOR", "NOTES"},
		rows: [][]string{
			{"jobs.batch", strings.Repeat("p", 40) + "1-", "10", "PipelineRun/" + long, long},
			{"jobs.batch", strings.Repeat("p", 40) + "2-", "10", "argo", ""},
		},
	}
	for _, test := range []struct {
		width  int
		widths []int // of resource, prefix, names, creator, notes
	}{
		{201, []int{10, 42, 5, 72, 60}},
		{180, []int{10, 42, 5, 72, 39}},
		{140, []int{10, 42, 5, 59, 12}},
		{100, []int{10, 42, 5, 19, 12}},
		{80, []int{10, 25, 5, 16, 12}},
		{66, []int{10, 26, 5, 16}},
		{40, []int{8, 10, 5, 8}},
		{36, []int{9, 16, 5}},
		{20, []int{8, 8, 5}},
	} {
		g := table.fit(test.width)
		var widths []int
		for i := range g.header {
			widths = append(widths, g.widthOf(i))
		}
		if diff := cmp.Diff(test.widths, widths); diff != "" || g.rows[0][1] == g.rows[1][1] {
			t.Errorf("%d columns: prefixes %q and %q, widths (-want +got):\n%s", test.width, g.rows[0][1], g.rows[1][1], diff)
		}
	}
	if len(table.header) != 5 || table.rows[0][4] != long {
		t.Error("the table itself has changed")
	}
}

// cells draws what a column may have: words of a few letters, so that many begin and end
// alike, and signs of several bytes.
func cells(most int) *rapid.Generator[string] {
	return rapid.StringMatching(fmt.Sprintf("[ab\\-é≥]{1,%d}", most))
}

// Whatever the rows and the width, no line is wider than the terminal as long as the
// least cells fit into it, and two rows that differ in what tells them apart look
// different.
func TestFitOfAnyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := (&options{allNamespaces: rapid.Bool().Draw(t, "namespaces")}).columns(&v1alpha1.AuditReport{
			Scope: v1alpha1.AuditScope{ComparedWith: rapid.SampledFrom([]*metav1.Time{nil, {}}).Draw(t, "compared")},
		})
		table := gridOf(columns, false, nil, nil)
		most := map[string]int{
			namespaceColumn: 63, resourceColumn: 50, prefixColumn: 58, "PER-DAY": 11, "GROWTH/DAY": 12, "NAMES": 9,
			creatorColumn: 70, "FAILS-IN": 10, notesColumn: 120,
		}
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			var row []string
			for _, name := range table.header {
				row = append(row, cells(most[name]).Draw(t, name))
			}
			table.rows = append(table.rows, row)
		}
		width := rapid.IntRange(60, 200).Draw(t, "width")
		fitted, least := table.fit(width), table.fit(1)
		for _, line := range fitted.lines(fitted.widen(nil), true) {
			if n := utf8.RuneCountInString(line); n > max(width, least.width()) {
				t.Errorf("%d columns, of which %d are needed: %d in %q", width, least.width(), n, line)
			}
		}
		for _, name := range []string{namespaceColumn, resourceColumn, prefixColumn} {
			at := slices.Index(table.header, name)
			shown := map[string]string{}
			for i := range table.rows {
				if at < 0 {
					break
				}
				whole, short := table.rows[i][at], fitted.rows[i][at]
				if other, twice := shown[short]; twice && other != whole {
					t.Errorf("%d columns: %s %q and %q are both shown as %q", width, name, whole, other, short)
				}
				shown[short] = whole
			}
		}
		if whole := table.fit(table.width()); !cmp.Equal(whole.rows, table.rows) {
			t.Errorf("what fits is changed:\n%s", cmp.Diff(table.rows, whole.rows))
		}
	})
}

// With all namespaces, 80 columns are enough for a table as it mostly is.
func TestFitOf80Columns(t *testing.T) {
	g := grid{
		header: []string{"NAMESPACE", "RESOURCE", "PREFIX", "NAMES", "PER-DAY", "CREATOR", "FAILS-IN", "NOTES"},
		rows: [][]string{
			{"payments-production", "pipelineruns.tekton.dev", "nightly-report-", "1,362,194", "≥13,938", "EventListener/main +2", "6y–never", "etcd first"},
			{"payments-staging", "configmaps", strings.Repeat("prefix-", 8), "120", "≥2,747", "kubectl-create", "447d–never", ""},
		},
	}
	want := []string{
		"NAMESPACE   RESOURCE   PREFIX        NAMES       PER-DAY   CREATOR    FAILS-IN",
		"paym…ion    pipe…dev   night…port-   1,362,194   ≥13,938   EventLi…   6y–never",
		"paym…ing    conf…aps   prefi…efix-   120         ≥2,747    kubectl…   447d–never",
	}
	fitted := g.fit(80)
	if got := fitted.lines(fitted.widen(nil), true); !cmp.Equal(want, got) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Rows that replicas bound are one line for each namespace, but for large ones and
// single ones.
func TestFolded(t *testing.T) {
	item := func(namespace, resource, prefix string, names int64, bounded bool) v1alpha1.AuditItem {
		return v1alpha1.AuditItem{Namespace: namespace, Resource: resource, Prefix: prefix, Names: names, ReplicaBounded: bounded}
	}
	items := []v1alpha1.AuditItem{
		item("a", "pods", "web-1-", 30, true), item("a", "pods", "run-", 40, false), item("a", "endpointslices", "web-", 10, true),
		item("a", "pods", "huge-1-", 101, true), item("b", "pods", "one-1-", 10, true),
		item("c", "pods", "x-1-", 100, true), item("c", "pods", "x-2-", 100, true),
	}
	left, folds := folded(items, 10)
	var prefixes, lines []string
	for _, i := range left {
		prefixes = append(prefixes, i.Prefix)
	}
	for _, f := range folds {
		lines = append(lines, fmt.Sprint(f.cell("NAMESPACE"), f.cell("RESOURCE"), f.cell("PREFIX"), f.cell("NAMES"), f.cell("PER-DAY")))
	}
	if diff := cmp.Diff([]string{"run-", "huge-1-", "one-1-"}, prefixes); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cpods(2 prefixes)200", "aendpointslices,pods(2 prefixes)40"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if len(items) != 7 || items[0].Prefix != "web-1-" {
		t.Error("the report itself has changed")
	}
}

// A prefix that would look like another one is quoted.
func TestPrefixText(t *testing.T) {
	for prefix, want := range map[string]string{
		"run-": "run-", "a b-": `"a b-"`, "a  b-": `"a  b-"`, `\u001b`: `"\\u001b"`,
	} {
		if got := prefixText(v1alpha1.AuditItem{Prefix: prefix}); got != want {
			t.Errorf("%q is shown as %s", prefix, got)
		}
	}
	if got := prefixText(v1alpha1.AuditItem{Prefix: "run-", SuffixLength: 8}); got != "run-{8}" {
		t.Errorf("with longer suffixes it is %s", got)
	}
}

// A gate that nobody can decide is an error, which an exceeded one goes before.
func TestJudgeGrowth(t *testing.T) {
	limit := 10.0
	o := &options{}
	report := &v1alpha1.AuditReport{Complete: true, Gate: &v1alpha1.AuditGate{FailAboveGrowth: &limit, Undecided: 2}}
	if err := o.evaluate(t.Context(), &audit.Result{Report: report}); err == nil || !strings.Contains(err.Error(), "2 prefixes") {
		t.Errorf("%v", err)
	}
	report.Gate.Exceeded = []v1alpha1.AuditExceeded{{Resource: "jobs.batch", Prefix: "p-", Names: 30, GrowthPerDay: days(math.Pi)}}
	report.Gate.ExceededCount = 1
	err := o.evaluate(t.Context(), &audit.Result{Report: report})
	if want := fmt.Sprintf(messages.GateExceeded, "1 prefix", "--fail-above-growth 10", "jobs.batch/p- with 30 names, +3.1 a day", "jobs.batch/p-"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// What is told of several is what is farthest above the limit that was given.
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

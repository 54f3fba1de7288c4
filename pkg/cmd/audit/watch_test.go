package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// followed is a row that has been followed for an hour.
func followed(prefix string, names, creates int64) v1alpha1.AuditItem {
	i := v1alpha1.AuditItem{PrefixRef: v1alpha1.PrefixRef{Resource: "jobs", Group: "batch", Namespace: "prod", Prefix: prefix}, Names: names}
	perDay := float64(creates) * 24
	i.Measured = &v1alpha1.Measured{Creates: creates, Seconds: 3600, RatePerDay: &perDay}
	return i
}

// reportOf returns a report of items, without --top.
func reportOf(items ...v1alpha1.AuditItem) *v1alpha1.AuditReport {
	return &v1alpha1.AuditReport{Items: items, Scope: v1alpha1.AuditScope{MinCount: 10}}
}

// newRun returns a run whose session reaches no cluster.
func newRun(t *testing.T) *run {
	t.Helper()
	o := newOptions(nil, genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	o.addFlags(&cobra.Command{})
	r := &run{settings: o.settings, layout: o.layout()}
	r.session = &scan.Session{
		IOStreams: o.IOStreams, Stderr: terminal.NewStderr(o.ErrOut), Prints: o.printFlags,
		ServerWait: cluster.ServerWait{For: time.Minute},
	}
	return r
}

// rowPrinterTo returns a printer for a pipe.
func rowPrinterTo(out, errOut io.Writer) *rowPrinter {
	return &rowPrinter{
		layout: layout{out: out, order: audit.ByRate, headers: true},
		line:   func(text string) { fmt.Fprintln(errOut, text) },
	}
}

// A pipe gets all rows, and later only those that have changed, under one header. Messages on stderr explain unknown
// rates, and name the rows that are no longer shown.
func TestAppending(t *testing.T) {
	const few = "is no longer shown, because it has fewer than 10 names, or no object has this generateName\n"
	young := followed("run-", 10, 0)
	young.Measured.RatePerDay = nil
	folded := reportOf()
	folded.Folded = []v1alpha1.AuditFolded{{Resource: "configmaps", Names: 12, Measured: followed("", 0, 12).Measured}}
	top := func(items ...v1alpha1.AuditItem) *v1alpha1.AuditReport {
		report := reportOf(items...)
		report.Scope.Top = 1
		return report
	}
	for name, test := range map[string]struct {
		reports        []*v1alpha1.AuditReport
		stdout, stderr string
	}{
		"rows that change": {
			[]*v1alpha1.AuditReport{
				reportOf(),
				reportOf(followed("job-", 20, 5), young),
				reportOf(followed("run-", 10, 0), followed("job-", 20, 5)),
				reportOf(followed("run-", 10, 1), followed("job-", 20, 5)), // one came, and one went
				reportOf(followed("run-", 10, 1)),
			},
			`RESOURCE     PREFIX       RATE   CREATED   DELETED   NAMES   CREATOR   NOTES
jobs.batch   job-         +5/h         5         0      20   ?
jobs.batch   run-            ?         0         0      10   ?
jobs.batch   run-         +1/h         1         0      10   ?
`,
			"RATE is ? until a prefix has been watched for 10 seconds.\njobs.batch/job- in prod " + few,
		},
		"objects of a fold that get rows of their own": {
			[]*v1alpha1.AuditReport{folded, reportOf()},
			"",
			"configmaps/(other names) is no longer shown, because its objects are few, or have rows of their own\n",
		},
		"a row that another one overtakes": {
			[]*v1alpha1.AuditReport{top(followed("run-", 20, 1)), top(followed("job-", 30, 2)), top()},
			"",
			"jobs.batch/run- in prod is no longer shown, because it is not among the first 1\njobs.batch/job- in prod " + few,
		},
	} {
		var out, errOut bytes.Buffer
		a := rowPrinterTo(&out, &errOut)
		for _, report := range test.reports {
			if err := a.show(report, live.Snapshot{}); err != nil {
				t.Fatal(err)
			}
		}
		if stdout, stderr := out.String(), errOut.String(); test.stdout != "" && stdout != test.stdout || stderr != test.stderr {
			t.Errorf("%s: %q and %q, want %q and %q", name, stdout, stderr, test.stdout, test.stderr)
		}
	}
}

// Showing a report doesn't shorten it, because the gates are evaluated with it afterwards.
func TestShownReportStaysWhole(t *testing.T) {
	a := rowPrinterTo(io.Discard, io.Discard)
	for range 2 {
		report := reportOf(followed("run-", 10, 0), followed("job-", 20, 5))
		last, _ := a.last(report)
		if err := last.Text(nil); err != nil {
			t.Fatal(err)
		}
		if len(report.Items) != 2 || report.Items[0].Prefix != "run-" || report.Items[1].Prefix != "job-" {
			t.Errorf("%+v, want run- and job-", report.Items)
		}
	}
}

// All rates have the unit in which the fastest row changes at least once. No rate is shown in the first ten seconds.
// After a gap, counts are lower bounds.
func TestRates(t *testing.T) {
	of := func(perDay float64) row {
		return row{AuditItem: v1alpha1.AuditItem{Measured: &v1alpha1.Measured{RatePerDay: &perDay, Creates: 7, Gaps: 1}}}
	}
	young, other := of(0), row{}
	young.Measured.RatePerDay = nil
	for _, test := range []struct {
		rows []row
		want string
	}{
		{[]row{of(20 * 86_400), of(864), of(0), young, other}, "+20/s +0.010/s 0/s ? ?"},
		{[]row{of(86_400), of(-43_200)}, "+1/s -0.50/s"},
		{[]row{of(86_399), of(-2 * 1440)}, "+60/min -2/min"},
		{[]row{of(1439), of(12)}, "+60/h +0.50/h"},
		{[]row{of(-3 * 86_400)}, "-3/s"},
		{[]row{young}, "?"},
	} {
		var got []string
		for _, r := range test.rows {
			got = append(got, unitOf(test.rows).text(&r))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q, want %s", got, test.want)
		}
	}
	gap := of(1)
	if got := sinceText(&gap, func(m *v1alpha1.Measured) int64 { return m.Creates }); got != "≥7" {
		t.Errorf("%q, want ≥7", got)
	}
}

// A screen has a row for each prefix, even if nothing changes, and complete lines below the table. If there is little
// room, the screen omits the last rows first.
func TestPaintedLines(t *testing.T) {
	p := &screenPrinter{layout: layout{order: audit.ByRate, headers: true}, notices: []string{strings.Repeat("a notice ", 15) + "ends"}}
	young := followed("young-", 10, 0)
	young.Measured.RatePerDay = nil
	unwatched := followed("unwatched-", 10, 0)
	unwatched.Measured = nil
	report := reportOf(followed("job-", 20, 5), followed("run-", 30, 3), followed("old-", 4000, 0), young, unwatched)
	status := live.Snapshot{Watched: 3, Quiet: 50}
	for _, test := range []struct{ width, height, rows, below int }{
		{80, 24, 5, 5}, {120, 24, 5, 5}, {80, 11, 5, 3}, {80, 6, 3, 2}, {80, 4, 2, 1}, {80, 2, 1, 1}, {80, 1, 0, 1}, {60, 24, 5, 7},
	} {
		table, below := p.lines(report, status, test.width, test.height)
		if len(table) != test.rows+min(test.rows, 1) || len(below) != test.below {
			t.Errorf("%+v: %d lines of a table and %d others", test, len(table), len(below))
		}
		for _, line := range append(table, below...) {
			if utf8.RuneCountInString(line) > test.width {
				t.Errorf("%+v: %q, want at most %d columns", test, line, test.width)
			}
		}
	}
	_, below := p.lines(report, status, 80, 24)
	want := []string{
		"RATE is ? until a prefix has been watched for 10 seconds.",
		"RATE, CREATED and DELETED are ? for types that aren't watched.",
	}
	if !slices.Equal(below[:2], want) || below[len(below)-1] != "0s; 3 types watched, 50 without prefixes; 0 events; q quits" {
		t.Errorf("%q, want %q first, and the status last", below, want)
	}
	if table, _ := p.lines(reportOf(), status, 80, 24); !slices.Equal(table, []string{"No generated names to show."}) {
		t.Errorf("%q, want that there are no names to show", table)
	}
}

// The last table of a screen has 20 rows. A line has the number of the others.
func TestLastTable(t *testing.T) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ptmx.Close(), tty.Close() }()
	r := newRun(t)
	r.layout.out = tty
	w := &watchRun{run: r, printer: &screenPrinter{layout: r.layout}}
	report := reportOf(slices.Repeat([]v1alpha1.AuditItem{followed("run-", 20, 5)}, 50)...)
	v := w.view(t.Context(), live.Snapshot{}, &audit.Result{Report: report})
	if n := len(v.Table.Rows); n != 20 || v.Next[0] != "30 more rows are not shown (--top=0 shows all)." {
		t.Errorf("%d rows, %q", n, v.Next)
	}
}

// A screen shows the newest notice. At its end, it prints the last notices.
func TestNotices(t *testing.T) {
	var errOut bytes.Buffer
	p := &screenPrinter{line: func(text string) { fmt.Fprintln(&errOut, text) }}
	for i := range maxNotices + 3 {
		p.notice(fmt.Sprint("notice ", i))
	}
	p.printNotices()
	lines := strings.Split(strings.TrimSpace(errOut.String()), "\n")
	if len(lines) != maxNotices+1 || lines[0] != "3 notices before the following ones are left out" || lines[1] != "notice 3" || lines[maxNotices] != "notice 102" {
		t.Errorf("%q, want that 3 are left out, and notices 3 to 102", lines)
	}
}

// A screen shows that no name has the prefix until there is a row. The line isn't printed again at the end.
func TestHints(t *testing.T) {
	var errOut bytes.Buffer
	p := &screenPrinter{layout: layout{order: audit.ByRate}, line: func(text string) { fmt.Fprintln(&errOut, text) }}
	p.hint("So far, no name has the prefix run-.")
	for range 2 {
		if _, below := p.lines(reportOf(), live.Snapshot{}, 80, 24); below[0] != "So far, no name has the prefix run-." {
			t.Errorf("%q, want the hint first", below)
		}
	}
	p.printNotices()
	if got, want := errOut.String(), "So far, no name has the prefix run-.\n"; got != want {
		t.Errorf("%q without rows, want %q", got, want)
	}
	errOut.Reset()
	_, below := p.lines(reportOf(followed("run-", 1, 1)), live.Snapshot{}, 80, 24)
	if p.printNotices(); errOut.Len() > 0 || strings.Contains(strings.Join(below, ""), "So far") {
		t.Errorf("%q and %q, want no hint beside a row", below, errOut.String())
	}
}

// During the first count, the audit prints three kinds of text as lines: notices, messages about an unreachable
// server, and pauses of a polite scan.
func TestReportsWhileItCounts(t *testing.T) {
	notices := make(chan string) // nothing stays in it
	w := &watchRun{run: newRun(t), engine: live.New(census.Scanner{})}
	w.reportTo(func(text string) { notices <- text })
	ended := make(chan error)
	go func() {
		w.engine.Scanner.Unreachable(errors.New("refused\x1b"), 3*time.Second)
		w.engine.Scanner.Resting(90 * time.Second)
		w.engine.Notify(live.Notice{Type: live.Appeared, Resource: schema.GroupResource{Resource: "gizmos"}})
		ended <- io.EOF
	}()
	if counted, err := w.counts(ended, notices); counted || !errors.Is(err, io.EOF) {
		t.Errorf("counted %t, %v, want false and EOF", counted, err)
	}
	const want = `Warning: the server is unreachable, so requests are retried for up to 1m0s: refused\u001b
Pausing for 1m30s, nine times as long as the last request took (--polite)
gizmos is a new resource type
`
	if got := w.run.session.IOStreams.ErrOut.(*bytes.Buffer).String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// factory is a factory that has only a configuration.
type factory struct {
	cmdutil.Factory
	config *rest.Config
}

func (f factory) ToRESTConfig() (*rest.Config, error) { return f.config, nil }

// fakeCluster is one without objects.
func fakeCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(t.Context(), factory{config: (&fakeapi.Server{}).Start(t)}, &flagvalue.Attempts{}, cluster.ServerWait{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The date of a report is the time of its counts, however long ago the watch began.
func TestReportIsDated(t *testing.T) {
	now := time.Now()
	r := newRun(t)
	r.config, r.session.Cluster = audit.Config{Began: now.Add(-24 * time.Hour), Order: audit.ByRate}, fakeCluster(t)
	w := newWatchRun(r)
	w.engine = live.New(census.Scanner{})
	_, result, err := w.report()
	if err != nil {
		t.Fatal(err)
	}
	at, seconds := result.Report.Metadata.CreationTimestamp, result.Report.Summary.Seconds
	if at.Time.Before(now) || seconds < 86_400 || seconds > 86_500 {
		t.Errorf("%v, %v seconds", at, seconds)
	}
}

// With a gate, an audit counts prefixes that --min-count hides, and so does a watch.
func TestScannerOfAGate(t *testing.T) {
	r := newRun(t)
	r.session.Cluster = fakeCluster(t)
	r.config = audit.Config{MinCount: 1000, FailAboveCount: new(int64(4))}
	if once, watch := r.scanner().MinCount, newWatchRun(r).newEngine().MinCount; once != 5 || watch != 5 {
		t.Errorf("from %d and %d names on", once, watch)
	}
}

// The screen shows a limited number of rows, unless the user sets --top. Pipes and reports
// get all rows.
func TestBound(t *testing.T) {
	for name, test := range map[string]struct {
		screen *screenPrinter
		given  bool
		want   int
	}{
		"a screen":                 {&screenPrinter{}, false, mostPainted},
		"a screen and --top=0":     {&screenPrinter{}, true, 0},
		"a pipe, or for a machine": {nil, false, 0},
	} {
		w := &watchRun{run: &run{layout: layout{limited: !test.given}}}
		if w.bound(test.screen); w.run.config.Top != test.want {
			t.Errorf("%s: %d rows, want %d", name, w.run.config.Top, test.want)
		}
	}
}

func TestStatus(t *testing.T) {
	began := time.Unix(0, 0)
	s := live.Snapshot{Began: began, At: began.Add(90 * time.Second), Watched: 3, Quiet: 40, Unwatched: 1, Events: 1234, Gaps: 2}
	const want = "1m30s of 2m0s; 3 types watched, 40 without prefixes, 1 counted again; 1,234 events; 2 gaps; q quits"
	if got := statusText(s, 2*time.Minute); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

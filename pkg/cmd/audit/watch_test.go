package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	common "github.com/kubectl-genname/kubectl-genname/pkg/cmd/messages"
)

// followed is a row that has been followed for an hour.
func followed(prefix string, names, creates int64) v1alpha1.AuditItem {
	i := v1alpha1.AuditItem{Resource: "jobs", Group: "batch", Namespace: "prod", Prefix: prefix, Names: names}
	perDay := float64(creates) * 24
	i.Creates.Measured = &v1alpha1.Measured{Creates: creates, Seconds: 3600, PerDay: perDay, PerDayUpper: perDay + 100}
	return i
}

// In a pipe come the rows that have changed, under one header, and what is not there
// any more is told on stderr.
func TestAppending(t *testing.T) {
	var out, errOut bytes.Buffer
	o := &options{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &errOut}, minCount: 10}
	a := &appending{options: o}
	for _, items := range [][]v1alpha1.AuditItem{
		{followed("run-", 10, 0), followed("job-", 20, 5)},
		{followed("run-", 10, 0), followed("job-", 20, 5)},
		{followed("run-", 10, 1), followed("job-", 20, 5)}, // one came, and one went
		{followed("run-", 10, 1)},
	} {
		if err := a.show(&v1alpha1.AuditReport{Items: items}, live.Snapshot{}); err != nil {
			t.Fatal(err)
		}
	}
	want := `RESOURCE     PREFIX   NAMES   PER-DAY   CREATOR   FAILS-IN   NOTES
jobs.batch   run-     10      0         ?         ?
jobs.batch   job-     20      120       ?         ?
jobs.batch   run-     10      24        ?         ?
`
	if got := strings.ReplaceAll(out.String(), "<unknown>", "?"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := errOut.String(); !strings.HasPrefix(got, fmt.Sprintf(messages.NotShown, "jobs.batch/job- -n prod", "")) || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

// A report that has been shown is whole: the gates are evaluated with it.
func TestShownReportStaysWhole(t *testing.T) {
	o := &options{IOStreams: genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard}, minCount: 10}
	a := &appending{options: o}
	for range 2 {
		report := &v1alpha1.AuditReport{Items: []v1alpha1.AuditItem{followed("run-", 10, 0), followed("job-", 20, 5)}}
		if err := a.last(report, ""); err != nil {
			t.Fatal(err)
		}
		if len(report.Items) != 2 || report.Items[0].Prefix != "run-" || report.Items[1].Prefix != "job-" {
			t.Errorf("%+v", report.Items)
		}
	}
}

// With --top, a row that others have overtaken is told to be just that.
func TestOvertaken(t *testing.T) {
	var errOut bytes.Buffer
	o := &options{IOStreams: genericiooptions.IOStreams{Out: io.Discard, ErrOut: &errOut}, minCount: 10, top: 1}
	a := &appending{options: o}
	for _, items := range [][]v1alpha1.AuditItem{{followed("run-", 20, 0)}, {followed("job-", 30, 0)}, {}} {
		if err := a.show(&v1alpha1.AuditReport{Items: items}, live.Snapshot{}); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf(messages.NotShown+"\n", "jobs.batch/run- -n prod", fmt.Sprintf(messages.NotFirst, 1)) +
		fmt.Sprintf(messages.NotShown+"\n", "jobs.batch/job- -n prod", fmt.Sprintf(messages.TooFew, "10 names"))
	if got := errOut.String(); got != want {
		t.Errorf("%q", got)
	}
}

// A screen shows the newest notice, however many came, and at the end the last ones.
func TestNotices(t *testing.T) {
	var errOut bytes.Buffer
	p := &painting{options: &options{IOStreams: genericiooptions.IOStreams{ErrOut: &errOut}}}
	for i := range maxNotices + 3 {
		p.notice(fmt.Sprint("notice ", i))
	}
	p.sayNotices()
	lines := strings.Split(strings.TrimSpace(errOut.String()), "\n")
	if len(lines) != maxNotices+1 || lines[0] != fmt.Sprintf(messages.Dropped, "3 notices") || lines[1] != "notice 3" || lines[maxNotices] != "notice 102" {
		t.Errorf("%q", lines)
	}
}

// What was told last is said, too.
func TestSayLeft(t *testing.T) {
	var errOut bytes.Buffer
	w := &watched{options: &options{IOStreams: genericiooptions.IOStreams{ErrOut: &errOut}}}
	notices := make(chan string, 3)
	notices <- noticeText(live.Notice{What: live.Appeared, Resource: schema.GroupResource{Resource: "gizmos"}})
	notices <- noticeText(live.Notice{What: live.Vanished, Resource: schema.GroupResource{Resource: "gadgets"}})
	w.sayLeft(notices)
	if got, want := errOut.String(), fmt.Sprintf(messages.Appeared+"\n"+messages.Vanished+"\n", "gizmos", "gadgets"); got != want {
		t.Errorf("%q", got)
	}
}

// That the server is away, and that a polite scan rests, is told as notices are: above the
// progress of the first count, and where the watch shows them after it.
func TestTellsWhileItCounts(t *testing.T) {
	notices := make(chan string) // nothing stays in it
	w := &watched{options: &options{}, engine: live.New(census.Scanner{})}
	w.manners.retryTimeout = flagvalue.Duration(time.Minute)
	w.tellOf(func(text string) { notices <- text })
	ended := make(chan error)
	go func() {
		w.engine.Scanner.Absent(errors.New("refused\x1b"), 3*time.Second)
		w.engine.Scanner.Resting(90 * time.Second)
		w.engine.Tell(live.Notice{What: live.Appeared, Resource: schema.GroupResource{Resource: "gizmos"}})
		ended <- io.EOF
	}()
	var out bytes.Buffer
	if counted, err := w.counts(ended, notices, terminal.StartProgress(&out)); counted || !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v", counted, err)
	}
	want := fmt.Sprintf(common.Unreachable, "1m0s", `refused\u001b`) + "\n" +
		fmt.Sprintf(messages.Resting, "1m30s") + "\n" + fmt.Sprintf(messages.Appeared, "gizmos") + "\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Discovery ends with its context, whatever the server does, and what is in a group that
// could not be discovered is not taken to be gone.
func TestDiscovery(t *testing.T) {
	of := func(group, name string) census.Resource {
		return census.Resource{GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: name}}
	}
	runs, gizmos, pods, jobs := of("tekton.dev", "runs"), of("example.com", "gizmos"), of("", "pods"), of("batch", "jobs")
	var found []census.Resource
	var skipped []census.Skipped
	var failure error
	w := &watched{}
	discover := w.discovery([]census.Resource{runs, gizmos, pods}, func(context.Context) ([]census.Resource, []census.Skipped, error) {
		return found, skipped, failure
	})
	for _, step := range []struct {
		found   []census.Resource
		skipped []census.Skipped
		want    []census.Resource
	}{
		{[]census.Resource{pods, jobs, runs}, []census.Skipped{{Group: "example.com"}}, []census.Resource{pods, jobs, runs, gizmos}},
		// As many as before, but others.
		{[]census.Resource{pods, jobs, gizmos}, []census.Skipped{{Group: "tekton.dev"}}, []census.Resource{pods, jobs, gizmos, runs}},
		{[]census.Resource{pods, runs}, []census.Skipped{{Group: "batch", Resource: "jobs"}}, []census.Resource{pods, runs}},
	} {
		found, skipped = step.found, step.skipped
		if got, err := discover(t.Context()); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("%v, %v, want %v", got, err, step.want)
		}
		if left := w.left(); !slices.Equal(left, step.skipped) {
			t.Errorf("%v are left out, want %v", left, step.skipped)
		}
	}
	failure = errors.New("no")
	if _, err := discover(t.Context()); !errors.Is(err, failure) {
		t.Error(err)
	}
	hangs := make(chan struct{})
	defer close(hangs)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	discover = w.discovery(nil, func(context.Context) ([]census.Resource, []census.Skipped, error) {
		<-hangs
		return nil, nil, nil
	})
	ended := make(chan error, 1)
	go func() {
		_, err := discover(ctx)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for the server")
	}
}

// factory is one of a configuration alone.
type factory struct {
	cmdutil.Factory
	config *rest.Config
}

func (f factory) ToRESTConfig() (*rest.Config, error) { return f.config, nil }

// fakeCluster is one whose server says its version and nothing else.
func fakeCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"gitVersion":"v1.36.0"}`)
	}))
	t.Cleanup(server.Close)
	c, err := cluster.New(t.Context(), factory{config: &rest.Config{Host: server.URL}}, &flagvalue.Attempts{}, cluster.Patience{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a watch has counted is dated by when it was counted, however long ago it began.
func TestReportIsDated(t *testing.T) {
	now := time.Now()
	w := &watched{
		options: &options{}, cluster: fakeCluster(t), engine: live.New(census.Scanner{}),
		about: audit.Options{Began: now.Add(-24 * time.Hour), Order: audit.ByRisk},
	}
	_, result, err := w.report()
	if err != nil {
		t.Fatal(err)
	}
	at, seconds := result.Report.Metadata.CreationTimestamp, result.Report.Summary.Seconds
	if at.Time.Before(now) || seconds < 86_400 || seconds > 86_500 {
		t.Errorf("%v, %v seconds", at, seconds)
	}
}

// So does the scan, also of what clients name, and who makes it.
func TestScannerOfAGate(t *testing.T) {
	c := fakeCluster(t)
	four := int64(4)
	o := &options{minCount: 1000}
	for name, test := range map[string]struct {
		about                  audit.Options
		minCount, creatorsFrom int64
	}{
		"no gate":  {audit.Options{MinCount: 1000}, 1000, 1000},
		"a gate":   {audit.Options{MinCount: 1000, FailAboveCount: &four}, 5, 0},
		"compared": {audit.Options{MinCount: 1000, Old: &v1alpha1.AuditReport{}}, 1, 1000},
	} {
		if got := o.scanner(c, test.about); got.MinCount != test.minCount || got.CreatorsFrom != test.creatorsFrom {
			t.Errorf("%s: from %d names on, and who makes them from %d", name, got.MinCount, got.CreatorsFrom)
		}
	}
}

// The engine knows what the gates look at, hidden or not.
func TestEngineOfAGate(t *testing.T) {
	c := fakeCluster(t)
	four := int64(4)
	w := &watched{options: &options{minCount: 10, named: true}, cluster: c, about: audit.Options{MinCount: 10, FailAboveCount: &four}}
	collector, err := audit.NewCollector(w.about, c.RetriesOf)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.newEngine(collector, nil, terminal.StartProgress(io.Discard)).MinCount; got != 5 {
		t.Errorf("it counts from %d names on", got)
	}
}

// A screen is painted of no more rows than anybody looks through, unless the user says how
// many; what is printed for others is whole.
func TestBound(t *testing.T) {
	for name, test := range map[string]struct {
		shows showing
		given bool
		want  int
	}{
		"a screen":              {&painting{}, false, mostPainted},
		"a screen and --top=0":  {&painting{}, true, 0},
		"a pipe":                {&appending{}, false, 0},
		"reports for a machine": {&stream{}, false, 0},
	} {
		w := &watched{options: &options{given: func(flag string) bool { return flag == "top" && test.given }}, shows: test.shows}
		if w.bound(); w.about.Top != test.want || w.top != test.want {
			t.Errorf("%s: %d and %d rows, want %d", name, w.about.Top, w.top, test.want)
		}
	}
}

// That rows are below is not all where --top has left some out.
func TestBelow(t *testing.T) {
	for _, test := range []struct {
		top, items int
		want       string
	}{
		{0, 0, fmt.Sprintf(messages.Below, "7 rows")},
		{30, 29, fmt.Sprintf(messages.Below, "7 rows")},
		{30, 30, fmt.Sprintf(messages.BelowTop, "7 rows", 30)},
	} {
		if got := (&options{top: test.top}).belowText(7, test.items); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestMeasuredPerDay(t *testing.T) {
	short := followed("run-", 10, 0) // nothing came, but that excludes little
	short.Creates.WindowSeconds, short.Creates.PerDay = 86_400, 50
	gaps := followed("run-", 10, 5)
	gaps.Creates.Measured.Gaps = 1
	for want, item := range map[string]v1alpha1.AuditItem{
		"120": followed("run-", 10, 5), "≥50": short, "≥120": gaps,
	} {
		if got := perDayText(item); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestValidateWatching(t *testing.T) {
	for complaint, test := range map[string]struct {
		w       watching
		given   string
		metrics bool
	}{
		messages.WatchFlagsAlone: {watching{interval: 1, duration: 5}, "duration", false},

		fmt.Sprintf(messages.NegativeDuration, "--duration", "-5ns"): {watching{watch: true, interval: 1, duration: -5}, "duration", false},
		fmt.Sprintf(messages.BadInterval, "0s"):                      {watching{watch: true}, "interval", false},
		messages.OpenMetricsWatch:                                    {watching{watch: true, interval: 1}, "", true},
		"":                                                           {watching{watch: true, interval: flagvalue.Duration(time.Second)}, "interval", false},
	} {
		o := &options{watching: test.w, openMetrics: test.metrics, given: func(flag string) bool { return flag == test.given }}
		err := o.validateWatching()
		if (err == nil) != (complaint == "") || err != nil && err.Error() != complaint {
			t.Errorf("%+v: %v", test.w, err)
		}
	}
}

func TestWatchedText(t *testing.T) {
	s := live.Snapshot{Watched: 2, Events: 200, Idle: 50}
	if got, want := watchedText(s), fmt.Sprintf(messages.WatchedIdle, "2 types", "200 events", 25.0, "0 gaps"); got != want {
		t.Errorf("%q", got)
	}
	if got, want := watchedText(live.Snapshot{Gaps: 1}), fmt.Sprintf(messages.Watched, "0 types", "0 events", "1 gap"); got != want {
		t.Errorf("%q", got)
	}
}

func TestStatus(t *testing.T) {
	began := time.Unix(0, 0)
	s := live.Snapshot{Began: began, At: began.Add(90 * time.Second), Watched: 3, Quiet: 40, Unwatched: 1, Events: 1234, Gaps: 2}
	want := strings.Join([]string{
		fmt.Sprintf(messages.Passed, "1m30s", "2m0s"),
		fmt.Sprintf(messages.Watching+messages.Recounted, "3 types", 40, 1), "1,234 events", "2 gaps", messages.Quit,
	}, "; ")
	if got := statusText(s, 2*time.Minute); got != want {
		t.Errorf("%q", got)
	}
}

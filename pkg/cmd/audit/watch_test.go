package audit

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/internal/live"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
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
	a := &appending{options: o, seen: changes{}}
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
	want := `RESOURCE     PREFIX   NAMES   PER-DAY   MADE-BY   FIRST-IN   NOTES
jobs.batch   run-     10      0         ?         ?
jobs.batch   job-     20      120       ?         ?
jobs.batch   run-     10      24        ?         ?
`
	if got := strings.ReplaceAll(out.String(), "<unknown>", "?"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := errOut.String(); !strings.HasPrefix(got, "jobs.batch/job- -n prod is not shown any more") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
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
		"need --watch":                {watching{interval: 1, duration: 5}, "duration", false},
		"--duration must not be neg":  {watching{watch: true, interval: 1, duration: -5}, "duration", false},
		"--interval must be positive": {watching{watch: true}, "interval", false},
		"takes no --watch":            {watching{watch: true, interval: 1}, "", true},
		"":                            {watching{watch: true, interval: flagvalue.Duration(time.Second)}, "interval", false},
	} {
		o := &options{watching: test.w, openMetrics: test.metrics, given: func(flag string) bool { return flag == test.given }}
		err := o.validateWatching()
		if (err == nil) != (complaint == "") || err != nil && !strings.Contains(err.Error(), complaint) {
			t.Errorf("%+v: %v", test.w, err)
		}
	}
}

func TestWatchedText(t *testing.T) {
	s := live.Snapshot{Watched: 2, Events: 200, Idle: 50}
	if got, want := watchedText(s), "Watched 2 types: 200 events, of which 25 % changed no count, 0 gaps"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := watchedText(live.Snapshot{Gaps: 1}), "Watched 0 types: 0 events, 1 gap"; got != want {
		t.Errorf("%q", got)
	}
}

func TestStatus(t *testing.T) {
	began := time.Unix(0, 0)
	s := live.Snapshot{Began: began, At: began.Add(90 * time.Second), Watched: 3, Quiet: 40, Unwatched: 1, Events: 1234, Gaps: 2}
	want := "1m30s of 2m0s; 3 types watched, 40 quiet, 1 counted again; 1,234 events; 2 gaps; q quits"
	if got := statusText(s, 2*time.Minute); got != want {
		t.Errorf("%q", got)
	}
}

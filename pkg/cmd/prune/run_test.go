package prune

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// restarting is a server that is not ready for 40 s. Afterwards it responds to reviews with a code, and its clock is
// ahead of this machine's.
type restarting struct {
	code  int
	ahead time.Duration
}

func (s restarting) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, "{}"
	if strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
		body = `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":"` +
			time.Now().Add(s.ahead).UTC().Format(time.RFC3339) + `"}}`
		if code = s.code; time.Since(synctestEpoch) < 40*time.Second {
			code = http.StatusServiceUnavailable
		}
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// synctestEpoch is the time at which the clock of a test with synctest begins.
var synctestEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// If the request for the server's time is repeated, that delay doesn't count as a difference of the clocks.
func TestAskTime(t *testing.T) {
	for server, want := range map[restarting]string{
		{http.StatusCreated, 0}:           "<nil>",
		{http.StatusCreated, time.Minute}: "differs from the server's by",
		{http.StatusForbidden, 0}:         "the server doesn't tell its time",
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := "http://server"
				flags := genericclioptions.NewConfigFlags(false).WithWrapConfigFn(func(c *rest.Config) *rest.Config {
					c.Transport = server
					return c
				})
				flags.APIServer = &host
				wait := cluster.ServerWait{For: time.Minute, Print: func(string) {}}
				c, err := cluster.New(t.Context(), cmdutil.NewFactory(flags), nil, wait)
				if err != nil {
					t.Fatal(err)
				}
				session := scan.Offline(genericiooptions.NewTestIOStreamsDiscard(), nil)
				defer session.Stderr.End()
				session.Cluster = c
				var o options
				if o.age, err = parseAge("older-than", "5m"); err != nil {
					t.Fatal(err)
				}
				if _, err := o.askTime(t.Context(), session); !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}

// The share of a plan ignores names that only look generated from the prefix.
func TestExceeded(t *testing.T) {
	var limit share
	report := &v1alpha1.PruneReport{}
	report.Summary.PruneCounts = v1alpha1.PruneCounts{Chosen: 2, Left: []v1alpha1.PruneLeft{
		{Reason: v1alpha1.PruneTooYoung, Objects: 1}, {Reason: v1alpha1.PruneNotGenerated, Objects: 7},
	}}
	for percentage, want := range map[string]string{"66%": "the plan deletes 2 of 3 objects, above --max-delete 66%", "67%": "<nil>"} {
		if err := limit.Set(percentage); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(exceeded(report, limit)); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A plan begins with the oldest object, and leaves out a creator whose objects are all in use.
func TestItemOfAPlan(t *testing.T) {
	creators := []v1alpha1.PruneCreator{{Creator: "a", Chosen: 2}, {Creator: "b"}, {Creator: "c", Left: 1}}
	item := itemOf(&prune.Pool{Objects: []prune.Object{{Created: 100}, {Created: 200}}, Creators: creators}, time.Unix(300, 0))
	if oldest, newest := item.Oldest.Unix(), item.Newest.Unix(); oldest != 100 || newest != 200 {
		t.Errorf("from %d to %d, want from 100 to 200", oldest, newest)
	}
	if want := []v1alpha1.PruneCreator{creators[0], creators[2]}; !slices.Equal(item.Creators, want) {
		t.Errorf("created by %+v, want %+v", item.Creators, want)
	}
}

// --keep doesn't count objects that stay for other reasons. Restored Pods run again, because only Jobs and similar
// types have a field that suspends them.
func TestLinesAboutKeptAndRestored(t *testing.T) {
	plan, report := &prune.Plan{}, &v1alpha1.PruneReport{Complete: true}
	for _, kind := range []string{"Pod", "Job"} {
		kinds := map[string]schema.GroupVersionResource{
			"Pod": {Version: "v1", Resource: "pods"}, "Job": {Group: "batch", Version: "v1", Resource: "jobs"},
		}
		resource := census.Resource{GroupVersionResource: kinds[kind], Kind: kind}
		plan.Pools = append(plan.Pools, &prune.Pool{Resource: resource, Objects: make([]prune.Object, 1)})
	}
	report.Summary.PruneCounts = v1alpha1.PruneCounts{Deleted: 2, Chosen: 2, Saved: 2, Left: []v1alpha1.PruneLeft{
		{Reason: v1alpha1.PruneNewest, Objects: 2}, {Reason: v1alpha1.PruneNotFinished, Objects: 1},
	}}
	want := []string{
		"3 objects left: 2 among the newest, 1 not finished (--running includes them).",
		"--keep doesn't count objects that are left for other reasons.",
	}
	if got := leftText(report); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	report.Summary.Left = []v1alpha1.PruneLeft{{Reason: v1alpha1.PruneNotSelected, Objects: 1}, {Reason: v1alpha1.PruneChanged, Objects: 2}}
	if got, _ := leftReasons(report); got != "1 with other labels by now, 2 changed after the plan" {
		t.Error(got)
	}
	lines := savedLines(plan, report, "dir")
	if got := lines[len(lines)-1]; got != "Warning: restored pods start again, also those that have finished" {
		t.Errorf("%q, want as the last that restored pods start again", lines)
	}
}

// Objects that might be in use need --in-use only if a built-in type can't be listed.
func TestTypesThatCannotBeListed(t *testing.T) {
	for skipped, want := range map[v1alpha1.Skipped]string{
		{Resource: "pods"}: "--in-use --max-delete 1", {Group: "argoproj.io", Resource: "workflows"}: "",
	} {
		report := &v1alpha1.PruneReport{Skipped: []v1alpha1.Skipped{skipped}}
		report.Summary.Chosen = 1
		o := options{yes: true}
		words := o.planCommand(&prune.Plan{}, report, "")
		gate := o.planView(&prune.Plan{}, report, "", nil).Gate
		if got := strings.Join(words[3:], " "); got != want || (gate != nil) != (want != "") {
			t.Errorf("without permission to list %s: %q and %v, want %q", skipped.Resource, got, gate, want)
		}
	}
}

func TestOrphansComplete(t *testing.T) {
	streams := genericiooptions.NewTestIOStreamsDiscard()
	cmd := New(connection.New(streams), streams)
	if err := cmd.ParseFlags([]string{"--orphaned"}); err != nil {
		t.Fatal(err)
	}
	if got, _ := cmd.ValidArgsFunction(cmd, nil, ""); !slices.Equal(got, []string{"pods"}) {
		t.Errorf("%q, want pods", got)
	}
}

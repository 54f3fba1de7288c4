package prune

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
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

// The time for which the request for the server's time is repeated is no difference of the clocks.
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
				patience := cluster.Patience{For: time.Minute, Print: func(string) {}}
				c, err := cluster.New(t.Context(), cmdutil.NewFactory(flags), nil, patience)
				if err != nil {
					t.Fatal(err)
				}
				session := scan.Offline(genericiooptions.NewTestIOStreamsDiscard(), nil)
				defer session.End()
				session.Cluster = c
				r := &run{options: &options{}, session: session}
				if r.age, err = parseAge("older-than", "5m"); err != nil {
					t.Fatal(err)
				}
				if err := r.askTime(t.Context()); !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}

// The share of a plan ignores names that only look generated from the prefix.
func TestExceeded(t *testing.T) {
	r := &run{options: &options{}, report: &v1alpha1.PruneReport{}}
	r.report.Summary.PruneCounts = v1alpha1.PruneCounts{Chosen: 2, Left: []v1alpha1.PruneLeft{
		{Reason: v1alpha1.PruneTooYoung, Objects: 1}, {Reason: v1alpha1.PruneNotGenerated, Objects: 7},
	}}
	for percentage, want := range map[string]string{"66%": "the plan deletes 2 of 3 objects, above --max-delete 66%", "67%": "<nil>"} {
		if err := r.maxDelete.Set(percentage); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.exceeded()); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

package census

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// An estimate requests one object, and is close to the requests of a scan.
func TestEstimate(t *testing.T) {
	for _, version := range []string{"1.34", "v1.30.14"} {
		a := &fakeapi.Server{}
		a.Set(inOrder(12_000))
		s := &Scanner{Config: a.Start(t), Version: version, limits: limitsWithTime(version, time.Hour)}
		estimates, skipped, err := s.Estimate(t.Context(), []Resource{configMaps}, "a")
		if err != nil || len(skipped) != 0 || len(estimates) != 1 {
			t.Fatalf("%+v, %+v, %v", estimates, skipped, err)
		}
		if diff := cmp.Diff([]int64{1}, limitsOf(t, a)); diff != "" {
			t.Errorf("asked for (-want +got)\n%s", diff)
		}
		e := estimates[0]
		_, summary := count(t, s, "a", configMaps)
		if e.Objects != 12_000 || !e.Known || e.Requests != summary.Requests {
			t.Errorf("version %s: %+v; a scan made %d requests", version, e, summary.Requests)
		}
		if e.AtOnce != bigAtOnce || e.Bytes < 12_000*20 {
			t.Errorf("version %s: %+v", version, e)
		}
	}
}

// The seats of a page, by version. They were calculated by hand from list_work_estimator.go.
func TestSeats(t *testing.T) {
	for _, test := range []struct {
		version        string
		objects, bytes int64
		want           int
	}{
		{"v1.30.14", 1, 1_000, 1},
		{"v1.30.14", 101, 1_000, 3},
		{"v1.33.0", 2_000, 1, 10},
		{"", 2_000, 1, 10},
		{"v1.34.0", 1, 1_000, 1},
		{"v1.34.0", 1_000, 2_000, 20},
		{"v1.37.1", 25_000, 2_000, 100},
	} {
		s, err := (&Scanner{Config: &rest.Config{}, Version: test.version}).newScan(decode.Asked{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.seats(test.objects, test.bytes); got != test.want {
			t.Errorf("%+v: %d seats", test, got)
		}
	}
}

// A type that can't be listed is skipped. If the server reports no number of objects, the estimate is
// not Known.
func TestEstimateOfLittle(t *testing.T) {
	a := &fakeapi.Server{NoCounts: true}
	a.Set(inOrder(3))
	forbidden := configMaps
	forbidden.Resource = "secrets"
	a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/v1/secrets" {
			return false
		}
		fakeapi.Fail(w, http.StatusForbidden, "")
		return true
	}
	var last Progress
	s := &Scanner{Config: a.Start(t), Progress: func(p Progress) { last = p }}
	estimates, skipped, err := s.Estimate(t.Context(), []Resource{forbidden, configMaps}, "")
	if err != nil || len(estimates) != 1 || len(skipped) != 1 || skipped[0].Reason != Forbidden {
		t.Fatalf("%+v, %+v, %v", estimates, skipped, err)
	}
	if e := estimates[0]; e.Known || e.Objects != 1 {
		t.Errorf("%+v", e)
	}
	if last.Types != 2 || last.Done != 2 || last.Objects != 1 {
		t.Errorf("%+v", last)
	}
}

// docs/internals/audit-engine.md has the number of requests per type.
func TestRequestsInDocs(t *testing.T) {
	docs, err := os.ReadFile("../../docs/internals/audit-engine.md")
	if err != nil {
		t.Fatal(err)
	}
	requests := func(version string, objects int64) int64 {
		s, err := (&Scanner{Config: &rest.Config{}, Version: version}).newScan(decode.Asked{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		l := s.newList(configMaps, "a")
		l.bytes = 1000
		return s.estimateOf(l, decode.Page{Objects: 1, Remaining: objects - 1, Continue: "x"}).Requests
	}
	for objects, text := range map[int64]string{1_000: "1,000", 20_000: "20,000", 100_000: "100,000", 1_000_000: "1,000,000"} {
		row := fmt.Sprintf("| %s | %d | %d |", text, requests("1.33", objects), requests("1.34", objects))
		if !strings.Contains(string(docs), row) {
			t.Errorf("docs/internals/audit-engine.md does not say %s", row)
		}
	}
}

package census_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// If a server is killed during a list and restarted, the scanner continues. No object is lost, and none counts twice.
func testRestart(t *testing.T, c *cluster) {
	s := census.Scanner{Config: c.Admin(), ChunkSize: 3000}
	want := c.count(t, &s, "", configMaps)
	started := make(chan error, 1)
	var once sync.Once
	pages := 0
	s.Config.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(request)
			if pages++; pages == 4 {
				once.Do(func() {
					if err := c.Servers[0].Kill(); err != nil {
						t.Error(err)
					}
					go func() { started <- c.Servers[0].Start(t.Context()) }()
				})
			}
			return response, err
		})
	})
	s.Concurrency = 1
	got, summary := scan(t, &s, []census.Resource{configMaps}, "team")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	inTeam := want[:0]
	for _, pool := range want {
		if pool.Namespace == "team" {
			inTeam = append(inTeam, pool)
		}
	}
	if diff := cmp.Diff(inTeam, got); diff != "" || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
		t.Errorf("%+v (-want +got)\n%s", summary, diff)
	}
	if pages < 7 {
		t.Errorf("the list had %d requests only", pages)
	}
}

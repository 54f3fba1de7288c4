package census_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// checkCreators compares the creators and clients that the scanner finds with the known population.
func checkCreators(t *testing.T, got []pools.Pool) {
	t.Helper()
	manager := object.Creator{Manager: "census.test", Certain: true}
	found := 0
	wrong := func(s pools.Pool) { // %+v prints only the GroupResource
		t.Errorf("%s: %+v, creators %d, names %d, generated %d, client-generated %v, with an ID %v, generateNames %q",
			s.Prefix, s.Creator, s.Creators, s.Names, s.Generated, s.ClientGenerated, s.HasCreationID, s.GenerateNames)
	}
	for _, s := range got {
		if s.Namespace != "team" || s.GroupResource != configMaps.GroupResource() {
			continue
		}
		switch {
		case s.Prefix == "job-b":
			found++
			if s.Creator != manager || s.Creators != 1 || s.ClientGenerated {
				wrong(s)
			}
		case s.Prefix == "md-":
			found++
			controller := manager
			controller.APIVersion, controller.Kind, controller.Name = "example.dev/v1", "Set", "md"
			if s.Creator != controller || !s.ClientGenerated || s.Names != 12 {
				wrong(s)
			}
		case s.Prefix == "long-":
			found++
			if !s.HasCreationID || s.Names != 12 || s.Generated != 12 {
				wrong(s)
			}
		case strings.HasPrefix(s.Prefix, "long-long-"):
			found++
			if len(s.GenerateNames) != 3 || s.RawPrefixes != 3 {
				wrong(s)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d of 4 pools", found)
	}
}

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

package audit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// ofItsOwn returns the retries of a server that tries so many names itself, and of
// which nothing is known for example.dev.
func ofItsOwn(attempts int) RetriesOf {
	return func(api schema.GroupVersion) (v1alpha1.Retries, string) {
		if api.Group == "example.dev" {
			return retries(0)(api)
		}
		return retries(attempts)(api)
	}
}

// rated is a space of which so many names are created a day, always.
func rated(prefix string, names, perDay int64) census.NamePool {
	s := space(prefix, names)
	s.Recent = recent(perDay/144, perDay/24, perDay, 7*perDay)
	return s
}

// Two million names rank before a hundred prefixes of ten whose attempts are unknown,
// and before those without a retry; so does every space above 100,000. Where no
// create is likely to fail, names decide.
func TestRisk(t *testing.T) {
	spaces := []census.NamePool{
		rated("large-", 100_000, 0), rated("huge-", 2_000_000, 5), rated("busy-", 90_000, 2_000_000),
		rated("quiet-", 5000, 100), rated("slow-", 400, 20),
	}
	for i := range 100 {
		few := rated(fmt.Sprintf("few%02d-", i), 10, 10)
		few.Resource = resource("example.dev", "widgets") // unknown attempts
		spaces = append(spaces, few)
	}
	client := rated("client-", 99, 4000)
	client.ClientGenerated = true
	spaces = append(spaces, client)
	want := []string{"huge-", "large-", "busy-", "client-", "quiet-", "slow-", "few00-"}
	for _, top := range []int{0, len(want)} { // also while it is trimmed
		c := collector(Options{Top: top})
		c.retriesOf = ofItsOwn(8)
		add(c, true, spaces...)
		report := finish(t, c).Report
		if diff := cmp.Diff(want, prefixes(report)[:len(want)]); diff != "" {
			t.Errorf("top %d (-want +got):\n%s", top, diff)
		}
		huge, few := report.Items[0], report.Items[len(want)-1]
		if *huge.Room.NoRetry != 0 || *huge.Room.ServerRetry < 5000 || *huge.Room.ServerRetry > 10_000 || !slices.Contains(huge.Notes, "strains etcd") ||
			few.Room.ServerRetry != nil || *few.Room.NoRetry != 160 || few.NextCreate.ServerRetry != nil {
			t.Errorf("top %d: %+v, %+v", top, huge, few)
		}
	}
}

// A rate is what the windows show together, so that what was created in ten minutes
// goes before what was created in a day.
func TestByRate(t *testing.T) {
	loop := space("loop-", 1900)
	loop.Recent = recent(1900, 1900, 1900, 1900)
	c := collector(Options{Order: ByRate})
	add(c, true, rated("ci-", 40_000, 5000), loop, rated("old-", 90_000, 0))
	if diff := cmp.Diff([]string{"loop-", "ci-", "old-"}, prefixes(finish(t, c).Report)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

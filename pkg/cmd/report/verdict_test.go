package report

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// If creates fail, a hint names prune for types whose old objects can be useless, but not for claims with data.
func TestHints(t *testing.T) {
	for resource, want := range map[string]bool{"configmaps": true, "persistentvolumeclaims": false, "services": false} {
		one := v1alpha1.Retries{Attempts: new(1), AttemptsSource: v1alpha1.SourceVersion}
		config := report.Config{
			SuffixLength: 5, ClientAttempts: 16, Probability: 0.001, Creates: []int64{1},
			Server: v1alpha1.CollisionServer{Retries: one},
		}
		full := report.Population{PrefixRef: v1alpha1.PrefixRef{Resource: resource, Namespace: "n", Prefix: "x-"}, Existing: 5_000_000, Server: one}
		r, err := report.New(t.Context(), config, []report.Population{full})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(hints(r), "\n")
		if strings.Contains(got, "kubectl genname prune "+resource+"/x- -n n") != want || !strings.Contains(got, "genname create") {
			t.Errorf("%s: %s", resource, got)
		}
	}
}

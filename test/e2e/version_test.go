package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The number of attempts of an aggregated API is unknown, whatever kube-apiserver does. A user who
// can't list APIServices can't know which APIs are aggregated, except Kubernetes' own groups.
func TestRetriesOfAggregatedAPIs(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "api.yaml", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.aggregated.e2e}
spec: {group: aggregated.e2e, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {name: other, namespace: default}}
`)).Expect(t, 0, `apiservice.apiregistration.k8s.io/v1.aggregated.e2e created\n`, ``)
	for _, test := range []struct {
		user *rest.Config
		api  schema.GroupVersion
		want v1alpha1.AttemptsSource
		why  string
	}{
		{cp.Admin(), schema.GroupVersion{Group: "batch", Version: "v1"}, v1alpha1.SourceVersion, ""},
		{cp.Admin(), schema.GroupVersion{Group: "custom.e2e", Version: "v1"}, v1alpha1.SourceVersion, ""},
		{cp.Admin(), schema.GroupVersion{Group: "aggregated.e2e", Version: "v1"}, v1alpha1.SourceUnknown, "attempts unknown: aggregated API"},
		{cp.User("someone"), schema.GroupVersion{Group: "batch", Version: "v1"}, v1alpha1.SourceVersion, ""},
		{cp.User("someone"), schema.GroupVersion{Group: "custom.e2e", Version: "v1"}, v1alpha1.SourceUnknown, "attempts unknown: might be an aggregated API (needs list on apiservices)"},
	} {
		server, err := serverinfo.Get(t.Context(), test.user)
		if err != nil {
			t.Fatal(err)
		}
		if retries, why := server.RetriesOf(test.api); retries.AttemptsSource != test.want || why != test.why {
			t.Errorf("%s: %s, %q, want %s, %q", test.api, retries.AttemptsSource, why, test.want, test.why)
		}
	}
}

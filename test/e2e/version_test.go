package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/serverinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/version/messages"
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

// Both servers are the same binary and report the same minor version. One emulates a version in which
// the retries are locked, so their number is known to all users. For the other one, only the metric
// shows it. A user who can't read the metric gets the default, and a note that it is only the default.
func TestVersion(t *testing.T) {
	t.Parallel()
	const client = `Client Version: [^\n]+\n`
	prints := func(version, emulated string, attempts int, source string) string {
		return regexp.QuoteMeta(fmt.Sprintf(messages.Server+"\n", version, emulated) +
			fmt.Sprintf(messages.Attempts+"\n", fmt.Sprintf(messages.Known, attempts, source)))
	}
	for _, test := range []struct {
		name   string
		cp     *controlplane.ControlPlane
		groups []string
		want   string
	}{
		{"retrying", retrying, []string{"system:masters"}, prints("v1.34.4", "", 8, messages.FromVersion)},
		{"retrying, few permissions", retrying, nil, prints("v1.34.4", "", 8, messages.FromVersion)},
		{"single", single, []string{"system:masters"}, prints("v1.34.4", fmt.Sprintf(messages.Emulates, "1", "31"), 1, messages.FromMetric)},
		{"single, monitoring", single, []string{"system:monitoring"}, prints("v1.34.4", fmt.Sprintf(messages.Emulates, "1", "31"), 1, messages.FromMetric)},
		{"single, few permissions", single, nil, prints("v1.34.4", fmt.Sprintf(messages.Emulates, "1", "31"), 8, messages.FromDefault)},
	} {
		t.Run(test.name, func(t *testing.T) {
			harness.As(t, test.cp.User("someone", test.groups...)).Run("version").Expect(t, 0, client+test.want, ``)
		})
	}
}

func TestVersionForMachines(t *testing.T) {
	t.Parallel()
	u := harness.As(t, single.Admin())
	u.Run("version", "-o", "jsonpath={.kind} {.server.attempts} {.server.attemptsSource} {.server.emulationMinor}").
		Expect(t, 0, `VersionReport 1 metric 31`, ``)
	if r := u.Run("version", "--client", "-o", "json"); r.Code != 0 || !strings.Contains(r.Stdout, `"server": null`) {
		t.Errorf("%+v", r)
	}
}

func TestVersionWithoutServer(t *testing.T) {
	t.Parallel()
	u := harness.As(t, single.Admin())
	u.Run("version", "--server=https://127.0.0.1:1").Expect(t, 1, `Client Version: [^\n]+\n`,
		`error: ask the server for its version: Get "https://127.0.0.1:1/version": dial tcp 127.0.0.1:1: connect: connection refused\n`)
	u.Run("version", "--client", "--server=https://127.0.0.1:1").Expect(t, 0, `Client Version: [^\n]+\n`, ``)
}

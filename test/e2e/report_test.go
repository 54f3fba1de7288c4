package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

func TestReportOfAPrefix(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	u := harness.As(t, single.Admin())
	u.Run("report", "configmaps/run-", "cm/nobody-says-", "-n", ns, "--creates=10", "-o",
		`jsonpath={range .items[*]}{.resource} {.prefix} {.existing} {.policies[1].attempts};{end}`).
		Expect(t, 0, `configmaps run- 17 1;configmaps nobody-says- 0 1;`,
			harness.Printed("Warning: no object of %s in namespace %s has the prefix %s. A prefix is a whole generateName: is a '-' missing, or is it in another namespace?\n  kubectl genname audit configmaps/nobody-says- -A", "configmaps", ns, "nobody-says-"))
	u.Run("report", "configmaps/none-", "-n", ns, "--creates=10").Expect(t, 0,
		reported("configmaps/none-", ns, "1 name")+`.*\nthis server, 1 attempt +1 in 260,000 +168\n.*`, createInstead)
	u.Run("report", "configmaps/nobody-says-", "-n", ns, "--creates=10").Expect(t, 0,
		reported("configmaps/nobody-says-", ns, "no names")+`.*`,
		harness.Printed("Warning: no object of %s in namespace %s has the prefix %s. A prefix is a whole generateName: is a '-' missing, or is it in another namespace?\n  kubectl genname audit configmaps/nobody-says- -A", "configmaps", ns, "nobody-says-")+createInstead)
}

// createInstead is the hint about a server without retries.
var createInstead = harness.Printed("To try up to %s per create, use:\n  kubectl genname create -f FILENAME", "16 names")

// reported is the beginning of the verdict about a prefix.
func reported(prefix, namespace, names string) string {
	place := regexp.QuoteMeta(prefix + " in " + namespace)
	words := strings.Fields(strings.ReplaceAll(harness.Printed("%s has %s.", place, names), `\n`, ""))
	return strings.Join(words, `\s`)
}

const reportedManifests = `
apiVersion: v1
kind: ConfigMap
metadata: {generateName: run-}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-a-}}
- {apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-}}
- {apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-, name: named}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: other}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {generateName: nobody-has-}}
`

const countsOf = `jsonpath={range .items[*]}{.resource} {.namespace} {.prefix} {.existing} {.policies[1].attempts};{end}`

// The names with the prefixes of manifests are counted, each prefix once.
func TestReportOfManifests(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	u := harness.As(t, single.Admin())
	path := harness.File(t, "objects.yaml", reportedManifests)
	u.Run("report", "-f", path, "-n", ns, "--creates=10", "-o", countsOf).Expect(t, 0,
		fmt.Sprintf(`configmaps %[1]s run- 17 1;configmaps %[1]s run-a- 15 1;clusterroles  nobody-has- 0 1;`, ns),
		harness.Printed("Warning: %s: skipped %s, because %s", path, "configmaps/named", "it has a name, so the server ignores its generateName")+
			harness.Printed("Warning: %s: skipped %s, because %s", path, "configmaps/other", "it has no generateName"))
	u.Run("report", "-R", "-f", filepath.Dir(path), "-n", ns, "--creates=10", "--fail-above=1e-9").
		Expect(t, 3, `.*NAMESPACE +RESOURCE +PREFIX +NAMES +ATTEMPTS +10 +.*`+ns+` +configmaps +run- +17 .*configmaps +run-a- +15 .*nobody-has- +0 .*`, `.*`+harness.Printed("error: the chance that a create fails is above --fail-above %s in %s", "1 in 1.0e9", "3 rows"))
}

// A gate does not pass if its prefix has no names, unless the user allows that, because the prefix may
// be misspelled. A prefix from a manifest can't be.
func TestReportGateOfNoPrefix(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	u := harness.As(t, single.Admin())
	missing := harness.Printed("Warning: no name has the prefix configmaps/run. The nearest prefix is run-.\n  kubectl genname audit configmaps/run- -n %s", ns)
	u.Run("report", "cm/run", "-n", ns, "--fail-above=99%", "--creates=10").Expect(t, 1, `.*`,
		missing+createInstead+harness.Printed("error: --fail-above is not exceeded, but %s without names might be misspelled. To let the gate pass without names, add:\n  --ignore-not-found", "1 prefix"))
	u.Run("report", "cm/run", "-n", ns, "--fail-above=99%", "--creates=10", "--ignore-not-found").Expect(t, 0, `.*`, missing+createInstead)
	u.Run("report", "cm/run", "cm/run-", "-n", ns, "--fail-above=1e-9", "--creates=10").Expect(t, 3, `.*`, missing+createInstead+harness.Printed("error: the chance that a create fails is above --fail-above %s in %s", "1 in 1.0e9", "2 rows"))
	u.Run("report", "cm/run-", "-n", ns, "--fail-above=99%", "--creates=10").Expect(t, 0, `.*`, createInstead)
	path := harness.File(t, "objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run}\n")
	u.Run("report", "-f", path, "-n", ns, "--fail-above=99%", "--creates=10").Expect(t, 0, `.*`, createInstead)
}

// The report of a saved audit has the counts of the audit, and needs no server. It uses the attempts of the server, even
// if kubectl genname create uses the prefix.
func TestReportOfWhatCreateMade(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	u.Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=3").Expect(t, 0, `.*`, ``)
	saved := harness.File(t, "audit.json", u.Run("audit", "cm/demo-", "-n", ns, "-o", "json").Stdout)
	live := u.Run("report", "cm/demo-", "-n", ns, "-o", "json")
	if from := u.Run("report", "--from", saved, "-o", "json", "--server=https://127.0.0.1:1"); from.Stdout != live.Stdout || !strings.Contains(live.Stdout, `"attempts": 128`) {
		t.Errorf("of the audit:\n%+v\nlive:\n%+v", from, live)
	}
}

// The plot shows the current number of names.
func TestReportPlotOfAPrefix(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	harness.As(t, single.Admin()).Run("report", "configmaps/run-", "-n", ns, "--plot").
		Expect(t, 0, `configmaps/run- -n `+ns+`: chance that a create fails\n.*a  none, server \(1 attempt\).*now: 17 names exist\n`, ``)
}

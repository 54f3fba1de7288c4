package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

const countsOf = `jsonpath={range .items[*]}{.resource} {.namespace} {.prefix} {.existing} {.policies[1].tries};{end}`

// The names under the prefixes of manifests are counted, each prefix once.
func TestReportOfManifests(t *testing.T) {
	ns := namespace(t, single)
	populate(t, single, ns)
	u := as(t, single.Admin())
	path := file(t, "objects.yaml", reportedManifests)
	u.run("report", "-f", path, "-n", ns, "--creates=10", "-o", countsOf).expect(t, 0,
		fmt.Sprintf(`configmaps %[1]s run- 17 1;configmaps %[1]s run-a- 15 1;clusterroles  nobody-has- 0 1;`, ns),
		`Warning: `+path+`: skipped configmaps/named: its name wins, and generateName is ignored\n`+
			`Warning: `+path+`: skipped configmaps/other: it has no generateName\n`)
	u.run("report", "-R", "-f", filepath.Dir(path), "-n", ns, "--creates=10", "--fail-above=1e-9").
		expect(t, 3, `configmaps/run- -n `+ns+`: 17 of .*RE-USE: [^\n]*\n`, `.*3 rows above --fail-above 1 in 1.0e9\n`)
}

func TestReportOfManifestsBadInput(t *testing.T) {
	ns := namespace(t, single)
	u := as(t, single.Admin())
	u.run("report", "-n", ns, "-f", "nonsuch.yaml").expect(t, 1, ``, `error: the path "nonsuch.yaml" does not exist\n`)
	named := file(t, "named.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: named}\n")
	u.run("report", "-n", ns, "-f", named).expect(t, 1, ``,
		`error: no object with generateName and without a name passed to report: `+named+`: skipped configmaps/named: it has no generateName\n`)
	unknown := file(t, "unknown.yaml", "apiVersion: example.org/v1\nkind: Nonsuch\nmetadata: {generateName: x-}\n")
	u.run("report", "-n", ns, "-f", unknown).expect(t, 1, ``, `error: .*no matches for kind "Nonsuch" in version "example.org/v1".*\n`)
	elsewhere := file(t, "elsewhere.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-, namespace: elsewhere}\n")
	u.run("report", "-n", ns, "-f", elsewhere).expect(t, 1, ``, `error: the namespace from the provided object "elsewhere" does not match the namespace "`+ns+`".*\n`)
	u.run("report", "-n", ns, "nonsuches/x-").expect(t, 1, ``, `error: the server doesn't have a resource type "nonsuches"\n`)
}

// Who may not list is told so, and nothing is reported.
func TestReportOfWhoMayNotList(t *testing.T) {
	ns := namespace(t, single)
	as(t, single.User("nobody")).run("report", "secrets/x-", "-n", ns).
		expect(t, 1, ``, `error: .*cannot list resource "secrets".*\n`)
}

// The present population is marked in the picture.
func TestReportPlotOfAPrefix(t *testing.T) {
	ns := namespace(t, single)
	populate(t, single, ns)
	u := as(t, single.Admin())
	path := filepath.Join(t.TempDir(), "odds.svg")
	u.run("report", "configmaps/run-", "-n", ns, "--plot", path).expect(t, 0, `configmaps/run- -n `+ns+`: 17 of .*`, ``)
	picture, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(picture), ">now: 17<") || !strings.Contains(string(picture), ">none, server (1 try)<") {
		t.Errorf("%v\n%s", err, picture)
	}
	u.run("report", "configmaps/run-", "-n", ns, "--plot=-").
		expect(t, 0, `configmaps/run- -n `+ns+`: chance of a name conflict\n.*now: 17 names exist\n`, ``)
}

// What an audit saved is what the report counts.
func TestReportOfAnAudit(t *testing.T) {
	ns := namespace(t, single)
	populate(t, single, ns)
	u := as(t, single.Admin())
	audit := u.run("audit", "configmaps", "-n", ns, "-o", "json", "--prefix=run-,run-a-", "--sort-by=prefix")
	path := filepath.Join(t.TempDir(), "audit.json")
	if err := os.WriteFile(path, []byte(audit.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	live := u.run("report", "cm/run-", "cm/run-a-", "-n", ns, "-o", "json")
	saved := u.run("report", "--from", path, "-o", "json", "--server=https://127.0.0.1:1")
	if saved.code != 0 || saved.stdout != live.stdout || !strings.Contains(saved.stdout, `"gitVersion": "v1.34.4"`) {
		t.Errorf("of the audit:\n%+v\nlive:\n%+v", saved, live)
	}
}

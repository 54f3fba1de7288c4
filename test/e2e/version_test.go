package e2e

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Both servers are the same binary and say the same minor version: only the
// metric tells them apart, and who may not read it is told the default, and
// that it is only that.
func TestVersion(t *testing.T) {
	const client = `Client Version: [^\n]+\n`
	for _, test := range []struct {
		name   string
		cp     *controlplane.ControlPlane
		groups []string
		want   string
	}{
		{"retrying", retrying, []string{"system:masters"}, `Server Version: v1.34.4\nNames tried per create: 8 \(its metric kubernetes_feature_enabled says so\)\n`},
		{"retrying, few rights", retrying, nil, `Server Version: v1.34.4\nNames tried per create: 8 \(the default; an administrator can have changed it\)\n`},
		{"single", single, []string{"system:masters"}, `Server Version: v1.34.4 \(emulates 1.31\)\nNames tried per create: 1 \(its metric kubernetes_feature_enabled says so\)\n`},
		{"single, monitoring", single, []string{"system:monitoring"}, `Server Version: v1.34.4 \(emulates 1.31\)\nNames tried per create: 1 \(its metric kubernetes_feature_enabled says so\)\n`},
		{"single, few rights", single, nil, `Server Version: v1.34.4 \(emulates 1.31\)\nNames tried per create: 8 \(the default; an administrator can have changed it\)\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			as(t, test.cp.User("someone", test.groups...)).run("version").expect(t, 0, client+test.want, ``)
		})
	}
}

func TestVersionForMachines(t *testing.T) {
	u := as(t, single.Admin())
	u.run("version", "-o", "jsonpath={.kind} {.server.attempts} {.server.attemptsSource} {.server.emulationMinor}").
		expect(t, 0, `VersionReport 1 metric 31`, ``)
	if r := u.run("version", "--client", "-o", "json"); r.code != 0 || !strings.Contains(r.stdout, `"server": null`) {
		t.Errorf("%+v", r)
	}
}

func TestVersionWithoutServer(t *testing.T) {
	u := as(t, single.Admin())
	u.run("version", "--server=https://127.0.0.1:1").expect(t, 1, `Client Version: [^\n]+\n`,
		`error: ask the server for its version: Get "https://127.0.0.1:1/version": dial tcp 127.0.0.1:1: connect: connection refused\n`)
	u.run("version", "--client", "--server=https://127.0.0.1:1").expect(t, 0, `Client Version: [^\n]+\n`, ``)
}

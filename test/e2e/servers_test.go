// Package e2e runs commands against real API servers, from the words of a command line. The package compares their
// output, their exit codes and the objects in the cluster. The names of its files begin with the command.
package e2e

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// onOneServer runs tests that can't share a server at the same time. Each test finds the objects of the tests before
// it.
type onOneServer []struct {
	name string
	test func(*testing.T, *controlplane.ControlPlane)
}

func (tests onOneServer) run(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, cp) })
	}
}

// Tests that count all objects of a cluster, or that use fixed names. The order matters.
func TestWholeCluster(t *testing.T) {
	t.Parallel()
	onOneServer{
		{"roles", roles},
		{"completion", completion},
		{"exporter", exporterManifests},
		{"prune", pruneManifests}, // after the exporter, whose namespace is restricted
		{"examples", helpExamples},
		{"types", storesWhatKubectlDoes},
		{"a type that is removed", typeRemoved},
		{"aggregated API", aggregatedAPI}, // its server ends with the test
	}.run(t, controlplane.New(t))
}

// Controllers of Kubernetes create and change the objects.
func TestBesideControllers(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t)
	if err := cp.StartControllers(t.Context(), os.Stderr, "*"); err != nil {
		t.Fatal(err)
	}
	onOneServer{
		{"duplicates of clean populations", duplicatesOfCleanPopulations},
		{"duplicates of each type", duplicatesOfEachType},
	}.run(t, cp)
}

// The two servers (controlplane.Shared).
var retrying, single *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m,
		harness.Server{ControlPlane: &retrying, Shared: "retrying"},
		harness.Server{ControlPlane: &single, Shared: "single"}))
}

// Package e2e runs commands against real API servers, from the words of a command line. It compares
// their output, their exit codes and the objects in the cluster. The names of its files begin with the
// command. once_test.go tests the library.
package e2e

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The two servers (controlplane.Shared).
var retrying, single *controlplane.ControlPlane

// extended is a server to which tests add custom resources.
var extended = harness.Lazy()

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m,
		harness.Server{ControlPlane: &retrying, Shared: "retrying"},
		harness.Server{ControlPlane: &single, Shared: "single"}))
}

// Package parity runs command lines of kubectl create with the reference kubectl and with the plugin, on a real API
// server, and compares all results.
package parity

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// retrying is the server, which retries generated names by itself.
var retrying *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, harness.Server{ControlPlane: &retrying, Shared: "retrying"}))
}

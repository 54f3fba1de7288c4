// Package e2e runs the commands, as a user's words on a command line, against
// real API servers, and compares what they print, their exit codes, and what
// is in the cluster after them. Its files are called after the commands;
// once_test.go is of the library.
package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The two servers: one that retries generated names by itself, as 1.32 and
// later do, and one that does not.
var retrying, single *controlplane.ControlPlane

var update = flag.Bool("update", false, "write what is printed into docs/")

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m,
		harness.Server{ControlPlane: &retrying},
		harness.Server{ControlPlane: &single, Options: []controlplane.Option{controlplane.WithoutServerRetries}}))
}

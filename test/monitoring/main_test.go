// Package monitoring checks deploy/exporter and deploy/chart with the code of Prometheus and Helm. It has its own
// module, so that the plugin doesn't depend on their dependencies.
package monitoring

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

// Package monitoring checks deploy/exporter with Prometheus' own code. It has its own module, so that the plugin
// doesn't depend on Prometheus' dependencies.
package monitoring

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

// Package trust lets an adversary act against pkg/once and against create with a key. The model explores all
// histories of a bounded length on a server in memory, and checks properties. The page about the threat model
// must list exactly the attacks that the model finds.
package trust

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

package scripts

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

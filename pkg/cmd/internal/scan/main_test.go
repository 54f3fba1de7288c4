package scan

import (
	"os"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m.Run)) }

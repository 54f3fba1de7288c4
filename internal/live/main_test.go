package live

import (
	"os"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestMain(m *testing.M) {
	quietEvery = 300 * time.Millisecond
	silence, askTime = time.Second, time.Second
	tryAgain = 300 * time.Millisecond
	os.Exit(testenv.Run(m.Run))
}

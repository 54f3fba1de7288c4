// Package harness has the parts that tests of the whole command line share. It starts servers, and runs the plugin as a
// user, in the test's process or through kubectl. It compares the output and the objects in the cluster with the
// expectations of the tests.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Root is the repository's directory, relative to a test package in test/.
const Root = "../../"

// Server is a control plane that all tests of a package share.
type Server struct {
	ControlPlane **controlplane.ControlPlane // where tests find it
	// Shared is a name in controlplane.Shared, or empty if the package starts its own server.
	Shared string
	// Controllers are the controllers to run. If there are any, KWOK runs, too, and simulates a node on which Pods
	// finish.
	Controllers string
}

func (s Server) start(ctx context.Context) (*controlplane.ControlPlane, error) {
	if s.Shared != "" {
		return controlplane.StartShared(ctx, os.Stderr, s.Shared)
	}
	return controlplane.Start(ctx, os.Stderr)
}

// lazies are the control planes that Lazy has started.
var lazies struct {
	mu     sync.Mutex
	planes []*controlplane.ControlPlane
}

// Lazy returns a function that returns the package's own control plane. The first call starts it, and Main ends it.
func Lazy() func(t *testing.T) *controlplane.ControlPlane {
	start := sync.OnceValues(func() (*controlplane.ControlPlane, error) {
		cp, err := controlplane.Start(context.Background(), os.Stderr)
		if err == nil {
			lazies.mu.Lock()
			defer lazies.mu.Unlock()
			lazies.planes = append(lazies.planes, cp)
		}
		return cp, err
	})
	return func(t *testing.T) *controlplane.ControlPlane {
		t.Helper()
		cp, err := start()
		if err != nil {
			t.Fatal(err)
		}
		return cp
	}
}

// parallel is how many tests run at a time. Tests mostly wait for servers, so there are more than processors.
const parallel = "6"

// Main runs the tests of a package beside servers and returns the exit code. TestMain calls it. With -short no test
// runs.
func Main(m *testing.M, servers ...Server) int {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if testing.Short() {
		fmt.Println("-short: all of this package is skipped, because it needs a control plane")
		return 0
	}
	code, err := runOnServers(m, servers)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

func runOnServers(m *testing.M, servers []Server) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, server := range servers {
		cp, err := server.start(ctx)
		if err != nil {
			return 1, err
		}
		*server.ControlPlane = cp
		if server.Controllers != "" {
			err = errors.Join(cp.StartControllers(ctx, os.Stderr, server.Controllers), cp.StartNodes(ctx, os.Stderr))
		}
		defer func() { err = errors.Join(err, end(cp, code)) }()
		if err != nil {
			return 1, err
		}
	}
	code = m.Run()
	for _, cp := range lazies.planes {
		err = errors.Join(err, end(cp, code))
	}
	return code, err
}

// end ends a control plane after tests that ended with the exit code.
func end(cp *controlplane.ControlPlane, code int) error {
	err := cp.Stop()
	if code == 0 {
		return errors.Join(err, cp.Remove())
	}
	fmt.Fprintln(os.Stderr, "logs are in", cp.Dir)
	return err
}

// Seed returns GENNAME_SEED, or 1, and logs it. So a check that blocks a merge fails only because of the change, and a
// failure can be repeated. "make -f lab/Makefile chance" uses a new seed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if text := os.Getenv("GENNAME_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GENNAME_SEED=%d", seed)
	return seed
}

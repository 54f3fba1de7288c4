// Package harness is shared by the tests of the whole command line. It starts servers. It runs the plugin as a user,
// in the test's process or through kubectl. It compares the output and the objects in the cluster with the
// expectations of the tests.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/testenv"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Root is the repository's directory, relative to a test package in test/.
const Root = "../../"

// Server is a control plane that all tests of a package share.
type Server struct {
	ControlPlane **controlplane.ControlPlane // where tests find it
	Options      []controlplane.Option
	// Controllers are the controllers to run. If it is not empty, a node whose Pods finish runs, too.
	Controllers string
}

// parallel is how many tests run at a time. They wait for servers more than they compute.
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
	return testenv.Run(func() int {
		code, err := runOnServers(m, servers)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	})
}

func runOnServers(m *testing.M, servers []Server) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, server := range servers {
		cp, err := controlplane.Start(ctx, os.Stderr, server.Options...)
		if err != nil {
			return 1, err
		}
		*server.ControlPlane = cp
		if server.Controllers != "" {
			err = errors.Join(cp.StartControllers(ctx, os.Stderr, server.Controllers), cp.StartNodes(ctx, os.Stderr))
		}
		defer func() {
			err = errors.Join(err, cp.Stop())
			if code == 0 {
				err = errors.Join(err, cp.Remove())
			} else {
				fmt.Fprintln(os.Stderr, "logs are in", cp.Dir)
			}
		}()
		if err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// Package harness is what the tests of the whole command line share: they start
// servers, run the plugin as one of their users, in the test's own process or
// through kubectl, and compare what it prints and what is in the cluster then.
// What is right is for the tests to say.
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

// Root is the repository's folder as a package of tests in test/ sees it.
const Root = "../../"

// Server is a control plane that all tests of a package share.
type Server struct {
	ControlPlane **controlplane.ControlPlane // where tests find it
	Options      []controlplane.Option
	// Controllers run beside it, if there are any, and a node whose Pods finish.
	Controllers string
}

// Main runs the tests of a package in an environment of their own, beside
// servers, and returns the exit code: TestMain calls it. With -short no test
// runs.
func Main(m *testing.M, servers ...Server) int {
	flag.Parse()
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

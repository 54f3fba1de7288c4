// Command run starts a control plane and runs a command beside it. KUBECONFIG has the credentials of an administrator.
// PATH begins with the directories of the reference kubectl and of the plugin. LOSSY_KUBECONFIG reaches the server
// through a proxy that loses every second response to a POST. Without a command, the program only builds the parts of a
// control plane.
//
// With --no-server-retries the server makes one attempt per create. With --suffix-length=2 a prefix has 27^2 names.
// --server-version is one of controlplane.ServerVersions. --controllers=job-controller also runs controllers, and
// --nodes runs KWOK. Both are built first.
//
// With --shared, tests that the command runs share servers (controlplane.Shared).
//
//	go run ./test/controlplane/run
//	go run ./test/controlplane/run bash
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

func main() {
	retriesOff := flag.Bool("no-server-retries", false, "switch the server's retries of generated names off")
	suffixLength := flag.Int("suffix-length", 0, "number of random characters of generated names (1 to 5; 0 for what Kubernetes has, 5)")
	version := flag.String("server-version", controlplane.ServerVersion, "version of kube-apiserver: "+strings.Join(controlplane.ServerVersions, ", "))
	controllers := flag.String("controllers", "", "controllers to run, as kube-controller-manager --controllers takes them")
	nodes := flag.Bool("nodes", false, "run KWOK, which plays a node: Pods with nodeName "+controlplane.Node+" run and finish")
	shared := flag.Bool("shared", false, "run the servers that the packages of make test share")
	flag.Parse()
	options := []controlplane.Option{controlplane.Version(*version)}
	if *retriesOff {
		options = append(options, controlplane.WithoutServerRetries)
	}
	if *suffixLength != 0 {
		options = append(options, controlplane.SuffixLength(*suffixLength))
	}
	var err error
	if *shared {
		err = runShared(flag.Args())
	} else {
		err = run(options, *controllers, *nodes, flag.Args())
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(options []controlplane.Option, controllers string, nodes bool, command []string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(command) == 0 {
		_, err := controlplane.Build(ctx, os.Stderr, options...)
		return err
	}
	cp, err := controlplane.Start(ctx, os.Stderr, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	if controllers != "" {
		if err := cp.StartControllers(ctx, os.Stderr, controllers); err != nil {
			return err
		}
	}
	if nodes {
		if err := errors.Join(cp.StartNodes(ctx, os.Stderr), os.Setenv("NODE", controlplane.Node)); err != nil {
			return err
		}
	}
	kubeconfig := filepath.Join(cp.Dir, "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		return err
	}
	proxy, err := faultproxy.Start(faultproxy.HTTP2, cp.Admin(), faultproxy.LoseEverySecond())
	if err != nil {
		return err
	}
	defer proxy.Close()
	lossy := filepath.Join(cp.Dir, "lossy.kubeconfig")
	if err := controlplane.WriteKubeconfig(lossy, proxy.Config); err != nil {
		return err
	}
	plugins, err := filepath.Abs("bin")
	if err != nil {
		return err
	}
	path := []string{filepath.Dir(cp.Binaries.Kubectl), plugins, os.Getenv("PATH")}
	if err := errors.Join(
		os.Setenv("KUBECONFIG", kubeconfig),
		os.Setenv("LOSSY_KUBECONFIG", lossy),
		os.Setenv("PATH", strings.Join(path, string(os.PathListSeparator))),
	); err != nil {
		return err
	}
	return execute(ctx, command)
}

// runShared runs a command beside the servers that tests share. If the command fails, their logs stay.
func runShared(command []string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, planes, err := controlplane.Share(ctx, os.Stderr)
	defer func() {
		err = errors.Join(err, os.RemoveAll(dir))
		for name, cp := range planes {
			err = errors.Join(err, cp.Stop())
			if err == nil {
				err = cp.Remove()
			} else {
				fmt.Fprintf(os.Stderr, "logs of the server %s are in %s\n", name, cp.Dir)
			}
		}
	}()
	if err != nil {
		return err
	}
	return execute(ctx, command)
}

// execute runs a command with the program's streams. A signal interrupts it.
func execute(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.Run()
}

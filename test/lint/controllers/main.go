// Command controllers runs a real kube-controller-manager, which derives names from names of every relevant length.
// It compares them with internal/lint/derived, and writes the tables of docs/reference/derived-names.md. "make
// controllers" calls it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	page    = "docs/reference/derived-names.md"
	timeout = 10 * time.Minute
)

// controllers are the controllers that derive the names of the table.
const controllers = "cronjob-controller,job-controller,replicaset-controller,replicationcontroller-controller,daemonset-controller," +
	"deployment-controller,statefulset-controller,endpointslice-controller,resourceclaim-controller"

// gates are the features of Workloads and PodGroups, which are off by default.
const gates = "--feature-gates=GenericWorkload=true,WorkloadWithJob=true,DRAWorkloadResourceClaims=true"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seen := map[int]observation{}
	if err := errors.Join(observe(ctx, seen, false), observe(ctx, seen, true)); err != nil {
		return err
	}
	return write(seen)
}

// observe adds the observations of the rows that need feature gates, or of all others.
func observe(ctx context.Context, seen map[int]observation, gated bool) (err error) {
	options, args := []controlplane.Option{controlplane.Version(controlplane.NewestServerVersion)}, []string(nil)
	if gated {
		options = append(options, controlplane.APIServerArgs(gates, "--runtime-config=scheduling.k8s.io/v1beta1=true"))
		args = append(args, gates)
	}
	cp, err := controlplane.Start(ctx, os.Stderr, options...)
	if err != nil {
		return err
	}
	defer func() {
		if failure := cp.Stop(); err == nil {
			err = failure
		}
		if err == nil {
			err = cp.Remove()
		} else {
			fmt.Fprintln(os.Stderr, "logs are in", cp.Dir)
		}
	}()
	if err := cp.StartControllers(ctx, os.Stderr, controllers, args...); err != nil {
		return err
	}
	observer, err := newObserver(ctx, cp.Admin())
	if err != nil {
		return err
	}
	return observer.all(ctx, seen, gated)
}

// write replaces the tables of the page.
func write(seen map[int]observation) error {
	observed, onlyRead := header("from the longest name | from a longer name | source"), header("source")
	for i, row := range derived.Table {
		if row.ReadOnly {
			onlyRead += fmt.Sprintf("%s %s |\n", row.Cells(), row.Source)
		} else {
			observed += fmt.Sprintf("%s %s | %s | %s |\n", row.Cells(), seen[i].within, seen[i].beyond, row.Source)
		}
	}
	return errors.Join(document.Write(page, "controllers", observed), document.Write(page, "sources", onlyRead))
}

// header returns the first lines of a table: the headers of the cells of a row, and of further cells.
func header(further string) string {
	line := "| owner | derived | formula | limit | owner's name | if longer | Kubernetes | " + further + " |"
	return "\n" + line + "\n" + strings.Repeat("|---", strings.Count(line, "|")-1) + "|\n"
}

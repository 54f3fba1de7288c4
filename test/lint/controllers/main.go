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
	seen, err := observe(ctx)
	if err != nil {
		return err
	}
	return write(seen)
}

// observe returns the observations of all rows that are tested on real controllers.
func observe(ctx context.Context) (seen map[int]observation, err error) {
	cp, err := controlplane.Start(ctx, os.Stderr, controlplane.Version(controlplane.NewestServerVersion))
	if err != nil {
		return nil, err
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
	if err := cp.StartControllers(ctx, os.Stderr, controllers); err != nil {
		return nil, err
	}
	observer, err := newObserver(ctx, cp.Admin())
	if err != nil {
		return nil, err
	}
	return observer.all(ctx)
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

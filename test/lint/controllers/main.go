// Command controllers runs a real kube-controller-manager, which derives names from names of every relevant length.
// It compares them with internal/lint/derived, and writes docs/reference/derived-names.md. "make controllers" calls
// it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	page    = "docs/reference/derived-names.md"
	timeout = 10 * time.Minute
)

// controllers are the controllers that derive the names of the table.
const controllers = "cronjob-controller,job-controller,replicaset-controller,replicationcontroller-controller,daemonset-controller," +
	"deployment-controller,statefulset-controller,endpointslice-controller"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cp, err := controlplane.Start(ctx, os.Stderr)
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
	if err := cp.StartControllers(ctx, os.Stderr, controllers); err != nil {
		return err
	}
	observer, err := newObserver(ctx, cp.Admin())
	if err != nil {
		return err
	}
	seen, err := observer.all(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(write(seen)), 0o644)
}

// write returns the page.
func write(seen map[int]observation) string {
	var out strings.Builder
	fmt.Fprintf(&out, `# The names that controllers derive

Controllers derive names of other objects, and values of labels, from the name of an object. The tables show how long a
name can be. The rule [child-names](rules/child-names.md) uses these tables. A generated name is 5 bytes longer than its
prefix, and has 63 bytes at most.

- *Refused*: The create fails.
- *Truncated*: The derived name loses the end of the owner's name, and with it the random characters.
- *Broken*: The object exists, and its controller can't create its children.
- *Fits*: Every name is short enough.

## Kubernetes

The real kube-controller-manager %s derived these names (`+"`make controllers`"+`). The column *made* has the name that it
derived from the longest name with room. The column *beyond* has the result of a longer name, and X is random. The column
*Kubernetes* has the differences in the sources of 1.29, 1.31 and 1.33. A test compares the other columns with the table of
the rule.

| owner | what | formula | limit | room for the name | beyond it | Kubernetes | made | beyond | source |
|---|---|---|---|---|---|---|---|---|---|
`, controlplane.ServerVersion)
	for i, row := range derived.Table {
		if !row.ReadOnly {
			fmt.Fprintf(&out, "%s %s | %s | %s |\n", row.Cells(), seen[i].within, seen[i].beyond, row.Source)
		}
	}
	out.WriteString(`
## Others

These rows come from the sources of each project. No test of ours ran these controllers.

| owner | what | formula | limit | room for the name | beyond it | Kubernetes | source |
|---|---|---|---|---|---|---|---|
`)
	for _, row := range derived.Table {
		if row.ReadOnly {
			fmt.Fprintf(&out, "%s %s |\n", row.Cells(), row.Source)
		}
	}
	out.WriteString("\nThe fields of an object take from the room. Examples are an index of several digits, and the names in a JobSet or a Volcano Job.\n")
	return out.String()
}

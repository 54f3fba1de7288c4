// Command controllers has a real kube-controller-manager derive names from names of
// every length that matters, compares them with internal/lint/derived, and writes
// docs/derived-names.md: make controllers.
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
	page    = "docs/derived-names.md"
	timeout = 10 * time.Minute
)

// controllers are those that derive the names of the table.
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

What controllers make of an object's name, and how long it can be so that everything fits: what the rule
[child-names](rules/child-names.md) goes by. A generated name has 5 bytes more than its prefix, and 63 at most. A name that is
*truncated* loses its end, and with it the random part of a generated name; *broken* means that the object is there and its controller
cannot make what it should.

## Kubernetes

Each row was made by the real kube-controller-manager %s (`+"`make controllers`"+`): *made* is what it derived from a name that
has just room, and *beyond* what comes of a longer one, where X is random. The sources of 1.29, 1.31 and 1.33 say the same but for
what is said of versions. A test compares the other columns with the table that the rule uses.

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

These follow from their sources; no test of ours has run them.

| owner | what | formula | limit | room for the name | beyond it | Kubernetes | source |
|---|---|---|---|---|---|---|---|
`)
	for _, row := range derived.Table {
		if row.ReadOnly {
			fmt.Fprintf(&out, "%s %s |\n", row.Cells(), row.Source)
		}
	}
	out.WriteString("\nWhat an object itself adds lessens the room: an index of several digits, and the names in a JobSet.\n")
	return out.String()
}

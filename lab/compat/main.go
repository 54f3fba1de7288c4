// Command compat runs the plugin against several minor versions of kube-apiserver. If a kube-apiserver has a gate for
// retries of generated names, it runs with the gate on and off. The command prints a table: names tried, the number
// that "version" reports, creates through faults, and audits. With -write it also writes the table into a document.
// Broken promises are errors.
//
//	go run ./lab/compat -only v1.30.14
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/lab/faults"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

func main() {
	plugin := flag.String("plugin", "bin/kubectl-genname", "the plugin's binary")
	only := flag.String("only", "", "versions of kube-apiserver, separated by commas (default all)")
	write := flag.String("write", "", "document to write the table into, between the markers of -section")
	section := flag.String("section", "compat", "name of the markers, and of the target of make that the text names")
	flag.Parse()
	if err := run(*plugin, *only, *write, *section); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(plugin, only, write, section string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plugin, err := filepath.Abs(plugin)
	if err != nil {
		return err
	}
	chosen := func(name string) bool { return only == "" || slices.Contains(strings.Split(only, ","), name) }
	if name := unknown(only); name != "" {
		return fmt.Errorf("-only: there is no %q: it is one of %s", name, strings.Join(controlplane.ServerVersions, ", "))
	}
	rows, broken, err := examineAll(ctx, plugin, chosen)
	if err != nil {
		return err
	}
	seen := fmt.Sprintf("Results of `make -f lab/Makefile %s` on %s:\n\n%s",
		section, time.Now().UTC().Format(time.DateOnly), table(rows))
	fmt.Print(seen)
	if write == "" || broken != nil {
		return broken
	}
	return document.Write(write, section, seen)
}

// unknown returns the first word of -only that selects nothing.
func unknown(only string) string {
	for _, name := range strings.FieldsFunc(only, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(controlplane.ServerVersions, name) {
			return name
		}
	}
	return ""
}

// examineAll examines the servers of the chosen versions. broken joins the broken promises of all of them.
func examineAll(ctx context.Context, plugin string, chosen func(version string) bool) (rows []row, broken, err error) {
	for _, s := range servers {
		if !chosen(s.version) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s, %s\n", s.version, s.gate)
		r, err := s.examine(ctx, plugin)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, %s: %w", s.version, s.gate, err)
		}
		rows = append(rows, r)
		broken = errors.Join(broken, r.check())
	}
	return rows, broken, nil
}

// server is a configuration of kube-apiserver to examine.
type server struct {
	version  string
	gate     string // for the server's retries
	attempts int    // names that the server must try per create
	options  []controlplane.Option
}

var (
	gateOn       = controlplane.APIServerArgs("--feature-gates=RetryGenerateName=true")
	emulatesOff  = []controlplane.Option{controlplane.WithoutServerRetries}
	emulatedGate = "off, emulating 1.31"
)

// servers are all configurations of controlplane.ServerVersions: the default of the gate, and the other value if it
// can be set.
var servers = []server{
	{"v1.30.14", "off by default", 1, nil},
	{"v1.30.14", "on", 8, []controlplane.Option{gateOn}},
	{"v1.34.4", "locked on", 8, nil},
	{"v1.34.4", emulatedGate, 1, emulatesOff},
	{"v1.37.1", "gone", 8, nil},
}

// row contains the observations of one server.
type row struct {
	server
	attempts int              // names tried, counted by requests to etcd
	admin    reportedAttempts // the plugin's report to an administrator
	user     reportedAttempts // the same report to a user without permission to read metrics
	creates  []*faults.Result
	audited  int64 // objects
	watched  *faults.Followed
	broken   error
}

// reportedAttempts is the number of attempts that the plugin reports, and its source.
type reportedAttempts struct {
	attempts int
	source   v1alpha1.AttemptsSource
}

func (s reportedAttempts) String() string { return fmt.Sprintf("%d (%s)", s.attempts, s.source) }

// check returns the broken promises. A wrong number of attempts in the plugin's report breaks a promise, unless its
// source is the default, which an administrator can change.
func (r row) check() error {
	err := r.broken
	if r.attempts != r.server.attempts {
		err = errors.Join(err, fmt.Errorf("it tries %d names, and %d were expected", r.attempts, r.server.attempts))
	}
	for _, s := range []reportedAttempts{r.admin, r.user} {
		if s.attempts != r.attempts && s.source != v1alpha1.SourceDefault {
			err = errors.Join(err, fmt.Errorf("it tries %d names, and the certain report is %s", r.attempts, s))
		}
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", r.version, r.gate, err)
	}
	return nil
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| kube-apiserver | feature gate | attempts | `version` prints | without `/metrics` | " +
		"with a key: requested, created, too many, missing | without a key: requested, created, too many, unknown, failed | " +
		"objects audited | watch: creates made, creates counted, deletes made, deletes counted |\n")
	b.WriteString("|---|---|--:|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |", r.version, r.gate, r.attempts, r.admin, r.user)
		for _, c := range r.creates {
			fmt.Fprintf(&b, " %d, %d, %d, ", c.Asked, c.Present, c.Duplicates)
			if c.Client.Name == "keyed" {
				fmt.Fprintf(&b, "%d |", c.Missing)
			} else {
				fmt.Fprintf(&b, "%d, %d |", c.Unknown, c.Failed+c.NotAttempted)
			}
		}
		fmt.Fprintf(&b, " %d |", r.audited)
		fmt.Fprintf(&b, " %d, %d, %d, %d |\n", r.watched.Creates, r.watched.SeenCreates, r.watched.Deletes, r.watched.SeenDeletes)
	}
	return b.String()
}

// Command compat runs the plugin against kube-apiserver of several minor
// versions, with the server's retries of generated names on and off where that
// can be chosen, and prints what it saw as a table: names tried, what "version"
// says of that, campaigns of creates through faults, audits. With -write the
// table is put into a document. What is not as promised is an error.
//
//	go run ./test/compat -only v1.30.14
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

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

func main() {
	plugin := flag.String("plugin", "bin/kubectl-genname", "the plugin's binary")
	only := flag.String("only", "", "versions, separated by commas (default all)")
	write := flag.String("write", "", "document to write the table into, between its markers")
	flag.Parse()
	if err := run(*plugin, *only, *write); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(plugin, only, write string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	plugin, err := filepath.Abs(plugin)
	if err != nil {
		return err
	}
	var rows []row
	var broken error
	for _, s := range servers {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.version) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s, %s\n", s.version, s.gate)
		r, err := s.examine(ctx, plugin)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s.version, s.gate, err)
		}
		rows = append(rows, r)
		broken = errors.Join(broken, r.check())
	}
	text := table(rows)
	fmt.Print(text)
	if write == "" || broken != nil {
		return broken
	}
	return replace(write, text)
}

// server is a kind of kube-apiserver to examine.
type server struct {
	version string
	gate    string // of the server's retries
	tries   int    // names it tries per create
	options []controlplane.Option
}

var (
	gateOn       = controlplane.APIServerArgs("--feature-gates=RetryGenerateName=true")
	gateOff      = controlplane.APIServerArgs("--feature-gates=RetryGenerateName=false")
	emulatesOff  = []controlplane.Option{controlplane.WithoutServerRetries}
	emulatedGate = "off, emulating 1.31"
)

// servers are all that are examined: those of controlplane.ServerVersions, with
// the gate as it is, and otherwise where that can be chosen.
var servers = []server{
	{"v1.30.14", "off by default", 1, nil},
	{"v1.30.14", "on", 8, []controlplane.Option{gateOn}},
	{"v1.31.0", "on by default", 8, nil},
	{"v1.31.0", "off", 1, []controlplane.Option{gateOff}},
	{"v1.33.13", "locked on", 8, nil},
	{"v1.33.13", emulatedGate, 1, emulatesOff},
	{"v1.34.4", "locked on", 8, nil},
	{"v1.34.4", emulatedGate, 1, emulatesOff},
	{"v1.37.1", "gone", 8, nil},
}

// Package exporter is the command exporter, which watches the generated names of a cluster and serves metrics about
// them for Prometheus. The package has the flags, the HTTP servers, and the log. internal/exporter makes the metrics.
package exporter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/exporter"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// refreshEvery is the interval at which the prefixes with series are chosen without a scrape.
const refreshEvery = 15 * time.Second

// The flags of addresses.
const (
	metricsFlag = "web.listen-address"
	configFlag  = "web.config.file"
	healthFlag  = "health.listen-address"
)

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	conn *connection.Connection

	types          []string
	scope          scan.Flags
	top            int
	minCount       int64
	serverAttempts flagvalue.Attempts
	metricsAddress string
	webConfig      string
	healthAddress  string

	logging   sync.Mutex
	isReady   atomic.Bool
	reporting sync.Mutex                 // guards the rest
	skipped   map[string][]census.Reason // skipped types in the last report
}

var longHelp = templates.LongDesc(`
	Watch the generated names of a cluster, and serve metrics about them for Prometheus.

	The exporter counts names, creates and deletes by prefix, like audit --watch. The exporter
	reads only metadata, and needs permission to list and watch the resource types.

	Only the largest and the busiest prefixes have series of their own. The largest prefixes
	have the most names, and --top sets their number. The busiest prefixes have the most creates
	in the last ten minutes, and there are half as many of them. A prefix that leaves both groups
	keeps its series for an hour, but the number of prefixes with series is at most twice --top.
	For all other prefixes together, each resource type has one series with the number of names.

	Counters start at 0 when the exporter starts. The exporter doesn't count creates and deletes
	while it is down.`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, conn: conn, skipped: map[string][]census.Reason{}}
	cmd := &cobra.Command{
		Use:                   "exporter [TYPE[,TYPE...] ...] [-n NAMESPACE | -A]",
		DisableFlagsInUseLine: true,
		Short:                 "Serve metrics about generated names for Prometheus",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Serve metrics about all resource types that you can list
			kubectl genname exporter -A

			# Watch Jobs and Pods of one namespace, for clients on this machine only
			kubectl genname exporter jobs,pods -n ci --web.listen-address=localhost:9810

			# Serve the metrics with the TLS and authentication that a file configures
			kubectl genname exporter -A --web.config.file=web.yml`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.Types(conn),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.scope.BindNamespaces(flags, "Count objects of all namespaces, and cluster-scoped objects")
	flags.IntVar(&o.top, "top", 200, "Number of prefixes that have series because they have the most names. "+
		"Half as many prefixes have series because they have the most creates in the last ten minutes")
	flags.Int64Var(&o.minCount, "min-count", 10,
		"Number of names, or of creates in the last ten minutes, that a prefix needs for series of its own")
	flags.Var(&o.serverAttempts, "server-attempts",
		"Number of names that the server tries per create. With auto, the exporter asks the server")
	flags.StringVar(&o.metricsAddress, metricsFlag, ":9810", "Address of the metrics, like :9810 or localhost:9810")
	flags.StringVar(&o.webConfig, configFlag, "",
		"File that configures TLS and authentication of the metrics, in the format of the Prometheus exporter toolkit")
	flags.StringVar(&o.healthAddress, healthFlag, ":9811",
		"Address of /healthz and /readyz, which have neither TLS nor authentication")
}

// Complete sets the scope from the command line and the kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	o.types = args
	return o.scope.Complete(cmd, o.conn.Factory)
}

// Validate returns an error for the first invalid flag or argument.
func (o *options) Validate() error {
	at := slices.IndexFunc(o.types, func(argument string) bool { return strings.Contains(argument, "/") })
	switch {
	case at >= 0:
		return fmt.Errorf("%q names a prefix. The exporter takes only resource types, like jobs", o.types[at])
	case o.top < 1:
		return fmt.Errorf("--top must be 1 or more, not %d", o.top)
	case o.minCount < 1:
		return fmt.Errorf("--min-count must be 1 or more, not %d", o.minCount)
	}
	if err := o.scope.Validate(); err != nil {
		return err
	}
	if err := web.Validate(o.webConfig); err != nil {
		return fmt.Errorf("--%s: %w", configFlag, err)
	}
	return nil
}

// Run watches and serves until ctx is done, and then returns nil.
func (o *options) Run(ctx context.Context) error {
	collector := exporter.New(o.top, o.minCount)
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collector, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo())
	serving, err := o.listen(registry)
	if err != nil {
		return err
	}
	group, running := errgroup.WithContext(ctx)
	serving.start(running, group)
	group.Go(func() error { return o.watch(running, collector) })
	group.Go(func() error {
		o.refresh(running, collector)
		return nil
	})
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

func (o *options) scopeText() string {
	types := "all resource types"
	if len(o.types) > 0 {
		types = strings.Join(o.types, ", ")
	}
	if o.scope.AllNamespaces {
		return fmt.Sprintf("Counting %s in all namespaces", types)
	}
	return fmt.Sprintf("Counting %s in the namespace %q. To count all namespaces, use -A", types, o.scope.Namespace)
}

func (o *options) refresh(ctx context.Context, collector *exporter.Collector) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			o.report(collector.Refresh())
		}
	}
}

func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "genname_build_info", Help: "Always 1. The version of the exporter.",
		ConstLabels: prometheus.Labels{"version": buildinfo.Version()},
	}, func() float64 { return 1 })
}

// log prints a line. Several goroutines can call it at the same time.
func (o *options) log(line string) {
	o.logging.Lock()
	defer o.logging.Unlock()
	fmt.Fprintln(o.ErrOut, terminal.OneLine(line))
}

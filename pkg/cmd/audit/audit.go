// Package audit is the command that counts generated names: its flags, the table,
// the gauges, and the gates' exit code. internal/census counts, and internal/audit
// says what the counts mean.
package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// maxLists is the largest number of lists in flight; each has a connection and a
// buffer of 64 KiB.
const maxLists = 256

// options are what the flags say.
type options struct {
	genericiooptions.IOStreams
	factory    cmdutil.Factory
	printFlags *output.Flags
	wide       bool
	noHeaders  bool

	openMetrics    bool
	types          []string
	named          bool // whether types were named
	namespace      string
	allNamespaces  bool
	labelSelector  string
	selector       labels.Selector
	prefixes       []string
	minCount       int64
	top            int
	sortBy         flagvalue.Enum[audit.Order]
	window         flagvalue.Duration
	forecast       flagvalue.Duration
	serverAttempts flagvalue.Attempts
	failAbove      flagvalue.Probability
	failAboveCount int64
	countGate      bool // whether --fail-above-count was given
	chunkSize      int64
	concurrency    int
	manners        manners
}

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		IOStreams: streams, factory: conn.Factory, printFlags: output.NewFlags(output.Wide, openMetricsFormat),
		window: flagvalue.Duration(24 * time.Hour), forecast: flagvalue.Duration(30 * 24 * time.Hour),
		failAbove: flagvalue.Probability{Value: new(float64)},
		sortBy:    flagvalue.NewEnum(audit.ByRisk, audit.Orders...),
	}
	cmd := &cobra.Command{
		Use:                   "audit [TYPE[,TYPE...]] [-n NAMESPACE | -A] [-l SELECTOR]",
		DisableFlagsInUseLine: true,
		Short:                 "Count the generated names that exist under each prefix",
		Long: templates.LongDesc(`
			Count the names that exist under each prefix that some object's generateName says, and
			say what they mean: the chance that the next create conflicts, without retries and with
			the server's, and how many more creates the prefix has room for.

			Without TYPE, every type that can be listed and created is counted, but for Events and
			Leases. Only metadata is read.

			The columns of the table:

			* NAMES that are taken under the prefix
			* PER-DAY, the rate of creation in the time of --window, at least
			* CONFLICT, the chance that the next create meets a taken name
			* WITH-RETRY, the chance that all tries of the server do
			* HEADROOM, the creates until the chance that any of them fails passes 0.1 %

			With -o wide also:

			* GENERATED, how many of the names have the prefix in their generateName
			* OLDEST and NEWEST, when the first and the last of them were created
			* FORECAST, the conflicts to expect in the time of --forecast: if as many names are
			  deleted as created, to if none is`),
		Example: templates.Examples(`
			# What fills up in the current namespace
			kubectl genname audit

			# Jobs and Pods of all namespaces, the ten riskiest prefixes
			kubectl genname audit jobs,pods -A --top 10

			# Gauges for Prometheus, of the hundred riskiest prefixes
			kubectl genname audit -A --top 100 -o openmetrics

			# Fail in CI if a prefix has more than 100000 names
			kubectl genname audit -A --fail-above-count 100000`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.Types(conn),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false,
		"If present, count across all namespaces, and cluster-scoped types too")
	flags.StringVarP(&o.labelSelector, "selector", "l", "",
		"Show only prefixes with an object that matches this label query; counts are not lowered by it")
	flags.StringSliceVar(&o.prefixes, "prefix", nil,
		"Count only these prefixes: whole generateNames, like run-, no patterns")
	flags.Int64Var(&o.minCount, "min-count", 10, "Hide prefixes with fewer names")
	flags.IntVar(&o.top, "top", 0, "Show only so many prefixes, the first in the order of --sort-by; 0 shows all")
	flags.Var(&o.sortBy, "sort-by", o.sortBy.Usage("Order", map[audit.Order]string{
		audit.ByRisk: "the chance that the next create conflicts with the attempts in force",
	}))
	flags.Var(&o.window, "window", "Time in which creations are counted for the rate, like 90m, 24h or 7d")
	flags.Var(&o.forecast, "forecast", "Horizon of the expected conflicts, like 12h or 30d")
	flags.Var(&o.serverAttempts, "server-attempts", "Number of names the server tries per create; auto asks the server")
	flags.Var(&o.failAbove, "fail-above",
		"Exit with 3 if the WITH-RETRY of a prefix, or its CONFLICT where the server's tries are unknown, "+
			"exceeds this, like 0.001 or 0.1%. With 8 tries that takes 6 million names: --fail-above-count is for less")
	flags.Int64Var(&o.failAboveCount, "fail-above-count", 0,
		"Exit with 3 if a prefix has more names than this, hidden prefixes included")
	flags.Int64Var(&o.chunkSize, "chunk-size", 0, "Number of objects to ask for in one request; 0 chooses")
	flags.IntVar(&o.concurrency, "concurrency", 0, "Number of lists in flight; 0 chooses")
	o.manners.addFlags(flags)
	flags.BoolVar(&o.noHeaders, "no-headers", false, "If present, print no headers")
	flagvalue.ReadableNumbers(flags)
	o.printFlags.AddFlags(cmd)
}

// Complete takes the scope and the output format from the command line and the
// kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	o.types = args
	o.named = len(args) > 0
	o.countGate = cmd.Flags().Changed("fail-above-count")
	for i, prefix := range o.prefixes {
		o.prefixes[i] = names.EffectivePrefix(prefix)
	}
	err := o.printFlags.Check() // before anything is counted
	if err != nil {
		return err
	}
	o.wide, o.openMetrics = o.printFlags.Take(output.Wide), o.printFlags.Take(openMetricsFormat)
	if o.selector, err = labels.Parse(o.labelSelector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if o.allNamespaces {
		return nil
	}
	o.namespace, _, err = o.factory.ToRawKubeConfigLoader().Namespace()
	return err
}

// Validate returns what is wrong with the flags.
func (o *options) Validate() error {
	switch {
	case o.minCount < 0:
		return fmt.Errorf("--min-count must not be negative, as %d is", o.minCount)
	case o.top < 0:
		return fmt.Errorf("--top must not be negative, as %d is", o.top)
	case o.window <= 0:
		return fmt.Errorf("--window must be positive, not %s", o.window.String())
	case o.forecast < 0:
		return fmt.Errorf("--forecast must not be negative, as %s is", o.forecast.String())
	case o.failAboveCount < 0:
		return fmt.Errorf("--fail-above-count must not be negative, as %d is", o.failAboveCount)
	case o.chunkSize < 0:
		return fmt.Errorf("--chunk-size must not be negative, as %d is", o.chunkSize)
	case o.concurrency < 0 || o.concurrency > maxLists:
		return fmt.Errorf("--concurrency must be from 0 to %d, not %d", maxLists, o.concurrency)
	}
	for _, prefix := range o.prefixes {
		if prefix == "" {
			return errors.New("--prefix must not be empty")
		}
	}
	return o.validateManners()
}

// Run counts, prints, and judges the gates.
func (o *options) Run(ctx context.Context) error {
	progress := terminal.StartProgress(o.ErrOut)
	defer progress.End()
	progress.Say("finding the types of the server")
	began := time.Now()
	counted, err := cluster.New(ctx, o.factory, &o.serverAttempts)
	if err != nil {
		return err
	}
	resources, skipped, err := counted.Resources(o.types, o.namespace)
	if err != nil {
		return err
	}
	if o.manners.estimate {
		return o.printEstimate(ctx, counted, resources, progress)
	}
	collector := audit.NewCollector(o.engineOptions(), counted.RetriesOf)
	scanner := o.scanner(counted, began)
	scanner.Progress = cluster.ShowScan(progress)
	scanner.Progress(census.Progress{Types: len(resources)})
	summary, err := scanner.Scan(ctx, resources, o.namespace, collector.Begin)
	if err != nil {
		return err
	}
	progress.Say("working out what the counts mean")
	result, err := collector.Report(audit.Scan{
		Server:    v1alpha1.AuditServer{GitVersion: counted.GitVersion(), Retries: counted.Retries()},
		Began:     began,
		Ended:     time.Now(),
		Resources: resources,
		Skipped:   skipped,
		Summary:   summary,
	})
	if err != nil {
		return err
	}
	progress.End()
	if err := o.print(result.Report, o.where(resources)); err != nil {
		return err
	}
	o.explain(result)
	return o.judge(ctx, result.Report)
}

// where returns in which namespace was counted, if in one, for the end of a sentence.
func (o *options) where(resources []census.Resource) string {
	namespaced := func(r census.Resource) bool { return r.Namespaced }
	if o.allNamespaces || !slices.ContainsFunc(resources, namespaced) {
		return ""
	}
	return fmt.Sprintf(" in %s namespace", o.namespace)
}

// engineOptions returns what the flags say of the audit.
func (o *options) engineOptions() audit.Options {
	options := audit.Options{
		Namespace: o.namespace, LabelSelector: o.labelSelector, TypesNamed: o.named, Prefixes: o.prefixes,
		Window: time.Duration(o.window), Forecast: time.Duration(o.forecast),
		MinCount: o.minCount, Top: o.top, Order: o.sortBy.Value,
	}
	if o.failAbove.Given() {
		options.FailAbove = o.failAbove.Value
	}
	if o.countGate {
		options.FailAboveCount = &o.failAboveCount
	}
	return options
}

// scanner returns the scanner that the flags ask for.
func (o *options) scanner(c *cluster.Cluster, now time.Time) *census.Scanner {
	return &census.Scanner{
		Config:       c.Config,
		ChunkSize:    o.chunkSize,
		Concurrency:  o.concurrency,
		Polite:       o.manners.polite,
		RetryTimeout: time.Duration(o.manners.retryTimeout),
		Selector:     o.selector,
		Prefixes:     o.prefixes,
		Since:        []time.Time{now.Add(-time.Duration(o.window))},
		MinCount:     o.minCount,
		Version:      c.ListsLike(),
	}
}

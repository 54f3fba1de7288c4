// Package audit is the command that counts generated names: its flags, the table,
// the gauges, and the gates' exit code. internal/census counts, and internal/audit
// says what the counts mean.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

	openMetrics     bool
	arguments       []string // TYPE[,TYPE...] or TYPE/PREFIX
	named           bool     // whether types were named
	namespace       string
	maybeNowhere    bool // it is not known whether there is such a namespace
	allNamespaces   bool
	labelSelector   string
	selector        labels.Selector
	prefixes        []string // effective ones, of --prefix or TYPE/PREFIX
	prefixesGiven   bool     // whether --prefix was
	minCount        int64
	top             int
	showReplicas    bool
	sortBy          flagvalue.Enum[audit.Order]
	window          flagvalue.Duration // 0 for audit.Windows
	forecast        flagvalue.Duration
	compare         string
	old             *v1alpha1.AuditReport
	serverAttempts  flagvalue.Attempts
	failAbove       flagvalue.Probability
	failAboveCount  int64
	countGate       bool // whether --fail-above-count was given
	failAboveGrowth float64
	growthGate      bool // whether --fail-above-growth was given
	allowUnlisted   bool
	ignoreNotFound  bool
	chunkSize       int64
	concurrency     int
	manners         manners
	watching        watching
	given           func(flag string) bool
}

var longHelp = templates.LongDesc(`
	Count the names that exist under each prefix that some object's generateName says, and
	say what they mean: which prefixes fill up, how fast, who makes them, and when a create
	is to be expected to fail.

	Without TYPE, every type that can be listed and created is counted, but for Events and
	Leases. Only metadata is read.

	The columns of the table:

	* NAMES that are taken under the prefix
	* PER-DAY, the least rate of creation that 10 minutes, an hour, a day and a week show
	* MADE-BY, the controller of the newest object, or the field manager that created it
	  (with ? if that is a guess), and how many others were seen
	* FIRST-IN, the time until a first failed create is to be expected at that rate: if none
	  is deleted, to if as many are deleted as created

	With -o wide also:

	* CONFLICT, the chance that the next create fails with the tries in force; ~0 is less
	  than one in 10^9
	* NO-RETRY, that chance if one name is tried
	* HEADROOM, the creates until the chance that any of them fails passes 0.1 %
	* GENERATED, how many of the names have the prefix in their generateName
	* REUSED/DAY, the creates that take the name of a deleted object
	* OLDEST and NEWEST, when the first and the last of them were created
	* FORECAST, the failed creates to expect in the time of --forecast: if as many names are
	  deleted as created, to if none is`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		IOStreams: streams, factory: conn.Factory, printFlags: output.NewFlags(output.Wide, openMetricsFormat),
		forecast:  flagvalue.Duration(30 * 24 * time.Hour),
		failAbove: flagvalue.Probability{Value: new(float64)},
		sortBy:    flagvalue.NewEnum(audit.ByRisk, audit.Orders...),
	}
	cmd := &cobra.Command{
		Use:                   "audit [TYPE[,TYPE...] | TYPE/PREFIX ...] [-n NAMESPACE | -A] [-l SELECTOR]",
		DisableFlagsInUseLine: true,
		Short:                 "Count the generated names that exist under each prefix",
		Long:                  longHelp,
		Example: templates.Examples(`
			# What fills up in the current namespace
			kubectl genname audit

			# Jobs and Pods of all namespaces, the ten riskiest prefixes
			kubectl genname audit jobs,pods -A --top 10

			# One prefix
			kubectl genname audit jobs/nightly-report- -o wide

			# What grew since an audit that was saved
			kubectl genname audit -A -o json > audit.json
			kubectl genname audit -A --compare audit.json

			# What comes and goes, as it does, for ten minutes
			kubectl genname audit -A --watch --duration 10m

			# Gauges for Prometheus, of the hundred riskiest prefixes
			kubectl genname audit -A --top 100 -o openmetrics

			# Fail in CI if a prefix has more than 100000 names
			kubectl genname audit -A --fail-above-count 100000`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.TypesOrPrefixes(conn),
	}
	o.addFlags(cmd)
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("prefix", complete.PrefixesOfTypes(conn))
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
	flags.Int64Var(&o.minCount, "min-count", 10, "Hide prefixes with fewer names; where prefixes are named, 1")
	flags.IntVar(&o.top, "top", 0, "Show only so many prefixes, the first in the order of --sort-by; "+
		"0 shows all. A screen that --watch paints has 1000 unless this says otherwise")
	flags.BoolVar(&o.showReplicas, "show-replicas", false, "Show a row of its own for each prefix that a number of "+
		"replicas bounds, like those of Pods of ReplicaSets; in tables they are one line for each namespace")
	flags.Var(&o.sortBy, "sort-by", o.sortBy.Usage("Order", map[audit.Order]string{
		audit.ByRisk: "prefixes of 100,000 names or more, then the chance that any create fails in the time of " +
			"--forecast, if none is deleted",
	}))
	flags.Var(&o.window, "window", "A time in which creations are counted for the rate, like 90m, 24h or 7d; "+
		"0 takes 10 minutes, an hour, a day and a week")
	flags.Var(&o.forecast, "forecast", "Horizon of the risk and of the expected conflicts, like 12h or 30d")
	flags.StringVar(&o.compare, "compare", "", "File with an AuditReport, as audit -o json prints it, to compare with")
	flags.Var(&o.serverAttempts, "server-attempts", "Number of names the server tries per create; auto asks the server")
	flags.Var(&o.failAbove, "fail-above",
		"Exit with 3 if the chance that the next create under a prefix fails, without retries where the server's "+
			"tries are unknown, exceeds this, like 0.001 or 0.1%. With 8 tries that takes 6 million names: "+
			"--fail-above-count is for less")
	flags.Int64Var(&o.failAboveCount, "fail-above-count", 0,
		"Exit with 3 if a prefix has more names than this, hidden prefixes included")
	flags.Float64Var(&o.failAboveGrowth, "fail-above-growth", 0,
		"Exit with 3 if a prefix has grown by more names per day than this since the audit of --compare")
	flags.BoolVar(&o.allowUnlisted, "allow-unlisted", false,
		"Let a gate pass although there are types that you may not list")
	flags.BoolVar(&o.ignoreNotFound, "ignore-not-found", false,
		"Let a gate pass although no name has a prefix that you named, or --selector chooses none")
	flags.Int64Var(&o.chunkSize, "chunk-size", 0, "Number of objects to ask for in one request; 0 chooses")
	flags.IntVar(&o.concurrency, "concurrency", 0, "Number of lists in flight; 0 chooses")
	o.manners.addFlags(flags)
	o.watching.addFlags(flags)
	flags.BoolVar(&o.noHeaders, "no-headers", false, "If present, print no headers")
	flagvalue.ReadableNumbers(flags)
	o.printFlags.AddFlags(cmd)
}

// Complete takes the scope and the output format from the command line and the
// kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	o.given = given
	o.arguments = args
	o.named = len(args) > 0
	o.prefixesGiven = given("prefix")
	o.countGate, o.growthGate = given("fail-above-count"), given("fail-above-growth")
	var prefixes []string
	for _, prefix := range o.prefixes {
		prefixes = withPrefix(prefixes, prefix)
	}
	o.prefixes = prefixes
	if (o.prefixesGiven || slices.ContainsFunc(args, isPrefix)) && !given("min-count") {
		o.minCount = 1 // who names a prefix wants to see it
	}
	err := o.printFlags.Check() // before anything is counted
	if err != nil {
		return err
	}
	o.wide, o.openMetrics = o.printFlags.Take(output.Wide), o.printFlags.Take(openMetricsFormat)
	if o.selector, err = labels.Parse(o.labelSelector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if err := o.readOld(); err != nil || o.allNamespaces {
		return err
	}
	o.namespace, _, err = o.factory.ToRawKubeConfigLoader().Namespace()
	return err
}

// withPrefix returns effective prefixes, and that of another one, each once.
func withPrefix(prefixes []string, prefix string) []string {
	if prefix = names.EffectivePrefix(prefix); slices.Contains(prefixes, prefix) {
		return prefixes
	}
	return append(prefixes, prefix)
}

// isPrefix reports whether an argument is TYPE/PREFIX.
func isPrefix(argument string) bool { return strings.Contains(argument, "/") }

// Validate returns what is wrong with the flags.
func (o *options) Validate() error {
	switch {
	case o.minCount < 0:
		return fmt.Errorf("--min-count must not be negative, as %d is", o.minCount)
	case o.top < 0:
		return fmt.Errorf("--top must not be negative, as %d is", o.top)
	case o.window < 0:
		return fmt.Errorf("--window must not be negative, as %s is", o.window.String())
	case o.forecast < 0:
		return fmt.Errorf("--forecast must not be negative, as %s is", o.forecast.String())
	case o.failAboveCount < 0:
		return fmt.Errorf("--fail-above-count must not be negative, as %d is", o.failAboveCount)
	case math.IsNaN(o.failAboveGrowth) || math.IsInf(o.failAboveGrowth, 0):
		return fmt.Errorf("--fail-above-growth must be a number of names per day, not %g", o.failAboveGrowth)
	case o.growthGate && o.compare == "":
		return errors.New("--fail-above-growth needs --compare: a growth is that since an earlier audit")
	case o.chunkSize < 0:
		return fmt.Errorf("--chunk-size must not be negative, as %d is", o.chunkSize)
	case o.concurrency < 0 || o.concurrency > maxLists:
		return fmt.Errorf("--concurrency must be from 0 to %d, not %d", maxLists, o.concurrency)
	}
	if err := o.validatePrefixes(); err != nil {
		return err
	}
	return errors.Join(o.validateManners(), o.validateWatching())
}

// validatePrefixes returns what is wrong with the prefixes that were named.
func (o *options) validatePrefixes() error {
	if o.prefixesGiven && (len(o.prefixes) == 0 || slices.Contains(o.prefixes, "")) {
		return errors.New("--prefix must not be empty")
	}
	if !slices.ContainsFunc(o.arguments, isPrefix) {
		return nil
	}
	if o.prefixesGiven {
		return errors.New("--prefix and TYPE/PREFIX exclude each other")
	}
	for _, argument := range o.arguments {
		resource, prefix, ok := strings.Cut(argument, "/")
		switch {
		case !ok:
			return fmt.Errorf("%q is not TYPE/PREFIX, as another argument is", argument)
		case resource == "" || prefix == "" || strings.Contains(resource, ",") || isPrefix(prefix):
			return fmt.Errorf("%q is not TYPE/PREFIX, like jobs/nightly-report-", argument)
		}
	}
	return nil
}

// readOld reads the audit to compare with.
func (o *options) readOld() error {
	if o.compare == "" {
		return nil
	}
	data, err := os.ReadFile(o.compare)
	if err != nil {
		return fmt.Errorf("--compare: %w", err)
	}
	if o.old, err = v1alpha1.ReadAuditReport(data); err != nil {
		return fmt.Errorf("--compare: %s %w", o.compare, err)
	}
	return nil
}

// Run counts, prints, and judges the gates.
func (o *options) Run(ctx context.Context) error {
	progress := terminal.StartProgress(o.ErrOut)
	defer progress.End()
	progress.Say("finding the types of the server")
	patience := cluster.Patience{For: time.Duration(o.manners.retryTimeout), Say: progress.Line}
	counted, err := cluster.New(ctx, o.factory, &o.serverAttempts, patience)
	if err != nil {
		return err
	}
	resources, skipped, of, err := o.resources(ctx, counted)
	if err != nil {
		return err
	}
	if err := o.checkNamespace(ctx, counted, resources); err != nil {
		return err
	}
	options := o.engineOptions(time.Now(), of) // the windows end now, however long the server was away
	scanner := o.scanner(counted, options)
	scanner.Absent, scanner.Resting = patience.Tell, tellRest(progress.Line)
	if o.manners.estimate {
		return o.printEstimate(ctx, scanner, resources, progress)
	}
	if o.watching.watch {
		return o.runWatch(ctx, counted, options, resources, skipped, progress)
	}
	collector, err := audit.NewCollector(options, counted.RetriesOf)
	if err != nil {
		return fmt.Errorf("--compare: %s cannot be compared with: %w", o.compare, err)
	}
	scanner.Progress = cluster.ShowScan(progress)
	scanner.Progress(census.Progress{Types: len(resources)})
	summary, err := scanner.Scan(ctx, resources, o.namespace, collector.Begin)
	if err != nil {
		return err
	}
	progress.Say("working out what the counts mean")
	result, err := collector.Report(audit.Scan{
		Server:    v1alpha1.AuditServer{GitVersion: counted.GitVersion(), Retries: counted.Retries()},
		Ended:     time.Now(),
		Resources: resources,
		Skipped:   skipped,
		Summary:   summary,
	})
	if err != nil {
		return err
	}
	progress.End()
	o.sayRead(result.Report)
	if err := o.print(result.Report, o.where(resources)); err != nil {
		return err
	}
	o.explain(result)
	return o.judge(ctx, result)
}

// inOne reports whether anything is counted in one namespace only.
func (o *options) inOne(resources []census.Resource) bool {
	namespaced := func(r census.Resource) bool { return r.Namespaced }
	return !o.allNamespaces && slices.ContainsFunc(resources, namespaced)
}

// where returns in which namespace was counted, if in one, for the end of a sentence.
func (o *options) where(resources []census.Resource) string {
	if !o.inOne(resources) {
		return ""
	}
	return fmt.Sprintf(" in %s namespace", o.namespace)
}

// resources returns the types to count, and where TYPE/PREFIX was said the prefixes
// that are counted of each.
func (o *options) resources(
	ctx context.Context, c *cluster.Cluster,
) (types []census.Resource, skipped []census.Skipped, of map[schema.GroupResource][]string, err error) {
	find := func(named []string) (found []census.Resource, skipped []census.Skipped, err error) {
		err = c.Await(ctx, func() error {
			found, skipped, err = c.Resources(named, o.namespace)
			return err
		})
		return found, skipped, err
	}
	if !slices.ContainsFunc(o.arguments, isPrefix) {
		types, skipped, err = find(o.arguments)
		return types, skipped, nil, err
	}
	of = map[schema.GroupResource][]string{}
	for _, argument := range o.arguments {
		word, prefix, _ := strings.Cut(argument, "/")
		found, never, err := find([]string{word})
		if err != nil {
			return nil, nil, nil, err
		}
		skipped = append(skipped, never...)
		for _, r := range found {
			if !slices.Contains(types, r) {
				types = append(types, r)
			}
			of[r.GroupResource()] = withPrefix(of[r.GroupResource()], prefix)
			o.prefixes = withPrefix(o.prefixes, prefix)
		}
	}
	return types, skipped, of, nil
}

// engineOptions returns what the flags say of an audit that begins at a time.
func (o *options) engineOptions(began time.Time, of map[schema.GroupResource][]string) audit.Options {
	options := audit.Options{
		Namespace: o.namespace, LabelSelector: o.labelSelector, Began: began,
		TypesNamed: o.named, AllowUnlisted: o.allowUnlisted,
		Prefixes: o.prefixes, PrefixesOf: of,
		Windows: audit.Windows, Forecast: time.Duration(o.forecast), Old: o.old,
		MinCount: o.minCount, Top: o.top, Order: o.sortBy.Value,
	}
	if o.window > 0 {
		options.Windows = []time.Duration{time.Duration(o.window)}
	}
	if o.failAbove.Given() {
		options.FailAbove = o.failAbove.Value
	}
	if o.countGate {
		options.FailAboveCount = &o.failAboveCount
	}
	if o.growthGate {
		options.FailAboveGrowth = &o.failAboveGrowth
	}
	return options
}

// scanner returns the scanner that the flags ask for.
func (o *options) scanner(c *cluster.Cluster, options audit.Options) *census.Scanner {
	scanner := &census.Scanner{
		Config:       c.Config,
		ChunkSize:    o.chunkSize,
		Concurrency:  o.concurrency,
		Polite:       o.manners.polite,
		RetryTimeout: time.Duration(o.manners.retryTimeout),
		Selector:     o.selector,
		Prefixes:     o.prefixes,
		MinCount:     options.CountsFrom(),
		Version:      c.ListsLike(),
	}
	if !options.Gated() { // of what is hidden, only a gate looks at who made it: not all have one try
		scanner.MakersFrom = o.minCount
	}
	for _, window := range options.Windows {
		scanner.Since = append(scanner.Since, options.Began.Add(-window))
	}
	return scanner
}

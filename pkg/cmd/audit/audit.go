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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
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
	Count the generated names of a cluster by prefix. Use it to find the prefixes that fill
	up, their creators, and the time until creates start to fail.

	Without TYPE, audit counts every resource type that you can list and create, except Events
	and Leases. It reads only metadata.

	The table has these columns:

	* NAMES: names that exist under the prefix
	* PER-DAY: lowest rate of creation that fits the last 10 minutes, hour, day and week
	* CREATOR: the controller of the newest object, or the field manager that created it
	  (with ? if that is a guess), and the number of other creators
	* FAILS-IN: time until the first failed create at that rate, if no object is deleted, and
	  if as many are deleted as created

	With -o wide, it also has these columns:

	* FAILURE: chance that the next create fails, with all attempts (~0 is below 1 in 10^9)
	* NO-RETRY: the same chance with one attempt
	* ROOM: further creates until the chance of any failure exceeds 0.1%
	* GENERATED: names whose object has the prefix in its own generateName
	* REUSED/DAY: creates per day that take the name of a deleted object
	* OLDEST, NEWEST: creation times of the oldest and the newest object
	* FORECAST: failures to expect in the time of --forecast, if as many objects are deleted
	  as created, and if none is deleted`)

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
		Short:                 "Count the generated names of a cluster by prefix",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Find the prefixes that fill up in the current namespace
			kubectl genname audit

			# Find the ten riskiest prefixes of Jobs and Pods in all namespaces
			kubectl genname audit jobs,pods -A --top 10

			# Show every column of one prefix
			kubectl genname audit jobs/nightly-report- -o wide

			# Save an audit, and later show the growth since then
			kubectl genname audit -A -o json > audit.json
			kubectl genname audit -A --compare audit.json

			# Watch creates and deletes for ten minutes
			kubectl genname audit -A --watch --duration 10m

			# Export the hundred riskiest prefixes to Prometheus
			kubectl genname audit -A --top 100 -o openmetrics

			# Fail a CI job if a prefix has more than 100,000 names
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
		"Count objects of all namespaces, and cluster-scoped objects")
	flags.StringVarP(&o.labelSelector, "selector", "l", "",
		"Show only prefixes with an object that matches this label selector. Counts still include all objects")
	flags.StringSliceVar(&o.prefixes, "prefix", nil,
		"Count only these prefixes. A prefix is a whole generateName, like run-, not a pattern")
	flags.Int64Var(&o.minCount, "min-count", 10,
		"Hide prefixes with fewer names. The default is 1 if you name a prefix")
	flags.IntVar(&o.top, "top", 0, "Number of prefixes to show, in the order of --sort-by. "+
		"0 shows all, except that --watch on a terminal shows 1000")
	flags.BoolVar(&o.showReplicas, "show-replicas", false, "Show each prefix that a number of replicas limits, "+
		"like Pods of ReplicaSets, in a row of its own. By default, each namespace has one row for them")
	flags.Var(&o.sortBy, "sort-by", o.sortBy.Usage("Order", map[audit.Order]string{
		audit.ByRisk: "prefixes with 100,000 names or more, then the chance that a create fails in the time of " +
			"--forecast if nothing is deleted",
	}))
	flags.Var(&o.window, "window", "Length of the window that measures the rate of creation, like 90m, 24h or 7d. "+
		"0 uses 10 minutes, an hour, a day and a week")
	flags.Var(&o.forecast, "forecast", "Length of the forecast, like 12h or 30d")
	flags.StringVar(&o.compare, "compare", "", "File with an earlier audit to compare with (from audit -o json)")
	flags.Var(&o.serverAttempts, "server-attempts",
		"Number of names that the server tries per create. With auto, audit asks the server")
	flags.Var(&o.failAbove, "fail-above",
		"Exit with code 3 if the chance that the next create under a prefix fails is greater, like 0.001 or 0.1%. "+
			"With 8 attempts, 0.1% takes 6 million names: to find smaller prefixes, use --fail-above-count")
	flags.Int64Var(&o.failAboveCount, "fail-above-count", 0,
		"Exit with code 3 if a prefix has more names. This includes hidden prefixes")
	flags.Float64Var(&o.failAboveGrowth, "fail-above-growth", 0,
		"Exit with code 3 if a prefix has grown by more names per day since the audit of --compare")
	flags.BoolVar(&o.allowUnlisted, "allow-unlisted", false,
		"Let a gate pass even if there are resource types that you can't list")
	flags.BoolVar(&o.ignoreNotFound, "ignore-not-found", false,
		"Let a gate pass even if a prefix that you named has no names, or --selector matches no object")
	flags.Int64Var(&o.chunkSize, "chunk-size", 0, "Number of objects per request. 0 chooses it automatically")
	flags.IntVar(&o.concurrency, "concurrency", 0, "Number of parallel lists. 0 chooses it automatically")
	o.manners.addFlags(flags)
	o.watching.addFlags(flags)
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Print the table without headers")
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
		return fmt.Errorf(messages.NegativeNumber, "--min-count", o.minCount)
	case o.top < 0:
		return fmt.Errorf(messages.NegativeNumber, "--top", o.top)
	case o.window < 0:
		return fmt.Errorf(messages.NegativeDuration, "--window", o.window.String())
	case o.forecast < 0:
		return fmt.Errorf(messages.NegativeDuration, "--forecast", o.forecast.String())
	case o.failAboveCount < 0:
		return fmt.Errorf(messages.NegativeNumber, "--fail-above-count", o.failAboveCount)
	case math.IsNaN(o.failAboveGrowth) || math.IsInf(o.failAboveGrowth, 0):
		return fmt.Errorf(messages.BadGrowth, o.failAboveGrowth)
	case o.growthGate && o.compare == "":
		return errors.New(messages.GrowthNeedsCompare)
	case o.chunkSize < 0:
		return fmt.Errorf(messages.NegativeNumber, "--chunk-size", o.chunkSize)
	case o.concurrency < 0 || o.concurrency > maxLists:
		return fmt.Errorf(messages.BadConcurrency, maxLists, o.concurrency)
	}
	if err := o.validatePrefixes(); err != nil {
		return err
	}
	return errors.Join(o.validateManners(), o.validateWatching())
}

// validatePrefixes returns what is wrong with the prefixes that were named.
func (o *options) validatePrefixes() error {
	if o.prefixesGiven && (len(o.prefixes) == 0 || slices.Contains(o.prefixes, "")) {
		return errors.New(messages.EmptyPrefix)
	}
	if !slices.ContainsFunc(o.arguments, isPrefix) {
		return nil
	}
	if o.prefixesGiven {
		return errors.New(messages.PrefixTwice)
	}
	for _, argument := range o.arguments {
		resource, prefix, ok := strings.Cut(argument, "/")
		switch {
		case !ok:
			return fmt.Errorf(messages.MixedArguments, argument)
		case resource == "" || prefix == "" || strings.Contains(resource, ",") || isPrefix(prefix):
			return fmt.Errorf(messages.BadArgument, argument)
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
		return fmt.Errorf(messages.BadFile, o.compare, err)
	}
	return nil
}

// Run counts, prints, and judges the gates.
func (o *options) Run(ctx context.Context) error {
	progress := terminal.StartProgress(o.ErrOut)
	defer progress.End()
	progress.Say(messages.Discovering)
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
	uid, ahead := counted.UID(ctx), counted.Ahead(ctx)
	if ahead != 0 {
		progress.Line(aheadText(ahead))
	}
	options := o.engineOptions(time.Now().Add(ahead), of) // the windows end now, however long the server was away
	scanner := o.scanner(counted, options)
	scanner.Absent, scanner.Resting = patience.Tell, tellRest(progress.Line)
	if o.manners.estimate {
		return o.printEstimate(ctx, scanner, resources, progress)
	}
	if o.watching.watch {
		w := &watched{options: o, cluster: counted, uid: uid, ahead: ahead, about: options, skipped: skipped}
		return w.run(ctx, resources, progress)
	}
	collector, err := audit.NewCollector(options, counted.RetriesOf)
	if err != nil {
		return fmt.Errorf(messages.NotComparable, o.compare, err)
	}
	scanner.Progress = cluster.ShowScan(progress)
	scanner.Progress(census.Progress{Types: len(resources)})
	summary, err := scanner.Scan(ctx, resources, o.namespace, collector.Begin)
	if err != nil {
		return err
	}
	progress.Say(messages.Evaluating)
	result, err := collector.Report(audit.Scan{
		Server:    serverOf(counted, uid),
		Ended:     time.Now().Add(ahead),
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
	return o.evaluate(ctx, result)
}

// serverOf returns what a report says of the server.
func serverOf(c *cluster.Cluster, uid string) v1alpha1.AuditServer {
	return v1alpha1.AuditServer{GitVersion: c.GitVersion(), ClusterUID: uid, Retries: c.Retries()}
}

// aheadText returns how the server's clock differs from that of this computer.
func aheadText(ahead time.Duration) string {
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	return fmt.Sprintf("Warning: the server's clock is %s %s the clock of this computer. Times are the server's.",
		ahead.Abs(), direction)
}

// inOne reports whether anything is counted in one namespace only.
func (o *options) inOne(resources []census.Resource) bool {
	namespaced := func(r census.Resource) bool { return r.Namespaced }
	return !o.allNamespaces && slices.ContainsFunc(resources, namespaced)
}

// where returns the only namespace that is counted, or nothing.
func (o *options) where(resources []census.Resource) string {
	if !o.inOne(resources) {
		return ""
	}
	return o.namespace
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
	if !options.Gated() { // of what is hidden, only a gate looks at who made it: not all have one attempt
		scanner.CreatorsFrom = o.minCount
	}
	for _, window := range options.Windows {
		scanner.Since = append(scanner.Since, options.Began.Add(-window))
	}
	return scanner
}

// Package audit is the command that counts generated names: its flags, its output, and
// the gates' exit code. internal/census counts, and internal/audit makes the report.
package audit

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// maxLists is the largest number of lists in flight. Each has its own connection and buffer.
const maxLists = 256

const defaultMinCount = 10

// options are the values of the flags. settings are the flags and arguments that a run uses unchanged.
type settings struct {
	arguments      []string       // TYPE[,TYPE...] or TYPE/PREFIX
	lists          census.Scanner // how the server is read
	config         audit.Config
	compare        string // the file of the earlier audit
	ignoreNotFound bool   // a gate passes if it found no name
	watch          bool
	// duration is the duration of a watch, and interval the time between two reports.
	duration, interval time.Duration
}

type options struct {
	genericiooptions.IOStreams
	settings
	factory    cmdutil.Factory
	printFlags *output.Flags
	wide       bool

	scope           scan.Flags
	topGiven        bool
	prefixes        []string
	sortBy          flagvalue.Enum[audit.Order]
	serverAttempts  flagvalue.Attempts
	failAbove       flagvalue.Probability
	failAboveCount  int64
	failAboveGrowth float64
	given           func(flag string) bool
}

var longHelp = templates.LongDesc(`
	Count the generated names of a cluster by prefix (generateName). Use audit to find prefixes
	with many names and their creators, and prefixes whose creates are close to failing because
	too many names are taken.

	Without TYPE, audit counts the objects of each resource type with the verbs list and create,
	except Events and Leases. audit reads only metadata, and changes nothing.

	The first line, on stderr, is the verdict. It reports whether creates are close to failing.
	The table has these columns:

	* NAMES: the number of names that exist under the prefix
	* LAST-10M, LAST-24H: the number of names whose object was created in the last ten minutes
	  and in the last 24 hours, by the server's clock
	* CREATOR: the controller of the newest object, or else the field manager that created the
	  object, and the number of other creators. A ? means that the field manager is a guess
	* NOTES: facts that might need an action

	The table hides prefixes with fewer names than --min-count. It adds up the objects of the
	hidden prefixes in one row for each type, namespace and kind of controller. For example, the
	row (404 Jobs) counts the Pods of 404 Jobs.

	With -o wide, the table also has these columns:

	* ATTEMPTS: the number of names that the server, or a client that generates names, tries per
	  create
	* ROOM: the number of further creates until the chance that any of them has failed exceeds
	  0.1%
	* OLDEST, NEWEST: the ages of the oldest and the newest object

	With TYPE/PREFIX, audit prints all facts about this prefix, and recommends a next step.

	With --watch, the table has other columns. CREATED and DELETED are numbers of objects since
	the watch began. RATE is the growth of NAMES per second, minute or hour.

	The flags --fail-above, --fail-above-count and --fail-above-growth set limits for CI, called
	gates. If a prefix exceeds a gate, the exit code is 3.`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(conn.Factory, streams)
	cmd := &cobra.Command{
		Use:                   "audit [TYPE[,TYPE...] | TYPE/PREFIX ...] [-n NAMESPACE | -A] [-l SELECTOR]",
		DisableFlagsInUseLine: true,
		Short:                 "Count the generated names of a cluster by prefix",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Find the prefixes with the most names in the current namespace
			kubectl genname audit

			# Find the ten largest prefixes of Jobs and Pods in all namespaces
			kubectl genname audit jobs,pods -A --top 10

			# Find the prefixes with the most objects created in the last ten minutes
			kubectl genname audit -A --sort-by last-10m

			# Print all facts about one prefix
			kubectl genname audit jobs/nightly-report-

			# Save an audit, and later show the growth since this audit
			kubectl genname audit -A -o json > audit.json
			kubectl genname audit -A --compare audit.json

			# Watch creates and deletes for ten minutes
			kubectl genname audit -A --watch --duration 10m

			# Fail a CI job if a prefix has more than 100,000 names
			kubectl genname audit -A --fail-above-count 100000`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.TypesOrPrefixes(conn),
	}
	o.addFlags(cmd)
	// RegisterFlagCompletionFunc fails only for a flag that doesn't exist.
	_ = cmd.RegisterFlagCompletionFunc("prefix", complete.PrefixesOfTypes(conn))
	return cmd
}

// newOptions returns the defaults.
func newOptions(factory cmdutil.Factory, streams genericiooptions.IOStreams) *options {
	return &options{
		IOStreams: streams, factory: factory, printFlags: output.NewFlags(output.Wide),
		settings: settings{interval: 5 * time.Second}, failAbove: flagvalue.Probability{Value: new(float64)},
		sortBy: flagvalue.NewEnum(audit.ByNames, audit.Orders...),
	}
}

func (o *options) addFlags(cmd *cobra.Command) {
	set := cmd.Flags()
	o.scope.Bind(set, "Count the objects of all namespaces, and cluster-scoped objects",
		"Show prefixes with an object that matches this label query. The counts still include all objects of a prefix")
	set.StringSliceVar(&o.prefixes, "prefix", nil,
		"Count only these prefixes. A prefix is a whole generateName, like run-, not a pattern")
	set.Int64Var(&o.config.MinCount, "min-count", defaultMinCount,
		"Combine prefixes with fewer names in one row per creator. The default is 1 if you name a prefix. The "+
			"default is 20 for names that end in a number, a time, a hash or a revision")
	set.IntVar(&o.config.Top, "top", 0, "Number of prefixes to print in all formats, in the order of "+
		"--sort-by. 0 prints all. Without this flag, a table in a terminal has 20 prefixes, and --watch prints as "+
		"many as fit")
	set.Var(&o.sortBy, "sort-by", o.sortBy.Usage("Order", nil)+
		". The largest value comes first. With --watch, the default order is by the fastest growth")
	set.StringVar(&o.compare, "compare", "", "File with an earlier audit (from audit -o json) to compare with")
	set.Var(&o.serverAttempts, "server-attempts",
		"Number of names that the server tries per create. With auto, audit asks the server")
	set.Var(&o.failAbove, "fail-above",
		"Gate: exit with 3 if the next create under a prefix fails with a chance above this one, like 0.001 or "+
			"0.1%. With 8 attempts per create, the chance is 0.1% at 6 million names. "+
			"For a lower limit, use --fail-above-count")
	set.Int64Var(&o.failAboveCount, "fail-above-count", 0,
		"Gate: exit with 3 if a prefix has more names than this. The gate applies to hidden prefixes, too")
	set.Float64Var(&o.failAboveGrowth, "fail-above-growth", 0,
		"Gate: exit with 3 if a prefix has grown by more names per day than this since the audit of --compare")
	set.BoolVar(&o.config.AllowUnlisted, "allow-unlisted", false,
		"Let gates pass if you have no permission to list some types")
	set.BoolVar(&o.ignoreNotFound, "ignore-not-found", false,
		"Let gates pass if a prefix that you named has no names, or if --selector matches no object")
	set.Int64Var(&o.lists.ChunkSize, "chunk-size", 0,
		"Number of objects per request. 0 chooses the number automatically")
	set.IntVar(&o.lists.Concurrency, "concurrency", 0,
		"Number of lists to read at the same time. 0 chooses the number automatically")
	set.BoolVar(&o.lists.Polite, "polite", false,
		"Send one request at a time. After each request, pause for nine times its duration")
	set.BoolVarP(&o.watch, "watch", "w", false, "After counting, watch the objects, and update counts and rates. "+
		"The watch ends after --duration, or if you press q or Ctrl+C. Then audit evaluates the gates")
	set.Var((*flagvalue.Duration)(&o.duration), "duration",
		"How long --watch runs after the first count, like 90s or 1h. 0 sets no limit")
	set.Var((*flagvalue.Duration)(&o.interval), "interval", "How often --watch prints changes")
	o.printFlags.AddTableFlags(cmd)
}

// Complete sets the scope, the rows, the gates and the output format from the command line and the kubeconfig.
func (o *options) Complete(cmd *cobra.Command, args []string) (err error) {
	o.arguments, o.given = args, cmd.Flags().Changed
	if err := o.printFlags.Check(); err != nil { // before anything is counted
		return err
	}
	o.wide = o.printFlags.Take(output.Wide)
	if err := o.scope.Complete(cmd, o.factory); err != nil {
		return err
	}
	o.completeConfig()
	return nil
}

// completeConfig sets the scope, the rows and the gates.
func (o *options) completeConfig() {
	config := &o.config
	config.Namespace, config.LabelSelector, config.TypesNamed = o.scope.Namespace, o.scope.Selector, o.named()
	o.lists.Selector, o.topGiven, config.Order = o.scope.Labels, o.given("top"), o.sortBy.Value
	if o.watch && !o.given("sort-by") {
		config.Order = audit.ByRate
	}
	if (o.given("prefix") || slices.ContainsFunc(o.arguments, isPrefix)) && !o.given("min-count") {
		config.MinCount = 1 // show every prefix that the user named
	}
	config.MinStem = config.MinCount
	if config.MinCount == defaultMinCount && !o.given("min-count") {
		config.MinStem = pools.FewestOfStem
	}
	for _, prefix := range o.prefixes {
		config.Prefixes = withPrefix(config.Prefixes, prefix)
	}
	if o.failAbove.Given() {
		config.FailAbove = o.failAbove.Value
	}
	if o.given("fail-above-count") {
		config.FailAboveCount = &o.failAboveCount
	}
	if o.given("fail-above-growth") {
		config.FailAboveGrowth = &o.failAboveGrowth
	}
}

// Package audit is the command that counts generated names: its flags, its output, and
// the gates' exit code. internal/census counts, and internal/audit makes the report.
package audit

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
)

// command is the command line.
type command struct {
	streams genericiooptions.IOStreams
	factory cmdutil.Factory
	flags   flags
	invalid error // of the flags
}

// flags are the values of the flags. Most are those of the config.
type flags struct {
	config
	prefixes        []string
	sortBy          flagvalue.Enum[audit.Order]
	serverAttempts  flagvalue.Attempts
	failAbove       flagvalue.Probability
	failAboveCount  int64
	failAboveGrowth float64
}

var longHelp = templates.LongDesc(`
	Count the generated names of a cluster by prefix. Use it to find the prefixes that fill
	up, their creators, and the prefixes whose creates are close to failing.

	Without TYPE, audit counts every resource type with the verbs list and create, except
	Events and Leases. It reads only metadata.

	The first line, on stderr, is the verdict: whether creates are close to failing. The table
	has these columns:

	* NAMES: the number of names that exist under the prefix
	* LAST-10M, LAST-24H: the number of names whose object was created in the last ten minutes
	  and in the last 24 hours, by the server's clock
	* CREATOR: the controller of the newest object, or the field manager that created the object
	  (with ? if that is a guess), and the number of other creators
	* NOTES: facts that might need an action

	The table hides prefixes with fewer names than --min-count. If the objects of such prefixes
	have controllers of one kind, the table has one row for all of them, like (404 Jobs).

	With -o wide, the table also has these columns:

	* ATTEMPTS: the number of names that the server or the client tries per create
	* ROOM: further creates until the chance that any has failed exceeds 0.1%
	* OLDEST, NEWEST: ages of the oldest and the newest object

	With TYPE/PREFIX, audit prints a record of this prefix and the next step.

	With --watch, the table has RATE, which is the growth of NAMES per second, minute or hour,
	and CREATED and DELETED since the watch began.

	The flags --fail-above, --fail-above-count and --fail-above-growth are gates for CI. If a
	prefix exceeds one, the exit code is 3.`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	c := &command{streams: streams, factory: conn.Factory, flags: newFlags()}
	cmd := &cobra.Command{
		Use:                   "audit [TYPE[,TYPE...] | TYPE/PREFIX ...] [-n NAMESPACE | -A] [-l SELECTOR]",
		DisableFlagsInUseLine: true,
		Short:                 "Count the generated names of a cluster by prefix",
		Long:                  longHelp,
		Example: templates.Examples(`
			# Find the prefixes that fill up in the current namespace
			kubectl genname audit

			# Find the ten largest prefixes of Jobs and Pods in all namespaces
			kubectl genname audit jobs,pods -A --top 10

			# Find the prefixes with the most objects of the last ten minutes
			kubectl genname audit -A --sort-by last-10m

			# Print the record of one prefix
			kubectl genname audit jobs/nightly-report-

			# Save an audit, and later show the growth since then
			kubectl genname audit -A -o json > audit.json
			kubectl genname audit -A --compare audit.json

			# Watch creates and deletes for ten minutes
			kubectl genname audit -A --watch --duration 10m

			# Fail a CI job if a prefix has more than 100,000 names
			kubectl genname audit -A --fail-above-count 100000`),
		RunE:              runner.RunE(c),
		ValidArgsFunction: complete.TypesOrPrefixes(conn),
	}
	c.flags.add(cmd)
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("prefix", complete.PrefixesOfTypes(conn))
	return cmd
}

// newFlags returns the defaults.
func newFlags() flags {
	return flags{
		config: config{
			scan:     census.Scanner{RetryTimeout: census.DefaultRetryTimeout},
			interval: 5 * time.Second,
			prints:   printing{flags: output.NewFlags(output.Wide)},
		},
		failAbove: flagvalue.Probability{Value: new(float64)},
		sortBy:    flagvalue.NewEnum(audit.ByNames, audit.Orders...),
	}
}

func (f *flags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.BoolVarP(&f.prints.namespaces, "all-namespaces", "A", false,
		"Count objects of all namespaces, and cluster-scoped objects")
	set.StringVarP(&f.about.LabelSelector, "selector", "l", "",
		"Show only prefixes with an object that matches this label selector. The counts of these prefixes still "+
			"include all objects")
	set.StringSliceVar(&f.prefixes, "prefix", nil,
		"Count only these prefixes. A prefix is a whole generateName, like run-, not a pattern")
	set.Int64Var(&f.about.MinCount, "min-count", 10,
		"Hide prefixes with fewer names than this. The default is 1 if you name a prefix")
	set.IntVar(&f.about.Top, "top", 0, "Number of rows to show, in the order of --sort-by. 0 shows all. "+
		"Without this flag, a terminal shows 20, and with --watch as many as fit")
	set.Var(&f.sortBy, "sort-by", f.sortBy.Usage("Order", nil)+
		". The largest comes first. With --watch, the default is the fastest growth")
	set.StringVar(&f.compare, "compare", "", "File with an earlier audit to compare with (from audit -o json)")
	set.Var(&f.serverAttempts, "server-attempts",
		"Number of names that the server tries per create. With auto, audit asks the server")
	set.Var(&f.failAbove, "fail-above",
		"Exit with code 3 if the next create under a prefix fails with a chance above this value, like 0.001 or 0.1%. "+
			"With 8 attempts per create, the chance is 0.1% at 6 million names. "+
			"For a lower limit, use --fail-above-count")
	set.Int64Var(&f.failAboveCount, "fail-above-count", 0,
		"Exit with code 3 if a prefix has more names than this, also if the table hides the prefix")
	set.Float64Var(&f.failAboveGrowth, "fail-above-growth", 0,
		"Exit with code 3 if a prefix has grown by more names per day than this since the audit of --compare")
	set.BoolVar(&f.about.AllowUnlisted, "allow-unlisted", false,
		"Let a gate pass even if there are resource types that you can't list")
	set.BoolVar(&f.ignoreNotFound, "ignore-not-found", false,
		"Let a gate pass even if a prefix that you named has no names, or --selector matches no object")
	set.Int64Var(&f.scan.ChunkSize, "chunk-size", 0, "Number of objects per request. 0 chooses it automatically")
	set.IntVar(&f.scan.Concurrency, "concurrency", 0,
		"Number of lists to read at the same time. 0 chooses it automatically")
	set.BoolVar(&f.scan.Polite, "polite", false,
		"Send one request at a time. After each request, pause nine times as long as it took")
	set.Var((*flagvalue.Duration)(&f.scan.RetryTimeout), "retry-timeout",
		"How long to retry one request while the server throttles it, fails or is unreachable")
	set.BoolVar(&f.estimate, "estimate", false,
		"Print how many objects an audit would read, and don't count names. "+
			"This reads one object of each resource type")
	set.BoolVarP(&f.watch, "watch", "w", false, "After counting, watch the objects and update counts and rates "+
		"until you press q, interrupt, or --duration ends. The gates are evaluated at the end")
	set.Var((*flagvalue.Duration)(&f.duration), "duration",
		"How long to --watch after the first count, like 90s or 1h. 0 has no end")
	set.Var((*flagvalue.Duration)(&f.interval), "interval", "How often --watch prints changes")
	set.BoolVar(&f.prints.noHeaders, "no-headers", false, "Print the table without headers")
	flagvalue.ReadableNumbers(set)
	f.prints.flags.AddFlags(cmd)
}

// Complete takes the scope and the output format from the command line and the
// kubeconfig.
func (c *command) Complete(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	if err := c.flags.prints.flags.Check(); err != nil { // before anything is counted
		return err
	}
	c.invalid = c.flags.validate(given)
	if c.invalid == nil {
		c.invalid = validateArguments(args, given("prefix"))
	}
	namespace := ""
	if !c.flags.prints.namespaces {
		var err error
		if namespace, _, err = c.factory.ToRawKubeConfigLoader().Namespace(); err != nil {
			return err
		}
	}
	return c.flags.complete(args, namespace, given)
}

// Validate returns an error for wrong flags or arguments.
func (c *command) Validate() error { return c.invalid }

// Run counts, prints, and evaluates the gates.
func (c *command) Run(ctx context.Context) error {
	r := &run{config: &c.flags.config, streams: c.streams, factory: c.factory, printer: linePrinter{c.streams.ErrOut}}
	return r.run(ctx, &c.flags.serverAttempts)
}

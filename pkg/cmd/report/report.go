// Package report is the command that calculates the probability that creates fail. The package owns the flags, the
// sources of counts, the tables and the plot. internal/report and pkg/analyze calculate, and internal/census counts.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxSuffixLength is the longest suffix reported on.
const maxSuffixLength = 11

// options are the values of the flags.
type options struct {
	genericiooptions.IOStreams
	factory    cmdutil.Factory
	printFlags *output.Flags

	// The sources of the populations. See subject.
	prefixes      []string // TYPE/PREFIX
	manifests     resource.FilenameOptions
	from          string
	existing      int64
	existingGiven bool

	config         report.Config
	createsGiven   bool
	serverAttempts flagvalue.Attempts
	rate           float64
	rateGiven      bool
	period         flagvalue.Duration
	periodGiven    bool
	plot           bool
	reaching       string // the flags of suggested commands
}

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, factory: conn.Factory, printFlags: output.NewFlags()}
	o.period = flagvalue.Duration(30 * 24 * time.Hour)
	o.config = report.Config{
		SuffixLength: names.SuffixLength, ClientAttempts: names.DefaultAttempts, Probability: 0.001,
		Creates: []int64{1_000, 10_000, 100_000, 1_000_000},
	}
	cmd := &cobra.Command{
		Use: "report [TYPE/PREFIX ... | -f FILENAME | --from AUDIT.json | --existing N] " +
			"[--creates N,...]",
		DisableFlagsInUseLine: true,
		Short:                 "Calculate how likely creates with generateName are to fail",
		Long: templates.LongDesc(`
			Calculate the chance that creates with generateName fail because all attempted names
			exist. The chance shows whether a prefix needs retries by the server, by kubectl genname
			create, or by both.

			With TYPE/PREFIX or -f, report counts the existing names on the cluster. With --from, report
			takes the counts from a saved audit. Otherwise report contacts no cluster, and you set the
			number of existing names with --existing.`),
		Example: templates.Examples(`
			# Show the chances for a new prefix
			kubectl genname report

			# Show the chances for 100 and 100,000 further creates if 5,000 names exist
			kubectl genname report --existing 5000 --creates 100,100000

			# Count the names of a prefix on the cluster first
			kubectl genname report jobs/nightly-report- -n ci
			kubectl genname report -f job.yaml

			# Show the chances for every prefix of a saved audit
			kubectl genname audit -A -o json > audit.json
			kubectl genname report --from audit.json

			# Show how many of 5,000 creates a day are expected to fail in a year
			kubectl genname report --existing 100000 --rate 5000 --over 365d

			# Draw the chances with and without retries in the terminal
			kubectl genname report --existing 5000 --plot`),
		RunE:              runner.RunE(o),
		ValidArgsFunction: complete.Prefixes(conn),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.AddFilenameOptionFlags(cmd, &o.manifests, "with the manifests whose generateName to report on")
	flags.StringVar(&o.from, "from", "",
		"File with a saved audit (from audit -o json) that has the counts. - is stdin")
	flags.Int64Var(&o.existing, "existing", 0, "Number of names that exist under the prefix")
	flags.Int64SliceVar(&o.config.Creates, "creates", o.config.Creates,
		"Numbers of further creates for which to calculate the chance, like 100,10000")
	flags.IntVar(&o.config.SuffixLength, "suffix-length", o.config.SuffixLength,
		"Number of random characters in a name, from 1 to 11")
	flags.Var(&o.serverAttempts, "server-attempts", "Number of names that the server tries per create. With auto, "+
		"report asks the server or takes the number from the saved audit. Without both, report assumes 8")
	flags.IntVar(&o.config.ClientAttempts, "client-attempts", o.config.ClientAttempts,
		"Number of names that kubectl genname create tries per create")
	flags.Var(&flagvalue.Probability{Value: &o.config.Probability}, "probability",
		"Chance of a failure to accept, like 0.001 or 0.1%. The report has the number of creates until the chance "+
			"that any of them has failed exceeds this value")
	flags.Float64Var(&o.rate, "rate", 0,
		"Number of creates per day, with as many deletes. The report then has a forecast for the time of --over")
	flags.Var(&o.period, "over", "How long the creates and deletes of --rate go on, like 90m, 12h or 30d")
	flags.BoolVar(&o.plot, "plot", false, "Draw the chance of a failure by the number of names in the terminal, "+
		"with and without retries, instead of the tables")
	o.printFlags.AddTableFlags(cmd)
}

// Complete reads the flags, the arguments and the output format from the command line.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	o.prefixes, o.reaching = args, connection.Reaching(cmd)
	o.existingGiven, o.createsGiven = given("existing"), given("creates")
	o.rateGiven, o.periodGiven = given("rate"), given("over")
	if err := o.printFlags.Check(); err != nil {
		return err
	}
	if o.rateGiven {
		o.config.PerDay, o.config.Days = &o.rate, time.Duration(o.period).Hours()/24
	}
	return nil
}

// Validate returns an error if the flags are invalid.
func (o *options) Validate() error {
	if err := o.validateConfig(); err != nil {
		return err
	}
	if err := o.validateSource(); err != nil {
		return err
	}
	if o.plot && o.printFlags.ForMachines() {
		return errors.New("--plot can't be used with -o, because both print on stdout")
	}
	return o.validatePlot(len(o.prefixes))
}

// validateConfig returns an error if a number is out of its range.
func (o *options) validateConfig() error {
	c := o.config
	switch {
	case c.SuffixLength < 1 || c.SuffixLength > maxSuffixLength:
		return fmt.Errorf("--suffix-length must be from 1 to %d, not %d", maxSuffixLength, c.SuffixLength)
	case o.existing < 0:
		return fmt.Errorf("--existing must be 0 or more, not %d", o.existing)
	case len(c.Creates) == 0:
		return errors.New("--creates must have a number")
	case c.ClientAttempts < 1 || c.ClientAttempts > flagvalue.MaxAttempts:
		return fmt.Errorf("--client-attempts must be from 1 to %d, not %d", flagvalue.MaxAttempts, c.ClientAttempts)
	case c.Probability <= 0 || c.Probability >= 1:
		return fmt.Errorf("--probability must be above 0 and below 1, not %g", c.Probability)
	case o.rateGiven && !(o.rate > 0 && o.rate <= maxRate):
		return fmt.Errorf("--rate must be above 0 and at most %g creates per day, not %g", maxRate, o.rate)
	case o.periodGiven && !o.rateGiven:
		return errors.New("--over needs --rate")
	case o.period <= 0:
		return fmt.Errorf("--over must be positive, not %s", o.period.String())
	}
	for _, creates := range c.Creates {
		if creates < 1 {
			return fmt.Errorf("--creates must be at least 1, not %d", creates)
		}
	}
	return nil
}

// maxRate keeps the creates of the longest duration within an int64.
const maxRate = 1e12

// Run makes the report and prints it.
func (o *options) Run(ctx context.Context) error {
	objects, err := o.objects(ctx)
	if err != nil {
		return err
	}
	session, err := o.open(ctx, objects != nil || len(o.prefixes) > 0)
	if err != nil {
		return err
	}
	defer session.Stderr.End()
	session.Stderr.Reaching = o.reaching
	subject, err := o.subject(ctx, session, objects)
	if err != nil {
		session.Lines(subject.warnings)
		return err
	}
	o.config.Server = subject.server
	report, err := report.New(ctx, o.config, subject.populations)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted before the report was complete")
	case err != nil:
		return explained(err, o.config.SuffixLength)
	}
	view := scan.View{}
	if o.printFlags.ForMachines() {
		view.Warnings = subject.warnings
		return session.Show(report, view)
	}
	view.Verdict = subject.warnings // all other lines, except hints, go to stdout
	view.Text = func(out io.Writer) error { return o.print(out, report) }
	if !o.plot {
		view.Next = hints(report)
	}
	return session.Show(report, view)
}

// open returns a session with the cluster, or one that reaches none.
func (o *options) open(ctx context.Context, reaches bool) (*scan.Session, error) {
	if !reaches {
		return scan.Offline(o.IOStreams, o.printFlags), nil
	}
	flags := scan.Flags{RetryTimeout: flagvalue.Duration(census.DefaultRetryTimeout)}
	return flags.Open(ctx, o.factory, o.IOStreams, o.printFlags, &o.serverAttempts)
}

// explained returns an error about a population in terms of its flag or prefix.
func explained(err error, suffixLength int) error {
	var wrong *report.PopulationError
	if !errors.As(err, &wrong) {
		return err
	}
	source := "--existing"
	if wrong.Prefix != "" {
		source = wrong.Argument()
	}
	return fmt.Errorf("%s: %s can't exist, because a suffix of %s allows only %s",
		source, humanize.Count(wrong.Existing, "name"),
		humanize.Count(suffixLength, "character"), humanize.Grouped(wrong.Names))
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/assess"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/probe"
)

// maxSuffixLength is the longest suffix reported on.
const maxSuffixLength = 11

type reportOptions struct {
	genericiooptions.IOStreams
	factory    cmdutil.Factory
	printFlags *genericclioptions.PrintFlags
	wide       bool

	question       assess.Question
	existing       int64
	existingGiven  bool
	serverAttempts attemptsValue
	failAbove      probabilityValue
	prefixes       []string // TYPE/PREFIX
}

func newReportCommand(factory cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &reportOptions{IOStreams: streams, factory: factory, printFlags: machinePrintFlags()}
	o.question = assess.Question{
		SuffixLength: names.SuffixLength, ClientAttempts: 16, Probability: 0.001,
		Creates: []int64{100, 1_000, 10_000, 100_000, 1_000_000},
	}
	cmd := &cobra.Command{
		Use:                   "report [TYPE/PREFIX ... | --existing N] [--creates N,...]",
		DisableFlagsInUseLine: true,
		Short:                 "Calculate how likely conflicts of generated names are",
		Long: templates.LongDesc(`
			Calculate how likely it is that creates with generateName conflict: without retries, with
			the server's, with this plugin's own names, and with both.

			Without TYPE/PREFIX no cluster is contacted. With it, the names that exist under the prefix
			are counted.`),
		Example: templates.Examples(`
			# The odds for an empty prefix
			kubectl genname report

			# The odds with 5000 names taken, for 100 and 100000 further creates
			kubectl genname report --existing 5000 --creates 100,100000

			# The odds for what exists in a namespace
			kubectl genname report jobs/nightly-report- -n ci`),
		RunE: inSteps(o),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *reportOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Int64Var(&o.existing, "existing", 0, "Number of names that exist already")
	flags.Int64SliceVar(&o.question.Creates, "creates", o.question.Creates, "Numbers of further creates to report on")
	flags.IntVar(&o.question.SuffixLength, "suffix-length", o.question.SuffixLength, "Number of random characters in a name, 1 to 11")
	flags.Var(&o.serverAttempts, "server-attempts", "Number of names the server tries per create. With auto, a server that is counted on is asked, and 8 assumed elsewhere")
	flags.IntVar(&o.question.ClientAttempts, "client-attempts", o.question.ClientAttempts, "Number of names that kubectl genname create tries")
	flags.Var(&probabilityValue{value: &o.question.Probability}, "probability", "Chance of a conflict that headroom leaves, like 0.001 or 0.1%")
	o.failAbove.value = new(float64)
	flags.Var(&o.failAbove, "fail-above", "Exit with 3 if the chance that any create fails, with the server's retries, exceeds this, like 0.001 or 0.1%")
	o.printFlags.AddFlags(cmd)
	addWide(cmd)
}

// Complete takes the prefixes and the output format from the command line.
func (o *reportOptions) Complete(cmd *cobra.Command, args []string) error {
	o.prefixes = args
	o.existingGiven = cmd.Flags().Changed("existing")
	o.wide = takeWide(o.printFlags)
	if o.failAbove.set {
		o.question.FailAbove = o.failAbove.value
	}
	return nil
}

// Validate tells what is wrong with the flags.
func (o *reportOptions) Validate() error {
	q := o.question
	switch {
	case q.SuffixLength < 1 || q.SuffixLength > maxSuffixLength:
		return fmt.Errorf("--suffix-length must be from 1 to %d, not %d", maxSuffixLength, q.SuffixLength)
	case len(o.prefixes) > 0 && o.existingGiven:
		return errors.New("--existing and TYPE/PREFIX exclude each other: the names of a prefix are counted")
	case o.existing < 0:
		return fmt.Errorf("--existing must not be negative, as %d is", o.existing)
	case q.ClientAttempts < 1 || q.ClientAttempts > maxAttempts:
		return fmt.Errorf("--client-attempts must be from 1 to %d, not %d", maxAttempts, q.ClientAttempts)
	case q.Probability <= 0 || q.Probability >= 1:
		return fmt.Errorf("--probability must be above 0 and below 1, not %g", q.Probability)
	case len(o.prefixes) > 0 && q.SuffixLength != names.SuffixLength:
		return fmt.Errorf("--suffix-length is for calculations only: servers use %d", names.SuffixLength)
	}
	for _, creates := range q.Creates {
		if creates < 1 {
			return fmt.Errorf("--creates must be at least 1, not %d", creates)
		}
	}
	for _, argument := range o.prefixes {
		if resource, prefix, ok := strings.Cut(argument, "/"); !ok || resource == "" || prefix == "" {
			return fmt.Errorf("%q is not TYPE/PREFIX, like jobs/nightly-report-", argument)
		}
	}
	return nil
}

// Run makes the report and prints it. An exceeded gate is exit code 3.
func (o *reportOptions) Run(ctx context.Context) error {
	populations, err := o.populations(ctx)
	if err != nil {
		return err
	}
	report, err := assess.Collisions(o.question, populations)
	if err != nil {
		return fmt.Errorf("--existing: %w", err)
	}
	if err := o.print(report); err != nil {
		return err
	}
	if report.Gate != nil && len(report.Gate.Exceeded) > 0 {
		return &exitError{code: exitGate, lines: []string{fmt.Sprintf("%s above --fail-above %s", count(len(report.Gate.Exceeded), "row"), chanceOf(report.Gate.FailAbove))}}
	}
	return nil
}

// populations are those of the prefixes, counted, or the one of --existing.
func (o *reportOptions) populations(ctx context.Context) ([]assess.Population, error) {
	if len(o.prefixes) == 0 {
		o.question.Server = o.serverAttempts.or(assumedRetries())
		return []assess.Population{{Existing: o.existing, Server: o.question.Server}}, nil
	}
	counter, err := newCounter(ctx, o.factory, &o.serverAttempts)
	if err != nil {
		return nil, err
	}
	o.question.Server = counter.retries
	namespace, _, err := o.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	var populations []assess.Population
	for _, argument := range o.prefixes {
		resource, prefix, _ := strings.Cut(argument, "/")
		population, err := counter.population(ctx, resource, namespace, prefix)
		if err != nil {
			return nil, err
		}
		populations = append(populations, population)
	}
	return populations, nil
}

// assumedRetries are those of current servers, where none is asked.
func assumedRetries() v1alpha1.Retries {
	attempts := probe.ServerAttempts
	return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceDefault}
}

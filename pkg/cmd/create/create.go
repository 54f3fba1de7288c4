// Package create is the command that creates each object with a generateName exactly once. The package owns the flags,
// the reading of input, the output and the counts. internal/create decides which requests are sent.
package create

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

var createExample = templates.Examples(`
	# Create a job with a generated name once, even if a response is lost
	kubectl genname create -f job.yaml

	# Create the job once per commit, even if the pipeline runs again
	kubectl genname create -f migration.yaml --idempotency-key=migrate-4f1d2e8

	# Create a job, wait until it has finished, and exit with 5 if it has failed
	kubectl genname create -f job.yaml --wait

	# Create a job from a cron job, and wait until it has finished
	kubectl genname create --from=cronjob/nightly --wait

	# Create 100 jobs, 16 at the same time
	kubectl genname create -f job.yaml --count=100 --concurrency=16

	# Create the objects that another command prints
	cat job.yaml | kubectl genname create -f -`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		CreateOptions: kubectlcreate.NewCreateOptions(streams), conn: conn, stderr: terminal.NewStderr(streams.ErrOut),
	}
	cmd := &cobra.Command{
		Use:                   "create (-f FILENAME | --from=cronjob/NAME)",
		DisableFlagsInUseLine: true,
		Short:                 "Create objects exactly once, even if responses are lost or the step runs again",
		Long: templates.LongDesc(`
			Create objects from files or stdin like kubectl create, each object with generateName
			exactly once.

			Use this command where a second object does harm, for example for jobs that a pipeline
			starts. After a lost response, kubectl create can't tell whether the object exists, because
			the server has generated the name. This command generates the name itself, and can check
			whether an object with this name exists before it sends the object again. If the outcome
			stays unknown, the command prints the name of the object and exits with code 4. You need
			permission to create and to get the objects.

			Use --idempotency-key if a pipeline can repeat the command. With the same key and the same
			input, the repeated command leaves existing objects as they are, and creates the others.

			Use --wait if the next step of a pipeline needs the result. The command then waits until
			the objects have finished. Without --for, the command can wait only for Jobs, Pods, and
			the objects that Tekton, Argo Workflows, JobSet, Kueue, Kubeflow, Ray, Volcano and GitHub
			Actions run. If you repeat the command with the same key, the command waits for the
			existing objects.`),
		Example: createExample,
		RunE:    runner.RunE(o),
	}
	o.addKubectlFlags(cmd)
	o.flags.addTo(cmd)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// Perhaps it is an unknown subcommand.
		if explained := o.explainArguments(cmd, cmd.Flags().Args()); explained != nil {
			return explained
		}
		var unknown *pflag.NotExistError
		var invalid *pflag.InvalidValueError
		switch {
		case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "timeout": // as in kubectl wait
			err = fmt.Errorf("%w. Use --wait --wait-timeout=5m", err)
		case errors.As(err, &invalid) && invalid.GetFlag().Name == "wait":
			err = fmt.Errorf("invalid argument %q for \"--wait\" flag: it takes no time limit. "+
				"Use --wait --wait-timeout=%[1]s", invalid.GetValue())
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	return cmd
}

// Run creates the objects in the order of the input, several at once with --concurrency. Run continues after an object
// that fails, unless a circuit breaker stops it.
func (o *options) Run(ctx context.Context) error {
	if o.EditBeforeCreate || o.Raw != "" {
		return o.RunCreate(o.conn.Factory)
	}
	// Without this, a reader that closes stdout would cut off the report of the created objects. In commands that only
	// read, the signal ends the process, as in kubectl.
	signal.Ignore(syscall.SIGPIPE)
	return o.interruptible(ctx, o.create)
}

// create creates the objects of the input, follows them, and prints each event. If a step before the loops fails,
// nothing was created.
func (o *options) create(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	config, err := o.conn.Factory.ToRESTConfig()
	if err != nil {
		return err
	}
	client, err := o.client(config)
	if err != nil {
		return err
	}
	follower, err := o.follower(client, config)
	if err != nil {
		return err
	}
	session := create.New(ctx, client, o.config(follower))
	if err := o.awaitServer(ctx, config); err != nil {
		return err
	}
	input, err := o.documents(ctx, session.Flush)
	if err != nil {
		return err
	}
	if follower != nil {
		input = awaited(ctx, follower, input, o.flags.keys.Key != "")
	}
	results := o.newResults(stop, follower, session.Totals)
	o.running.Store(&running{session, results.printer, follower})
	for event := range session.Create(input) {
		results.take(event)
	}
	if results.waits() {
		for event := range follower.Run(ctx) {
			results.followed(event)
		}
	}
	end := o.ending(ctx, session.Summary(), results.facts, follower.State())
	if end.runInterrupted() && o.flags.deletes {
		results.deleteCreated(end)
	}
	if at := slices.IndexFunc(end.errs, func(p placed) bool { return lacksNamespace(p.err) }); at >= 0 {
		end.errs[at].err = o.suggestNamespace(ctx, end.errs[at].err)
	}
	return end.print(o.stderr)
}

// suggestNamespace adds the most similar namespace to an error about a missing one.
func (o *options) suggestNamespace(ctx context.Context, err error) error {
	client, failure := o.conn.Factory.KubernetesClientSet()
	if failure != nil || o.flags.kubectlOutput() {
		return err
	}
	return cluster.SuggestNamespace(ctx, client, findings.Details(err).Name, err)
}

func lacksNamespace(err error) bool {
	details := findings.Details(err)
	return apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces"
}

func (o *options) client(config *rest.Config) (*create.Client, error) {
	discovered, err := o.conn.Factory.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	return create.NewClient(config, connection.Uninterrupted(config), discovered)
}

func (o *options) config(follower *follow.Follower) create.Config {
	config := create.Config{
		Copies: o.flags.count,

		Concurrency: o.flags.concurrency,
		Overlap:     o.flags.set.Changed("concurrency"),

		ServerNaming: o.flags.naming.Value == namingServer,
		Attempts:     o.flags.attempts,
		RetryTimeout: o.flags.retryTimeout,

		FieldManager: o.fieldManager, FieldValidation: o.ValidationDirective,

		Key: o.flags.keys.Key, Secrets: o.flags.keys.Secrets,
		DryRun: dryRuns[o.DryRunStrategy],

		FullObjects: showsObject(o.PrintFlags) || o.flags.strict,
		States: *o.PrintFlags.OutputFormat == "" && !showsObject(o.PrintFlags) &&
			o.DryRunStrategy == cmdutil.DryRunNone,
	}
	if follower != nil {
		config.Awaits = follower.Awaits
	}
	return config
}

var dryRuns = map[cmdutil.DryRunStrategy]create.DryRun{
	cmdutil.DryRunNone:   create.NoDryRun,
	cmdutil.DryRunClient: create.ClientDryRun,
	cmdutil.DryRunServer: create.ServerDryRun,
}

// follower returns the follower of the objects. Without --wait it is nil.
func (o *options) follower(client *create.Client, config *rest.Config) (*follow.Follower, error) {
	if !o.flags.wait {
		return nil, nil
	}
	condition, err := flagvalue.Conditions(o.flags.waitFor)
	if err != nil {
		return nil, err
	}
	options := follow.Config{
		For: condition, Copies: o.flags.count, KeepFinal: showsObject(o.PrintFlags),
		Timeout: time.Duration(o.flags.waitTimeout), RetryTimeout: o.flags.retryTimeout,
	}
	if o.flags.deletes {
		options.Deletes = connection.Uninterrupted(config)
		options.Deletes.RateLimiter = nil // --qps would leave no time for many objects
	}
	if o.flags.keys.Key != "" {
		options.RunLabel, options.RunLabelValue = exactlyonce.RunLabel, o.flags.keys.Key.RunLabel()
	}
	if o.flags.logs.Value != logsOff {
		o.logs = &logPrinter{
			stderr: o.stderr, streams: o.flags.logRequests, raw: o.flags.logs.Value == logsRaw,
			names: !terminal.IsTerminal(o.ErrOut),
		}
		options.Logs = &follow.Logs{Streams: o.flags.logRequests, Line: o.logs.line, Event: o.logs.event}
	}
	return follow.New(client, config, options)
}

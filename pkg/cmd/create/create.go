// Package create is the command that creates each object exactly once: its flags, the
// input, what is in flight, and what is printed. pkg/once creates, and
// internal/idempotency makes a run repeatable.
package create

import (
	"context"
	"fmt"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

var createExample = templates.Examples(`
	# Create a job with a generated name, once, whatever the network does
	kubectl genname create -f job.yaml

	# Create it once per key, however often this is run
	kubectl genname create -f migration.yaml --idempotency-key=commit-4f1d2e8

	# Create 100 of it, 16 at a time
	kubectl genname create -f job.yaml --count=100 --concurrency=16

	# Wait for it
	kubectl wait --for=condition=complete "$(kubectl genname create -f job.yaml -o name)"

	# Create what comes on stdin
	cat job.yaml | kubectl genname create -f -`)

// Who picks the names of objects with generateName.
const (
	namingClient = "client"
	namingServer = "server"
)

// options are kubectl create's own, and ours.
type options struct {
	*create.CreateOptions

	conn         *connection.Connection
	fieldManager string
	flags        ownCreateFlags
}

// ownCreateFlags are those that kubectl create does not have.
type ownCreateFlags struct {
	naming       string
	attempts     int
	retryTimeout time.Duration
	key          string
	count        int
	concurrency  int
	suffixLength int
	qps          float32
	burst        int

	set *pflag.FlagSet // the flags themselves
}

// New is the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{CreateOptions: create.NewCreateOptions(streams), conn: conn}
	cmd := &cobra.Command{
		Use:                   "create -f FILENAME",
		DisableFlagsInUseLine: true,
		Short:                 "Create each object of a file or of stdin exactly once",
		Long: templates.LongDesc(`
			Create objects from a file or from stdin, as kubectl create does.

			An object with generateName and no name is created exactly once: the name is chosen here,
			in the server's format, another one is tried when it is taken, and a create whose answer
			is lost is read back before anything is sent again. If its outcome cannot be known, the
			object is named on stderr and the exit code is 4.

			With --idempotency-key, the whole run can be repeated, after a crash too: what is there is
			left unchanged, and only the rest is created.`),
		Example: createExample,
		RunE:    runner.RunE(o),
	}
	o.addKubectlFlags(cmd)
	o.flags.addTo(cmd)
	flagvalue.ReadableNumbers(cmd.Flags())
	return cmd
}

// addKubectlFlags adds the flags of kubectl create, as its NewCmdCreate does.
func (o *options) addKubectlFlags(cmd *cobra.Command) {
	o.RecordFlags.AddFlags(cmd)
	cmdutil.AddFilenameOptionFlags(cmd, &o.FilenameOptions, "to use to create the resource")
	cmdutil.AddValidateFlags(cmd)
	cmd.Flags().BoolVar(&o.EditBeforeCreate, "edit", o.EditBeforeCreate, "Edit the API resource before creating")
	cmd.Flags().Bool("windows-line-endings", runtime.GOOS == "windows", "Only relevant if --edit=true. Defaults to the line ending native to your platform.")
	cmdutil.AddApplyAnnotationFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddLabelSelectorFlagVar(cmd, &o.Selector)
	cmd.Flags().StringVar(&o.Raw, "raw", o.Raw, "Raw URI to POST to the server.  Uses the transport specified by the kubeconfig file.")
	cmdutil.AddFieldManagerFlagVar(cmd, &o.fieldManager, "kubectl-create")
	o.PrintFlags.AddFlags(cmd)
}

func (f *ownCreateFlags) addTo(cmd *cobra.Command) {
	f.set = pflag.NewFlagSet("own", pflag.ContinueOnError)
	flags := f.set
	flags.StringVar(&f.naming, "naming", namingClient, "Who picks the names of objects with generateName: client (exactly once) or server (as kubectl create, with a retry on a conflict)")
	flags.IntVar(&f.attempts, "attempts", flagvalue.ClientAttempts, "Number of names to try per object before it fails")
	flags.DurationVar(&f.retryTimeout, "retry-timeout", 2*time.Minute, "How long to pursue one object through throttling, dropped connections and unknown outcomes; a request under way has its own time, --request-timeout or one minute")
	flags.StringVar(&f.key, "idempotency-key", "", "Make the run repeatable: with the same key and input, what is there already is left unchanged. A key counts in the types and namespaces of the input")
	flags.IntVar(&f.count, "count", 1, "Number of copies to create of every object with generateName")
	flags.IntVar(&f.concurrency, "concurrency", 8, "Copies of one document in flight at once. If given, neighbouring documents of the same type and namespace overlap too")
	flags.IntVar(&f.suffixLength, "suffix-length", names.SuffixLength, fmt.Sprintf("Number of random characters of a name (%d to %d)", names.SuffixLength, names.MaxSuffixLength))
	flags.Float32Var(&f.qps, "qps", 0, "Limit of requests per second; 0 for none: the server's flow control is always respected")
	flags.IntVar(&f.burst, "burst", 0, "Requests that may exceed --qps at once (default the limit itself)")
	_ = flags.SetAnnotation("idempotency-key", "classified", []string{"true"}) // --record redacts it
	cmd.Flags().AddFlagSet(flags)
}

// kubectlsWords tells whether the output shall be that of kubectl create to
// the byte.
func (f *ownCreateFlags) kubectlsWords() bool { return f.naming == namingServer && f.attempts == 1 }

// Complete takes from the command line what kubectl create does.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	if o.flags.qps > 0 {
		burst := o.flags.burst
		if burst == 0 {
			burst = max(1, int(o.flags.qps))
		}
		o.conn.Limiter = flowcontrol.NewTokenBucketRateLimiter(o.flags.qps, burst)
	}
	if err := o.CreateOptions.Complete(o.conn.Factory, cmd, args); err != nil {
		return err
	}
	o.recordAsPlugin()
	return nil
}

// Validate tells what is wrong with the flags.
func (o *options) Validate() error {
	if err := o.flags.validate(); err != nil {
		return err
	}
	if o.EditBeforeCreate || o.Raw != "" {
		return o.validateKubectlsOwn()
	}
	return o.CreateOptions.Validate()
}

func (f *ownCreateFlags) validate() error {
	switch {
	case f.naming != namingClient && f.naming != namingServer:
		return fmt.Errorf("--naming must be %q or %q, not %q", namingClient, namingServer, f.naming)
	case f.attempts < 1:
		return fmt.Errorf("--attempts must be at least 1, not %d", f.attempts)
	case f.retryTimeout < 0:
		return fmt.Errorf("--retry-timeout must not be negative, as %s is", f.retryTimeout)
	case f.set.Changed("idempotency-key") && strings.TrimSpace(f.key) == "":
		return fmt.Errorf("--idempotency-key must not be empty")
	case f.key != "" && f.naming == namingServer:
		return fmt.Errorf("--idempotency-key needs names that are picked here: it cannot be used with --naming=server")
	case f.count < 1:
		return fmt.Errorf("--count must be at least 1, not %d", f.count)
	case f.concurrency < 1:
		return fmt.Errorf("--concurrency must be at least 1, not %d", f.concurrency)
	case f.suffixLength < names.SuffixLength || f.suffixLength > names.MaxSuffixLength:
		return fmt.Errorf("--suffix-length must be from %d to %d, not %d", names.SuffixLength, names.MaxSuffixLength, f.suffixLength)
	case f.suffixLength != names.SuffixLength && f.naming == namingServer:
		return fmt.Errorf("--suffix-length cannot be used with --naming=server, which picks %d characters", names.SuffixLength)
	case !(f.qps >= 0): // NaN too
		return fmt.Errorf("--qps must not be negative, as %g is", f.qps)
	case f.burst < 0, f.burst > 0 && f.qps == 0:
		return fmt.Errorf("--burst must not be negative, and needs --qps")
	}
	return nil
}

// validateKubectlsOwn is for --edit and --raw, which kubectl's own code
// carries out: what it would ignore is refused. It takes names from the server
// and tries one, so that may be said.
func (o *options) validateKubectlsOwn() error {
	flag := "--raw"
	if o.EditBeforeCreate {
		flag = "--edit"
	}
	heeded := []string{"qps", "burst"}
	if o.flags.kubectlsWords() {
		heeded = append(heeded, "naming", "attempts")
	}
	var ignored error
	o.flags.set.VisitAll(func(own *pflag.Flag) {
		if own.Changed && !slices.Contains(heeded, own.Name) {
			ignored = fmt.Errorf("--%s cannot be used with %s, which does just what kubectl create does", own.Name, flag)
		}
	})
	if ignored != nil {
		return ignored
	}
	if o.EditBeforeCreate && o.DryRunStrategy != cmdutil.DryRunNone {
		return fmt.Errorf("--dry-run cannot be used with --edit: kubectl create would really create the object")
	}
	return o.CreateOptions.Validate()
}

// Run creates the objects in the order in which they are read, and goes on
// after one that fails.
func (o *options) Run(ctx context.Context) error {
	if o.EditBeforeCreate || o.Raw != "" {
		return o.RunCreate(o.conn.Factory)
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away must not cut off the account of what was created
	objects, err := o.read()
	if err != nil {
		return err
	}
	run, err := o.newCreation(ctx)
	if err != nil {
		return err
	}
	if run.key != "" && o.DryRunStrategy == cmdutil.DryRunNone {
		err = run.repeatably(objects)
	} else {
		err = run.inOrder(objects)
	}
	return run.finish(err)
}

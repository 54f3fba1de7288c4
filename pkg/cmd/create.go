package cmd

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/templates"
)

// settleTime is how long a create in flight may still take after Ctrl-C.
const settleTime = 5 * time.Second

// copiesInFlight is how many copies of one object are created at once.
const copiesInFlight = 8

var createExample = templates.Examples(`
	# Create a job with a generated name, once, whatever the network does
	kubectl genname create -f job.yaml

	# Wait for it
	kubectl wait --for=condition=complete "$(kubectl genname create -f job.yaml -o name)"

	# Create what comes on stdin
	cat job.yaml | kubectl genname create -f -`)

// createOptions are kubectl create's own, and ours.
type createOptions struct {
	*create.CreateOptions

	factory      cmdutil.Factory
	fieldManager string
	attempts     int
	count        int
	retryTimeout time.Duration
}

func newCreateCommand(factory cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &createOptions{CreateOptions: create.NewCreateOptions(streams), factory: factory}
	cmd := &cobra.Command{
		Use:                   "create -f FILENAME",
		DisableFlagsInUseLine: true,
		Short:                 "Create each object of a file or of stdin exactly once",
		Long: templates.LongDesc(`
			Create objects from a file or from stdin, as kubectl create does.

			An object with generateName and no name is created exactly once: the name is chosen here,
			in the server's format, another one is tried when it is taken, and a create whose answer
			is lost is read back before anything is sent again. If its outcome cannot be known, the
			object is named on stderr and the exit code is 4.`),
		Example: createExample,
		RunE:    inSteps(o),
	}
	o.addKubectlFlags(cmd)
	cmd.Flags().IntVar(&o.attempts, "attempts", 16, "Number of names to try per object before it fails")
	cmd.Flags().IntVar(&o.count, "count", 1, "Number of copies to create of every object with generateName")
	cmd.Flags().DurationVar(&o.retryTimeout, "retry-timeout", 2*time.Minute, "How long to pursue one object through throttling, dropped connections and unknown outcomes")
	return cmd
}

// addKubectlFlags adds the flags of kubectl create, as its NewCmdCreate does.
func (o *createOptions) addKubectlFlags(cmd *cobra.Command) {
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

// Complete takes from the command line what kubectl create does.
func (o *createOptions) Complete(cmd *cobra.Command, args []string) error {
	return o.CreateOptions.Complete(o.factory, cmd, args)
}

// Validate tells what is wrong with the flags.
func (o *createOptions) Validate() error {
	if o.attempts < 1 {
		return fmt.Errorf("--attempts must be at least 1, not %d", o.attempts)
	}
	if o.count < 1 {
		return fmt.Errorf("--count must be at least 1, not %d", o.count)
	}
	if o.retryTimeout < 0 {
		return fmt.Errorf("--retry-timeout must not be negative, as %s is", o.retryTimeout)
	}
	return o.CreateOptions.Validate()
}

// Run creates the objects in the order in which they are read, and goes on
// after one that fails.
func (o *createOptions) Run(ctx context.Context) error {
	if o.EditBeforeCreate || o.Raw != "" {
		return o.RunCreate(o.factory)
	}
	objects, err := o.read()
	if err != nil {
		return err
	}
	run := &creation{createOptions: o, ctx: ctx, warned: map[string]bool{}}
	err = objects.Visit(run.visit)
	return run.finish(err)
}

func (o *createOptions) read() (*resource.Result, error) {
	schema, err := o.factory.Validator(o.ValidationDirective)
	if err != nil {
		return nil, err
	}
	namespace, enforce, err := o.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	result := o.factory.NewBuilder().
		Unstructured().
		Schema(schema).
		ContinueOnError().
		NamespaceParam(namespace).DefaultNamespace().
		FilenameParam(enforce, &o.FilenameOptions).
		LabelSelectorParam(o.Selector).
		Flatten().
		Do()
	return result, result.Err()
}

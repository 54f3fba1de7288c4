package create

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/util/flowcontrol"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// naming decides who picks the names of objects with generateName.
type naming string

const (
	namingClient naming = "client"
	namingServer naming = "server"
)

// options are the options of kubectl create, and ours.
type options struct {
	*kubectlcreate.CreateOptions

	conn         *connection.Connection
	fieldManager string
	namespace    string // namespace of the command
	flags        ownCreateFlags

	running atomic.Pointer[running] // nil before the first create
	stderr  *terminal.Stderr
	logs    *logPrinter // nil without --logs
}

// addKubectlFlags adds the flags of kubectl create, as its NewCmdCreate does.
func (o *options) addKubectlFlags(cmd *cobra.Command) {
	o.RecordFlags.AddFlags(cmd)
	cmdutil.AddFilenameOptionFlags(cmd, &o.FilenameOptions, "to use to create the resource")
	cmdutil.AddValidateFlags(cmd)
	cmd.Flags().BoolVar(&o.EditBeforeCreate, "edit", o.EditBeforeCreate, "Edit the API resource before creating")
	cmd.Flags().Bool("windows-line-endings", runtime.GOOS == "windows",
		"Only relevant if --edit=true. Defaults to the line ending native to your platform.")
	cmdutil.AddApplyAnnotationFlags(cmd)
	cmdutil.AddDryRunFlag(cmd)
	cmdutil.AddLabelSelectorFlagVar(cmd, &o.Selector)
	cmd.Flags().StringVar(&o.Raw, "raw", o.Raw,
		"Raw URI to POST to the server.  Uses the transport specified by the kubeconfig file.")
	cmdutil.AddFieldManagerFlagVar(cmd, &o.fieldManager, "kubectl-create")
	o.PrintFlags.AddFlags(cmd)
	formats := append(o.PrintFlags.AllowedFormats(), formatLines)
	cmd.Flags().Lookup("output").Usage = fmt.Sprintf("Output format. One of: (%s).", strings.Join(formats, ", "))
	offer := cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("output", offer) // fails only for an unknown flag
}

// Complete completes the options as kubectl create does.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	o.stderr.Reaching = connection.Reaching(cmd)
	if err := o.explainArguments(cmd, args); err != nil {
		return err
	}
	if err := o.flags.keys.Read(); err != nil {
		return err
	}
	if o.flags.qps > 0 {
		burst := o.flags.burst
		if burst == 0 {
			burst = max(1, int(o.flags.qps))
		}
		o.conn.Limiter = flowcontrol.NewTokenBucketRateLimiter(o.flags.qps, burst)
	}
	if err := o.completeAsKubectl(cmd, args); err != nil {
		if o.EditBeforeCreate { // kubectl's code doesn't know the input of --from
			err = cmp.Or(o.validateEditOrRaw(), err)
		}
		return output.WithNearest(err)
	}
	o.warnOfNoNamespace(cmd)
	return o.disableCommands()
}

// warnOfNoNamespace warns of -n "", which is probably a variable that is not set.
func (o *options) warnOfNoNamespace(cmd *cobra.Command) {
	namespace := cmd.Flags().Lookup("namespace")
	if namespace != nil && namespace.Changed && namespace.Value.String() == "" && !o.flags.kubectlOutput() {
		o.stderr.Line(terminal.Warningf("--namespace is empty, so the current namespace is used."))
	}
}

// completeAsKubectl completes kubectl's options, which don't know -o jsonl.
func (o *options) completeAsKubectl(cmd *cobra.Command, args []string) error {
	format := *o.PrintFlags.OutputFormat
	if format == formatLines {
		*o.PrintFlags.OutputFormat = ""
	}
	err := o.CreateOptions.Complete(o.conn.Factory, cmd, args)
	*o.PrintFlags.OutputFormat = format
	var none genericclioptions.NoCompatiblePrinterError
	if errors.As(err, &none) && !o.flags.kubectlOutput() {
		none.AllowedFormats = append(none.AllowedFormats, formatLines)
		return none
	}
	return err
}

// Validate returns an error if the flags are invalid.
func (o *options) Validate() error {
	if err := o.flags.validate(); err != nil {
		return err
	}
	if o.EditBeforeCreate || o.Raw != "" {
		return o.validateEditOrRaw()
	}
	if o.flags.wait && o.DryRunStrategy != cmdutil.DryRunNone {
		return errors.New("--wait cannot be used with --dry-run, because nothing is created")
	}
	if o.flags.set.Changed("from") {
		return o.validateFrom()
	}
	return o.CreateOptions.Validate()
}

// running has the state that giveUp prints if something hangs after an interrupt.
type running struct {
	session  *create.Session
	printer  *printer
	follower *follow.Follower // nil without --wait
}

// ownCreateFlags are the flags that kubectl create doesn't have.
type ownCreateFlags struct {
	naming       flagvalue.Enum[naming]
	attempts     int
	retryTimeout time.Duration
	keys         keyflags.Flags
	count        int
	concurrency  int
	qps          float32
	burst        int
	wait         bool
	waitTimeout  flagvalue.Duration
	waitFor      []string
	logs         flagvalue.Enum[logsMode]
	logRequests  int
	deletes      bool // after an interrupt
	from         string
	strict       bool // a difference is an error

	set *pflag.FlagSet // the flags themselves
}

func (f *ownCreateFlags) addTo(cmd *cobra.Command) {
	f.set = pflag.NewFlagSet("own", pflag.ContinueOnError)
	flags := f.set
	f.naming = flagvalue.NewEnum(namingClient, namingClient, namingServer)
	flags.Var(&f.naming, "naming", f.naming.Usage("Who generates names", map[naming]string{
		namingClient: "the plugin, so that each object is created once",
		namingServer: "the server, so that a lost response can lead to a second object",
	}))
	flags.IntVar(&f.attempts, "attempts", names.DefaultAttempts, fmt.Sprintf(
		"Number of names to try for an object (1 to %d). If all names are taken, the create fails",
		flagvalue.MaxAttempts))
	flags.DurationVar(&f.retryTimeout, "retry-timeout", exactlyonce.DefaultRetryTimeout,
		"How long to retry one object, after throttling, lost responses and connection errors. "+
			"A request in progress has its own limit, which is --request-timeout or one minute")
	f.keys.AddTo(flags, "Make the command repeatable. With the same key and input, a later command leaves existing "+
		"objects as they are. The command finds existing objects only in the types and namespaces of the input.")
	flags.IntVar(&f.count, "count", 1, "Number of copies of every object with generateName")
	flags.IntVar(&f.concurrency, "concurrency", 8, "Number of copies to create at the same time. "+
		"If you set this flag, different documents with generateName are created at the same time, too. A document "+
		"with a fixed name waits for all earlier documents, and later documents wait for this document")
	flags.Float32Var(&f.qps, "qps", 0,
		"Maximum number of requests per second. 0 sets no limit. Throttling by the server always applies")
	flags.IntVar(&f.burst, "burst", 0,
		"Number of requests to send at once before --qps limits the rate. The default is the value of --qps")
	flags.BoolVar(&f.wait, "wait", false,
		"Wait until the objects have finished. The exit code is 5 if an object has failed")
	f.waitTimeout = flagvalue.Duration(defaultWait)
	flags.Var(&f.waitTimeout, "wait-timeout", "How long to wait. 0 checks the objects once, "+
		"and a negative value sets no limit. The wait also ends if the server is unreachable for --retry-timeout")
	flags.StringArrayVar(&f.waitFor, "for", nil, "Wait for a condition or value, as kubectl wait does, and "+
		"not until the objects have finished. The format is condition=NAME[=VALUE] or jsonpath=EXPRESSION[=VALUE]. "+
		"The flag applies to objects of every type that has a status")
	f.logs = flagvalue.NewEnum(logsOff, logsOff, logsOn, logsRaw)
	flags.Var(&f.logs, "logs", "With --wait, print the logs of Jobs and Pods. "+
		"The logs of all containers go to stderr. Control characters and commands for a CI system are escaped, "+
		"and without a terminal each line begins with its Pod. "+
		"--logs=raw prints the bytes unchanged")
	flags.Lookup("logs").NoOptDefVal = string(logsOn)
	flags.IntVar(&f.logRequests, "max-log-requests", 10, "Maximum number of containers whose logs "+
		"--logs prints at the same time. The logs of other containers come later")
	flags.BoolVar(&f.deletes, "delete-on-interrupt", false, "With --wait, delete the unfinished objects after an "+
		"interrupt. The command deletes only objects that it created itself. It deletes no namespaces and "+
		"CustomResourceDefinitions, because they can contain objects of other users")
	flags.BoolVar(&f.strict, "fail-on-difference", false, "Fail if an existing object differs from the input. The "+
		"command then reads every existing object, and fails before it waits. The flag finds mistakes, but doesn't "+
		"protect against attacks. Without the flag, the command prints a warning for the objects that it reads")
	flags.StringVar(&f.from, "from", "", "Create a Job from a CronJob, like cronjob/NAME. The Job has "+
		"the template of the CronJob, as with kubectl create job --from, and the generateName NAME-run-. "+
		"To change the Job, edit the output of kubectl create job --from --dry-run=client -o yaml, and use -f")
	cmd.Flags().AddFlagSet(flags)
}

// logsMode is whether and how the logs are printed.
type logsMode string

const (
	logsOff logsMode = "false"
	logsOn  logsMode = "true"
	logsRaw logsMode = "raw"
)

// defaultWait is the default time limit of --wait.
const defaultWait = 10 * time.Minute

// kubectlOutput reports whether the output must be exactly that of kubectl create.
func (f *ownCreateFlags) kubectlOutput() bool {
	return f.naming.Value == namingServer && f.attempts == 1
}

func (f *ownCreateFlags) validate() error {
	switch {
	case f.attempts < 1, f.attempts > flagvalue.MaxAttempts:
		return fmt.Errorf("--attempts must be from 1 to %d, not %d", flagvalue.MaxAttempts, f.attempts)
	case f.retryTimeout < 0:
		return fmt.Errorf("--retry-timeout must be 0 or more, not %s", f.retryTimeout)
	case f.keys.Key != "" && f.naming.Value == namingServer:
		return errors.New("--idempotency-key cannot be used with --naming=server, " +
			"because only the plugin can repeat a name")
	case f.strict && f.keys.Key == "":
		return errors.New("--fail-on-difference needs --idempotency-key, because without a key no object exists before")
	case f.count < 1:
		return fmt.Errorf("--count must be at least 1, not %d", f.count)
	case f.concurrency < 1:
		return fmt.Errorf("--concurrency must be at least 1, not %d", f.concurrency)
	case !(f.qps >= 0): // NaN too
		return fmt.Errorf("--qps must be 0 or more, not %g", f.qps)
	case f.burst < 0, f.burst > 0 && f.qps == 0:
		return errors.New("--burst must be 0 or more, and needs --qps")
	}
	return f.validateWait()
}

func (f *ownCreateFlags) validateWait() error {
	for _, name := range []string{"wait-timeout", "for", "logs", "max-log-requests", "delete-on-interrupt"} {
		if f.set.Changed(name) && !f.wait {
			return fmt.Errorf("--%s needs --wait", name)
		}
	}
	if f.logRequests < 1 {
		return fmt.Errorf("--max-log-requests must be at least 1, and not %d", f.logRequests)
	}
	_, err := flagvalue.Conditions(f.waitFor)
	return err
}

// validateEditOrRaw returns an error if our flags are combined with --edit or --raw, because kubectl's own code
// runs these two and would ignore our flags. validateEditOrRaw lets the server pick names and makes one attempt, so
// --naming and --attempts can have these values.
func (o *options) validateEditOrRaw() error {
	flag := "--raw"
	if o.EditBeforeCreate {
		flag = "--edit"
	}
	heeded := []string{"qps", "burst"}
	if o.flags.kubectlOutput() {
		heeded = append(heeded, "naming", "attempts")
	}
	var ignored error
	o.flags.set.VisitAll(func(own *pflag.Flag) {
		if own.Changed && !slices.Contains(heeded, own.Name) {
			ignored = fmt.Errorf("--%s cannot be used with %s, which is passed on to kubectl create", own.Name, flag)
		}
	})
	if ignored == nil && o.flags.keys.Key != "" {
		ignored = fmt.Errorf("$%s cannot be used with %s, which is passed on to kubectl create",
			keyflags.KeyVariable, flag)
	}
	if o.EditBeforeCreate && *o.PrintFlags.OutputFormat == formatLines {
		ignored = errors.New("-o jsonl cannot be used with --edit, which is passed on to kubectl create")
	}
	if ignored != nil {
		return ignored
	}
	if o.DryRunStrategy != cmdutil.DryRunNone {
		return fmt.Errorf("--dry-run cannot be used with %s, because kubectl create would create the object", flag)
	}
	return o.CreateOptions.Validate()
}

// fromPattern matches a value of --from, which ends with the name of the CronJob.
var fromPattern = regexp.MustCompile(`^(?:cronjobs?|cj)(?:\.(?:v1\.)?batch)?/([^/]+)$`)

// validateFrom returns an error unless --from names a CronJob and is the only input.
func (o *options) validateFrom() error {
	switch {
	case !fromPattern.MatchString(o.flags.from):
		return fmt.Errorf("--from must be cronjob/NAME, and not %q", o.flags.from)
	case !cmdutil.IsFilenameSliceEmpty(o.FilenameOptions.Filenames, o.FilenameOptions.Kustomize):
		return errors.New("only one of -f, -k and --from can be specified")
	case o.Selector != "" || o.FilenameOptions.Recursive:
		return errors.New("--from can't be used with -l or -R, which select objects of files")
	}
	return nil
}

// explainArguments returns a better error than kubectl's for unexpected arguments: files, or a
// subcommand that only kubectl has.
func (o *options) explainArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || o.flags.kubectlOutput() {
		return nil
	}
	if isFile(args[0]) {
		return cmdutil.UsageErrorf(cmd, "unexpected argument %q. Name each file with -f, like %s -f %s",
			args[0], cmd.CommandPath(), args[0])
	}
	kubectls := kubectlcreate.NewCmdCreate(o.conn.Factory, o.IOStreams)
	if sub, _, err := kubectls.Find(args); err == nil && sub != kubectls {
		return fmt.Errorf("%s has no subcommands. Pipe the output of kubectl into it:\n"+
			"  kubectl %s … --dry-run=client -o yaml | %s -f -",
			cmd.CommandPath(), sub.CommandPath(), cmd.CommandPath())
	}
	return nil
}

func isFile(argument string) bool {
	if _, err := os.Stat(argument); err == nil || argument == "-" {
		return true
	}
	return slices.Contains(resource.FileExtensions, filepath.Ext(argument))
}

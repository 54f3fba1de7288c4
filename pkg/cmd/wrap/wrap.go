// Package wrap is the command wrap. It runs a program behind a proxy of the current context. The package has the
// program's process and environment, and the lines that the user reads. internal/intercept has the proxy.
package wrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/intercept"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/runner"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// options are the values of the flags.
type options struct {
	conn         *connection.Connection
	stderr       *terminal.Stderr
	retryTimeout flagvalue.Duration
	keys         keyflags.Flags
	verbose      bool

	arguments []string
	dashed    bool // the command follows --
	streams   genericiooptions.IOStreams
}

var longHelp = templates.LongDesc(`
	Run a program that creates objects with generateName, such as argo, helm or a script. Each
	create of the program makes exactly one object, even if a response is lost. You don't change
	the program.

	The program gets a KUBECONFIG for a proxy on this computer. The proxy gives each object with
	a generateName a name and an annotation. If a response is lost, the proxy checks whether the
	object exists or repeats the create request, until the outcome is known. All other requests
	pass through unchanged. The program needs permission to get the objects that it creates.
	To protect several programs, wrap a shell.

	With --idempotency-key, a second run of the program gets the objects of the first run, even if
	the first run was killed. For this, the second run must repeat all create requests of the first
	run, with the same contents. So don't use a key if a content has a date or a random value, or
	if the program checks which of its objects exist. With a key, the program also needs
	permission to list the objects that it creates.

	A program that doesn't use KUBECONFIG isn't protected. If no request came through the proxy,
	wrap prints a message. wrap exits with the exit code of the program. The exit code is 4 if the
	program succeeded, but the outcome of a create is unknown.`)

// limitsOf returns a paragraph about an operating system on which something of wrap can't work.
func limitsOf(system string) string {
	if system != "windows" {
		return ""
	}
	return "\n\n" + templates.LongDesc(`
		On Windows, wrap can't send a signal to the program. Ctrl+C reaches both, because they have one
		console. If another process ends wrap, the program continues, and its requests fail. A script needs
		its interpreter before it, such as: wrap -- powershell -File release.ps1`)
}

var examples = templates.Examples(`
	# Submit a workflow exactly once
	kubectl genname wrap -- argo submit -n ci pipeline.yaml

	# Protect all programs of a script, and print a line for each create
	kubectl genname wrap -v -- bash release.sh

	# Run a program so that a second run gets the objects of the first run
	kubectl genname wrap --idempotency-key=import-4f1d2e8 -- python3 import.py

	# Run a Python program in the context staging
	kubectl genname wrap --context staging -- python3 start-jobs.py`)

// New returns the command.
func New(conn *connection.Connection, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		conn: conn, stderr: terminal.NewStderr(streams.ErrOut),
		retryTimeout: flagvalue.Duration(exactlyonce.DefaultRetryTimeout),
	}
	cmd := &cobra.Command{
		Use:     "wrap [flags] -- COMMAND [args...]",
		Short:   "Run a program so that each of its creates makes exactly one object",
		Long:    longHelp + limitsOf(runtime.GOOS),
		Example: examples,
		RunE:    runner.RunE(o),

		ValidArgsFunction:     programs,
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SetInterspersed(false)
	// This -v replaces kubectl's -v, because client-go's log doesn't show the program's requests.
	cmd.Flags().BoolVarP(&o.verbose, "v", "v", false, "Print a line for each create that wrap intercepts")
	cmd.Flags().Var(&o.retryTimeout, "retry-timeout",
		"How long to retry one object. For the same time, wrap keeps a result that the program didn't wait for")
	o.keys.AddTo(cmd.Flags(), "Make the program repeatable. A later run with the same key gets the existing objects, "+
		"and creates the missing objects.")
	return cmd
}

// Complete takes the arguments and the streams of the process.
func (o *options) Complete(cmd *cobra.Command, args []string) error {
	o.arguments, o.dashed = args, cmd.ArgsLenAtDash() == 0
	// These are files, because the program finds out whether stdout is a terminal only from a file.
	o.streams = genericiooptions.IOStreams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), ErrOut: cmd.ErrOrStderr()}
	o.conn.DisablePrompts()
	o.stderr.Reaching = connection.Reaching(cmd)
	return nil
}

// Validate checks that the command line has a command, and that its environment doesn't replace its KUBECONFIG.
func (o *options) Validate() error {
	switch {
	case len(o.arguments) == 0:
		return errors.New("wrap needs a command\n" + terminal.Hint("kubectl", "genname", "wrap", "--", "COMMAND"))
	case !o.dashed:
		return errors.New("put -- before the command\n" +
			terminal.Hint(append([]string{"kubectl", "genname", "wrap", "--"}, o.arguments...)...))
	case o.retryTimeout < 0:
		return fmt.Errorf("--retry-timeout must be 0 or more, not %s", o.retryTimeout)
	}
	if err := o.keys.Read(); err != nil {
		return err
	}
	return checkEnvironment()
}

// garbage is the percentage of garbage before a collection. wrap needs little memory, so the default would collect all
// the time.
const garbage = 200

// Run runs the program, and ends after it.
func (o *options) Run(ctx context.Context) error {
	klog.SetLogger(logr.Discard()) // stderr is the program's
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	program, err := exec.LookPath(o.arguments[0])
	if err != nil {
		return notStarted(err)
	}
	foreign, err := o.conn.ToForeign()
	if err != nil {
		return err
	}
	creates, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt()
	s, err := o.serve(creates, foreign)
	if err != nil {
		return err
	}
	defer s.close()
	code, err := o.runProgram(ctx, program, s.environment())
	if err != nil {
		return notStarted(err)
	}
	changed := s.changed()
	s.discard()
	interrupt()
	s.waitForCreates()
	return o.end(s, code, changed)
}

// report sets the functions that queue the lines of the proxy. They never wait for a reader of stderr.
func (o *options) report(c *intercept.Config) {
	c.Unprotected = func(resource string, why intercept.Reason) {
		o.stderr.Queue(terminal.Warningf("wrap: a create of %s passed through unprotected, because %s",
			resource, string(why)))
	}
	c.Done = func(outcome intercept.Outcome) {
		if !o.verbose {
			return
		}
		line := terminal.Sprintf("wrap: %s: %s (%d)", outcome.Object, outcome.Words(), outcome.Status)
		if outcome.Err != nil {
			line += terminal.Sprintf(": %s", outcome.Err)
		}
		o.stderr.Queue(line)
	}
}

// flushTime limits the time for the last lines if nothing reads stderr.
const flushTime = 5 * time.Second

// end prints the closing lines, and returns the exit code of the program.
func (o *options) end(s *session, code int, changed bool) error {
	lines, unknown := unfetched(s.proxy)
	lines = append(lines, leftOver(s.run)...)
	switch {
	case s.proxy.Requests() == 0:
		lines = append(lines, "wrap: the command sent nothing through the proxy, so nothing was protected")
	case changed:
		lines = append(lines, "wrap: the command changed its KUBECONFIG, so it might have sent requests past the proxy")
	}
	for _, line := range lines {
		o.stderr.Queue(line)
	}
	o.flush()
	if code == 0 && unknown {
		code = exitcode.Unknown
	}
	if code == 0 {
		return nil
	}
	return &exitcode.Error{Code: code, Foreign: true}
}

func (o *options) flush() { terminal.Within(flushTime, o.stderr.Flush) }

// unfetched returns the lines about objects whose responses didn't reach the program.
func unfetched(p *intercept.Proxy) (lines []string, unknown bool) {
	outcomes, more := p.Unfetched()
	for _, each := range outcomes {
		if each.Class == intercept.Unknown {
			unknown = true
			lines = append(lines, terminal.Warningf("wrap: %s might exist. Check it:", each.Object),
				"  kubectl get "+each.Object)
			continue
		}
		lines = append(lines, terminal.Warningf("wrap: %s was created after its program had given up. "+
			"Delete it if nothing uses it:", each.Object), "  kubectl delete "+each.Object)
	}
	if more > 0 {
		unknown = true
		lines = append(lines, terminal.Warningf("wrap: %d more objects might exist", more))
	}
	return lines, unknown
}

// notStarted returns the error of a program that could not be started, with the exit code of a shell.
func notStarted(err error) error {
	code := 126
	switch {
	case errors.Is(err, errInterrupted):
		code = exitcode.Interrupted
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		code = 127
	}
	return &exitcode.Error{Code: code, Err: err}
}

// Package cmd is the command line of kubectl genname. The package assembles the commands, each of which is a package
// below, and turns their errors into an exit code. The package has no command's logic.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/klog/v2"
	"k8s.io/kubectl/pkg/cmd/options"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/completion"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/exporter"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/complete"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/connection"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/lint"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/version"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/wrap"
)

// Signals returns the signals that interrupt a command.
func Signals() []os.Signal { return exitcode.Signals() }

// Execute runs the command line args (without the program's name) and returns the exit code. When
// ctx is done, it ends early, and the command prints the unfinished work.
func Execute(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	if asksForCompletions(args) {
		klog.SetLogger(logr.Discard()) // errors would disturb the completion
	}
	out := &output.CheckedWriter{Writer: streams.Out}
	kubectl := newKubectl(genericiooptions.IOStreams{In: streams.In, Out: out, ErrOut: streams.ErrOut})
	kubectl.SetContext(ctx)
	kubectl.SetArgs(underKubectl(args))
	kubectl.SetIn(streams.In)
	kubectl.SetOut(streams.Out)
	kubectl.SetErr(streams.ErrOut)
	err := cli.RunNoErrOutput(kubectl)
	if err == nil && out.Err() != nil {
		err = fmt.Errorf("can't write the results: %w", out.Err())
	}
	message, code := exitcode.Describe(err)
	var exit *exitcode.Error
	if code == exitcode.Failed && ctx.Err() != nil && (!errors.As(err, &exit) || !exit.Foreign) {
		code = exitcode.Interrupted
	}
	if message != "" {
		stderr := terminal.NewStderr(streams.ErrOut)
		if executed, _, err := kubectl.Find(underKubectl(args)); err == nil {
			stderr.Reaching = connection.Reaching(executed)
		}
		stderr.Line(terminal.Message(strings.TrimSuffix(message, "\n")))
	}
	return code
}

// shim is the name of the program that kubectl runs to complete the arguments of the plugin
// (k8s.io/kubectl/pkg/cmd/plugin, since 1.26). shim is this program under another name.
const shim = "kubectl_complete-" + buildinfo.Name

// Arguments returns the arguments of Execute for a process that was started with argv. Under the
// name kubectl_complete-genname, they are a request for completions.
func Arguments(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	called := strings.TrimSuffix(strings.ToLower(filepath.Base(argv[0])), ".exe")
	if called == shim {
		return append([]string{cobra.ShellCompRequestCmd}, argv[1:]...)
	}
	return argv[1:]
}

// NewCommand returns the plugin's command, without streams. The reference is generated from it.
func NewCommand() *cobra.Command {
	kubectl := newKubectl(genericiooptions.NewTestIOStreamsDiscard())
	genname, _, err := kubectl.Find([]string{buildinfo.Name})
	if err != nil {
		panic(err) // it is there
	}
	return genname
}

// newKubectl returns a root command named kubectl, so that help, errors, completion and request
// headers have "kubectl genname".
func newKubectl(streams genericiooptions.IOStreams) *cobra.Command {
	kubectl := &cobra.Command{Use: "kubectl", CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	genname := &cobra.Command{
		Use:   buildinfo.Name,
		Short: "Create objects with generateName exactly once, and find prefixes with many names",
		Long: templates.LongDesc(`
			Create objects with metadata.generateName exactly once. Count the generated names of a
			cluster by prefix, and calculate how likely creates are to fail.`),
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	conn := connection.New(streams)
	conn.AddTo(genname)
	genname.AddCommand(
		create.New(conn, streams),
		audit.New(conn, streams),
		prune.New(conn, streams),
		report.New(conn, streams),
		duplicates.New(conn, streams),
		exporter.New(conn, streams),
		lint.New(streams),
		wrap.New(conn, streams),
		version.New(conn, streams),
		completion.New(streams),
		newHelpCommand(),
		newOptionsCommand(streams),
	)
	complete.Flags(conn, genname)
	for _, command := range genname.Commands() {
		// With SetOut, cobra would print deprecations on stdout.
		command.Flags().SetOutput(streams.ErrOut)
	}
	kubectl.AddCommand(genname)
	templates.ActsAsRootCommand(kubectl, []string{"options"})
	genname.SetHelpFunc(printHelp)
	usage := genname.FlagErrorFunc()
	genname.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The flag can be unknown only because the command is.
		if args := cmd.Flags().Args(); cmd == genname && len(args) > 0 {
			return noSuchCommand(cmd, args)
		}
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" { // a short flag has no similar flag
			var known []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					known = append(known, f.Name)
				}
			})
			err = fmt.Errorf("%w%s", err, humanize.DidYouMean("--", unknown.GetSpecifiedName(), known))
		}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool" {
			err = fmt.Errorf("invalid argument %q for \"--%s\" flag: must be true or false",
				invalid.GetValue(), invalid.GetFlag().Name)
		}
		return usage(cmd, err)
	})
	return kubectl
}

// asksForCompletions reports whether args begin with the hidden command that shells run for completions.
func asksForCompletions(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// underKubectl returns args with the plugin's name in its position under kubectl. Under kubectl, the plugin's name is
// the first argument, or follows the hidden command for completions.
func underKubectl(args []string) []string {
	at := 0
	if asksForCompletions(args) {
		at = 1
	}
	return slices.Insert(slices.Clone(args), at, buildinfo.Name)
}

// noSuchCommand refuses a word that is no command, and names similar ones.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("\nSee '%s --help' for usage.", cmd.CommandPath())
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		hint = fmt.Sprintf("\n\nDid you mean this?\n\t%s", strings.Join(similar, "\n\t"))
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Parent().Find(args)
			switch {
			case err != nil || about == cmd.Parent() && len(rest) > 0:
				return noSuchCommand(cmd.Parent(), args)
			case len(rest) > 0:
				return fmt.Errorf("help takes one command, not %q", strings.Join(args, " "))
			case about.HasSubCommands():
				return about.Help()
			}
			cmd.Root().HelpFunc()(about, nil) // kubectl's
			return nil
		},
	}
}

func newOptionsCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := options.NewCmdOptions(streams.Out)
	cmd.Example = templates.Examples(`
		# Print flags inherited by all commands
		kubectl genname options`)
	return cmd
}

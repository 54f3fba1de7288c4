// Package cmd is the commands of kubectl genname: their flags, what they
// print, and their exit codes. What they do is in the engines: pkg/once
// creates, internal/idempotency makes a run of creates repeatable, internal/census counts,
// internal/serverinfo asks a server how it retries, pkg/analyze calculates, internal/assess
// says what counts mean, internal/chart draws.
package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd/options"
	"k8s.io/kubectl/pkg/util/templates"
)

const name = "genname"

// Execute runs the command line args (without the program's name) and returns
// the exit code. When ctx is done, it ends early and says what was not done.
func Execute(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	out := &checkedWriter{Writer: streams.Out}
	var profile profiling
	kubectl := newKubectl(genericiooptions.IOStreams{In: streams.In, Out: out, ErrOut: streams.ErrOut}, &profile)
	kubectl.SetContext(ctx)
	kubectl.SetArgs(underKubectl(args))
	kubectl.SetIn(streams.In)
	kubectl.SetOut(streams.Out)
	kubectl.SetErr(streams.ErrOut)
	err := cli.RunNoErrOutput(kubectl)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write the results: %w", out.err)
	}
	if failure := profile.finish(); err == nil {
		err = failure
	}
	message, code := describe(err)
	if code == exitFailed && ctx.Err() != nil {
		code = exitInterrupted
	}
	if message != "" {
		fmt.Fprintln(streams.ErrOut, printable(strings.TrimSuffix(message, "\n")))
	}
	return code
}

// NewCommand is the plugin's command, without streams: for what is made from
// its words, like the reference.
func NewCommand() *cobra.Command {
	genname, _, err := newKubectl(genericiooptions.NewTestIOStreamsDiscard(), new(profiling)).Find([]string{name})
	if err != nil {
		panic(err) // it is there
	}
	return genname
}

// newKubectl is a root command that stands for kubectl, so that help, errors,
// completion and request headers say "kubectl genname".
func newKubectl(streams genericiooptions.IOStreams, profile *profiling) *cobra.Command {
	kubectl := &cobra.Command{Use: "kubectl", CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	genname := &cobra.Command{
		Use:   name,
		Short: "Create objects with generateName once, and see which names fill up",
		Long: templates.LongDesc(`
			Create objects with metadata.generateName exactly once, count the names that exist
			under each prefix of a cluster, and calculate how likely conflicts are.`),
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	connection := newConnection(streams)
	connection.profile = profile
	connection.addTo(genname)
	genname.AddCommand(
		newCreateCommand(connection, streams),
		newAuditCommand(connection.factory, streams),
		newReportCommand(connection.factory, streams),
		newVersionCommand(connection.factory, streams),
		newCompletionCommand(streams),
		newHelpCommand(),
		newOptionsCommand(streams),
	)
	connection.complete(genname)
	for _, command := range genname.Commands() {
		command.Flags().SetOutput(streams.ErrOut) // for deprecations: with SetOut, cobra would print them on stdout
	}
	kubectl.AddCommand(genname)
	templates.ActsAsRootCommand(kubectl, []string{"options"})
	usage := genname.FlagErrorFunc()
	genname.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == genname && len(args) > 0 { // it is the command that is unknown, not its flags
			return noSuchCommand(cmd, args)
		}
		return usage(cmd, err)
	})
	return kubectl
}

// underKubectl puts the plugin's name where kubectl's user had it: first, or
// after the hidden command that asks for completions.
func underKubectl(args []string) []string {
	at := 0
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		at = 1
	}
	return slices.Insert(slices.Clone(args), at, name)
}

func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("\nSee '%s --help' for usage.", cmd.CommandPath())
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		hint = "\n\nDid you mean this?\n\t" + strings.Join(similar, "\n\t")
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Parent().Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchCommand(cmd.Parent(), args)
			}
			return about.Help()
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

// steps are those of every command, as in kubectl: Complete turns the command
// line and the kubeconfig into typed values, Validate tells what is wrong with
// them, and Run does the work.
type steps interface {
	Complete(cmd *cobra.Command, args []string) error
	Validate() error
	Run(ctx context.Context) error
}

func inSteps(s steps) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := s.Complete(cmd, args); err != nil {
			return err
		}
		if err := s.Validate(); err != nil {
			return err
		}
		return s.Run(cmd.Context())
	}
}

package cmd

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"
)

const (
	program = "kubectl-" + name
	// shim is the program that kubectl asks for completions of the plugin's
	// words (k8s.io/kubectl/pkg/cmd/plugin, since 1.26). It is this program
	// under another name.
	shim = "kubectl_complete-" + name
)

// Arguments are the arguments of Execute for a process that was started with
// argv: under the name kubectl_complete-genname, it is asked for completions.
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

// shells are those for which there is a script, which completes the words of a
// command that is called kubectl-genname.
var shells = []struct {
	name   string
	script func(*cobra.Command, io.Writer) error
}{
	{"bash", func(c *cobra.Command, out io.Writer) error { return c.GenBashCompletionV2(out, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(c *cobra.Command, out io.Writer) error { return c.GenFishCompletion(out, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func newCompletionCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var names []string
	for _, shell := range shells {
		names = append(names, shell.name)
	}
	return &cobra.Command{
		Use:                   "completion " + strings.Join(names, "|"),
		DisableFlagsInUseLine: true,
		Short:                 "Print what makes a shell complete this plugin's words",
		Long: templates.LongDesc(`
			Print the script that makes a shell complete the words of kubectl-genname, the plugin
			called by its own name.

			The words of "kubectl genname" are completed by kubectl's own script (see "kubectl
			completion --help"), which asks a program called kubectl_complete-genname on your PATH.
			The packages have it. krew installs one program of a plugin only, so after "krew install"
			link it once, as below; the link outlives upgrades.`),
		Example: templates.Examples(`
			# After "krew install genname": complete the words of kubectl genname
			ln -s kubectl-genname "${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-genname"

			# Complete the words of kubectl-genname in this bash
			source <(kubectl genname completion bash)

			# Complete them in every fish
			kubectl genname completion fish > ~/.config/fish/completions/kubectl-genname.fish`),
		ValidArgs: names,
		Args:      cobra.MatchAll(noShell(names), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, shell := range shells {
				if shell.name == args[0] {
					return shell.script(&cobra.Command{Use: program}, streams.Out)
				}
			}
			return nil
		},
	}
}

func noShell(names []string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("name one shell: %s", strings.Join(names, ", "))
		}
		return nil
	}
}

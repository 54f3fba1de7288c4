// Package completion is the command that prints what makes a shell complete our
// words. It never says which words: each command and flag does.
package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
)

const program = "kubectl-" + buildinfo.Name

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

// New returns the command.
func New(streams genericiooptions.IOStreams) *cobra.Command {
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

// noShell refuses arguments that are not one, and names the shells.
func noShell(names []string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("name one shell: %s", strings.Join(names, ", "))
		}
		return nil
	}
}

// Package completion is the command that prints the completion script of a shell. The commands and
// flags themselves complete their words.
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

// shells are the shells with a script. The script completes the words of a command named
// kubectl-genname.
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
		Short:                 "Print the completion script for a shell",
		Long: templates.LongDesc(`
			Print the completion script of kubectl-genname for a shell. You need this script only if
			you call the plugin as kubectl-genname.

			If you call the plugin as "kubectl genname", set up the completion of kubectl ("kubectl
			completion --help"). For the plugin, kubectl then runs kubectl_complete-genname on your
			PATH. The deb, rpm and Homebrew packages install this program. krew does not install it.
			So create a link with this name once after "krew install". The link survives upgrades.`),
		Example: templates.Examples(`
			# Enable completion of kubectl genname after "krew install genname"
			ln -s kubectl-genname "${KREW_ROOT:-$HOME/.krew}/bin/kubectl_complete-genname"

			# Enable completion of kubectl-genname in the current bash session
			source <(kubectl genname completion bash)

			# Enable completion of kubectl-genname in every fish session
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

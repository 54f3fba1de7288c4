package create

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/resource"
	kubectlcreate "k8s.io/kubectl/pkg/cmd/create"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// explainArguments returns a better error than kubectl's for unexpected arguments: files, or a
// subcommand that only kubectl has.
func (o *options) explainArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || o.flags.kubectlsWords() {
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

// isFile reports whether the user means a file, a directory, or stdin.
func isFile(argument string) bool {
	if _, err := os.Stat(argument); err == nil || argument == "-" {
		return true
	}
	return slices.Contains(resource.FileExtensions, filepath.Ext(argument))
}

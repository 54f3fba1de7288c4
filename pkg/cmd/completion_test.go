package cmd_test

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// Under the shim's name the program completes. Under any other name, a word that looks like the
// completion request is an ordinary argument.
func TestArguments(t *testing.T) {
	for _, test := range []struct{ argv, want []string }{
		{nil, nil},
		{[]string{"kubectl-genname"}, []string{}},
		{[]string{"/usr/bin/kubectl-genname", "help", "create"}, []string{"help", "create"}},
		{[]string{"/usr/bin/kubectl_complete-genname", "create", ""}, []string{cobra.ShellCompRequestCmd, "create", ""}},
		{[]string{"kubectl_complete-genname.exe", ""}, []string{cobra.ShellCompRequestCmd, ""}},
		{[]string{"kubectl_complete-genname-dir/kubectl-genname", "audit"}, []string{"audit"}},
	} {
		if got := cmd.Arguments(test.argv); !slices.Equal(got, test.want) {
			t.Errorf("Arguments(%q) = %q, want %q", test.argv, got, test.want)
		}
	}
}

// Every flag has a completion, because the default of cobra offers files for any flag.
func TestEveryFlagCompletes(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			_, completes := command.GetFlagCompletionFunc(flag.Name)
			if !completes && flag.Annotations[cobra.BashCompFilenameExt] == nil {
				t.Errorf("%s --%s: no completion", command.CommandPath(), flag.Name)
			}
		})
		for _, child := range command.Commands() {
			visit(child)
		}
	}
	visit(cmd.NewCommand())
}

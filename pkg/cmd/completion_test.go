package cmd_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

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

// Tab offers all values that a flag accepts, in the order of its help, and files or directories only for their paths.
func TestWordsOfFlags(t *testing.T) {
	const words, anyFile, files, directories = ":4", ":0", ":8", ":16"
	for line, want := range map[string]string{
		"create --naming=":     "client server " + words,
		"create --dry-run=":    "none client server " + words,
		"create --validate=":   "strict warn ignore " + words,
		"create --from=":       "json " + files,
		"create --count=":      words,
		"create --cache-dir=":  directories,
		"create --kubeconfig=": anyFile,
		"create --output=":     "json yaml kyaml name " + templates + " jsonl " + words,
		"audit --sort-by=":     "names last-10m last-24h prefix " + words,
		"audit --output=":      "wide json yaml kyaml " + templates + " custom-columns custom-columns-file " + words,
		"report --output=":     "json yaml kyaml " + templates + " custom-columns custom-columns-file " + words,
		"version --output=":    "json yaml kyaml " + templates + " custom-columns custom-columns-file " + words,
	} {
		var out, errOut bytes.Buffer
		args := append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(line)...)
		code := cmd.Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
		want = strings.ReplaceAll(want, " ", "\n") + "\n"
		if code != 0 || out.String() != want {
			t.Errorf("%s: exit code %d, stderr %q, %q, want %q", line, code, errOut.String(), out.String(), want)
		}
	}
}

const templates = "go-template go-template-file template templatefile jsonpath jsonpath-as-json jsonpath-file"

package cmd_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// For a misspelled command, the error names the command, not the flags that the right command has.
func TestUnknownCommands(t *testing.T) {
	for args, want := range map[string]string{
		"craete":                  "error: unknown command \"craete\" for \"kubectl genname\"\n\nDid you mean this?\n\tcreate\n",
		"craete -f job.yaml":      "error: unknown command \"craete\" for \"kubectl genname\"\n\nDid you mean this?\n\tcreate\n",
		"-n x nonsuch --count=3":  "error: unknown command \"nonsuch\" for \"kubectl genname\"\nSee 'kubectl genname --help' for usage.\n",
		"--nope":                  "error: unknown flag: --nope\nSee 'kubectl genname --help' for usage.\n",
		"audit --min-cout=3":      "error: unknown flag: --min-cout. Did you mean --min-count?\nSee 'kubectl genname audit --help' for usage.\n",
		"report -A":               "error: unknown shorthand flag: 'A' in -A\nSee 'kubectl genname report --help' for usage.\n",
		"audit --aa=3":            "error: unknown flag: --aa\nSee 'kubectl genname audit --help' for usage.\n",
		"audit -a":                "error: unknown shorthand flag: 'a' in -a\nSee 'kubectl genname audit --help' for usage.\n",
		"create --nope -f x.yaml": "error: unknown flag: --nope\nSee 'kubectl genname create --help' for usage.\n",
	} {
		var out, errOut bytes.Buffer
		code := cmd.Execute(context.Background(), strings.Fields(args), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
		if code != 1 || out.Len() > 0 || errOut.String() != want {
			t.Errorf("%s: exit code %d, stdout %q, stderr\n%s\nwant\n%s", args, code, out.String(), errOut.String(), want)
		}
	}
}

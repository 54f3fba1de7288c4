package offline

import (
	"fmt"
	"testing"
)

// If create gets unexpected words, it explains the likely intention. Otherwise it refuses them as kubectl does.
func TestCreateExplainsArguments(t *testing.T) {
	const usage = "\nSee 'kubectl genname create -h' for help and examples\n"
	file := func(name string) string {
		return "error: " + fmt.Sprintf("unexpected argument %q. Name each file with -f, like %s -f %s", name, "kubectl genname create", name) + usage
	}
	subcommand := func(name string) string {
		return "error: " + fmt.Sprintf("%s has no subcommands. Pipe the output of kubectl into it:\n  kubectl %s … --dry-run=client -o yaml | %s -f -", "kubectl genname create", "create "+name, "kubectl genname create") + "\n"
	}
	for _, test := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"job.yaml"}, file("job.yaml")},
		{[]string{"-f", "a.yaml", "b.yaml"}, file("b.yaml")},
		{[]string{"."}, file(".")},
		{[]string{"job", "x", "--image=i"}, subcommand("job")},
		{[]string{"job", "x"}, subcommand("job")},
		{[]string{"cm", "x", "--from-literal=a=b"}, subcommand("configmap")},
		{[]string{"secret", "generic", "x", "--from-literal=a=b"}, subcommand("secret generic")},
		{[]string{"job.yaml", "--naming=server", "--attempts=1"}, "error: Unexpected args: [job.yaml]" + usage},
		{[]string{"x"}, "error: Unexpected args: [x]" + usage},
		{[]string{"x", "--image=i"}, "error: unknown flag: --image\nSee 'kubectl genname create --help' for usage.\n"},
		{[]string{"--image=i"}, "error: unknown flag: --image\nSee 'kubectl genname create --help' for usage.\n"},
	} {
		stdout, stderr, code := run(t, append([]string{"create"}, test.args...)...)
		if stdout != "" || stderr != test.stderr || code != 1 {
			t.Errorf("%v: code %d, stdout %q, stderr %q, want %q", test.args, code, stdout, stderr, test.stderr)
		}
	}
}

package harness

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// Result is the result of a run of the plugin.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// User runs the plugin with the credentials of one user.
type User struct {
	T          *testing.T
	Kubeconfig string
	Context    context.Context
}

// As returns a user of the configuration.
func As(t *testing.T, config *rest.Config) User {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(path, config); err != nil {
		t.Fatal(err)
	}
	return User{T: t, Kubeconfig: path, Context: t.Context()}
}

// Run runs kubectl genname with args. It checks JSON and YAML output against the published schemas.
func (u User) Run(args ...string) Result {
	u.T.Helper()
	var out, errOut bytes.Buffer
	code := cmd.Execute(u.Context, append(args, "--kubeconfig="+u.Kubeconfig, "--cache-dir="+filepath.Dir(u.Kubeconfig)),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	schema.Check(u.T, out.String())
	return Result{Stdout: out.String(), Stderr: errOut.String(), Code: code}
}

// Expect compares a result with regular expressions of the whole of stdout and of stderr, and with the exit code.
func (r Result) Expect(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit code %d, want %d; stderr is\n%s", r.Code, code, r.Stderr)
	}
	for _, stream := range []struct{ name, got, want string }{{"stdout", r.Stdout, stdout}, {"stderr", r.Stderr, stderr}} {
		if !regexp.MustCompile(`^(?s:` + stream.want + `)$`).MatchString(stream.got) {
			t.Errorf("%s is\n%s\nwant\n%s", stream.name, stream.got, stream.want)
		}
	}
}

// Suffix matches the end of a generated name: five characters, or ten in a run with a key.
const Suffix = "[bcdfghjklmnpqrstvwxz2456789]{5}(?:[bcdfghjklmnpqrstvwxz2456789]{5})?"

// File writes content under name into a directory of the test and returns the path.
func File(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

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

// Run runs kubectl genname with args. Run checks JSON and YAML output against the published schemas.
func (u User) Run(args ...string) Result {
	u.T.Helper()
	var out, errOut bytes.Buffer
	code := cmd.Execute(u.Context, append(args, "--kubeconfig="+u.Kubeconfig, "--cache-dir="+filepath.Dir(u.Kubeconfig)),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	schema.Check(u.T, out.String())
	return Result{Stdout: Printed(out.String()), Stderr: Printed(errOut.String()), Code: code}
}

// kubeconfig is the flag that the tests give each command, so that a command to copy has it, too.
var kubeconfig = regexp.MustCompile(` --kubeconfig \S+`)

// Printed returns text of a command as a user without --kubeconfig sees it.
func Printed(text string) string { return kubeconfig.ReplaceAllString(text, "") }

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

// directory is the directory of a file of a test.
var directory = regexp.MustCompile(`[^\s"'=]*/\d{3}/`)

// Prints compares a result with the whole of stdout and of stderr, and with the exit code. Values that differ between
// runs have placeholders, and files have no directory.
func (r Result) Prints(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("exit code %d, want %d", r.Code, code)
	}
	for _, stream := range []struct{ name, got, want string }{{"stdout", r.Stdout, stdout}, {"stderr", r.Stderr, stderr}} {
		if diff := cmp.Diff(Placeholders(stream.want), Placeholders(directory.ReplaceAllString(stream.got, ""))); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", stream.name, diff)
		}
	}
}

// Outputs compares a result with the whole of stdout, and with the exit code 0. Its stderr doesn't matter.
func (r Result) Outputs(t *testing.T, stdout string) {
	t.Helper()
	if r.Code != 0 {
		t.Errorf("stderr is\n%s", r.Stderr)
	}
	Result{Stdout: r.Stdout, Code: r.Code}.Prints(t, 0, stdout, "")
}

// Has compares a result with the exit code, and with texts that stdout or stderr has. Generated names end with xxxxx.
func (r Result) Has(t *testing.T, code int, texts ...string) {
	t.Helper()
	out := Placeholders(r.Stdout) + Placeholders(r.Stderr)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not in\n%s", text, out)
		}
	}
	if r.Code != code {
		t.Errorf("exit code %d, want %d\n%s", r.Code, code, out)
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

// Read returns the text of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Transcript records the output of a program while it runs.
type Transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Until waits up to a minute until the output has a text. Any goroutine can call it.
func (t *Transcript) Until(test *testing.T, text string) {
	test.Helper()
	err := eventually(func() error {
		if printed := t.String(); !strings.Contains(printed, text) {
			return fmt.Errorf("the output doesn't have %q:\n%s", text, printed)
		}
		return nil
	})
	if err != nil {
		test.Error(err)
	}
}

// Exists reports whether there is a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ReadYAML decodes a file of the repository. Fields that the value doesn't have are errors.
func ReadYAML(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(Read(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Program writes a shell script under name into a directory of the test and returns the directory.
func Program(t *testing.T, name, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Module downloads a module, like example.com/m@v1.0.0, and returns its directory. Its checksum is the one of a go.sum
// file.
func Module(t *testing.T, module, sum string) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	download.Dir = t.TempDir()
	out, err := download.Output()
	if err != nil {
		t.Fatalf("download %s: %v\n%s", module, err, out)
	}
	var downloaded struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		t.Fatal(err)
	}
	if downloaded.Sum != sum {
		t.Fatalf("%s has the sum %s, want %s", module, downloaded.Sum, sum)
	}
	return downloaded.Dir
}

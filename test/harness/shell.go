package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// buildPlugin builds the plugin as "make build" does, once for all tests of a package, into a temporary directory.
var buildPlugin = sync.OnceValues(func() (path string, err error) {
	dir, err := os.MkdirTemp("", "plugin-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "kubectl-genname")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/kubectl-genname")
	build.Dir, build.Env = Root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// Plugin returns the path of the plugin's binary.
func Plugin(t *testing.T) string {
	t.Helper()
	path, err := buildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildKubectl = sync.OnceValues(func() (path string, err error) {
	binaries, err := controlplane.Build(context.Background(), os.Stderr)
	return binaries.Kubectl, err
})

// Kubectl returns the path of the reference kubectl.
func Kubectl(t *testing.T) string {
	t.Helper()
	path, err := buildKubectl()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Path returns a PATH with the reference kubectl and the plugin.
func Path(t *testing.T) string {
	t.Helper()
	return strings.Join([]string{filepath.Dir(Kubectl(t)), filepath.Dir(Plugin(t)), os.Getenv("PATH")}, string(os.PathListSeparator))
}

// Environment returns the environment of a user of kubectl and the plugin.
func Environment(t *testing.T, kubeconfig string) []string {
	t.Helper()
	return append(os.Environ(), "PATH="+Path(t), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
}

// Shell runs kubectl as a user's shell does. PATH has the plugin and its completion shim, like after "krew install"
// and the documented link.
type Shell struct {
	T   *testing.T
	Env []string
}

// NewShell returns the shell of a user of the kubeconfig.
func NewShell(t *testing.T, kubeconfig string) Shell {
	t.Helper()
	env := Environment(t, kubeconfig)
	bin := t.TempDir()
	if err := os.Symlink(Plugin(t), filepath.Join(bin, "kubectl_complete-genname")); err != nil {
		t.Fatal(err)
	}
	for i, variable := range env {
		if rest, is := strings.CutPrefix(variable, "PATH="); is {
			env[i] = "PATH=" + bin + string(os.PathListSeparator) + rest
		}
	}
	return Shell{T: t, Env: env}
}

// Run runs a program. "kubectl" is the reference kubectl.
func (s Shell) Run(command string, args ...string) Result {
	s.T.Helper()
	if command == "kubectl" {
		command = Kubectl(s.T)
	}
	cmd := exec.CommandContext(s.T.Context(), command, args...)
	cmd.Env = s.Env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code is compared
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

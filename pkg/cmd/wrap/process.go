package wrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/util/homedir"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// pipeTime limits the time for copying the rest of the program's output if stdout or stderr is no file.
const pipeTime = time.Second

var errInterrupted = errors.New("interrupted before the command started")

// runProgram runs the program with the streams of this process, and returns its exit code. It forwards signals.
func (o *options) runProgram(ctx context.Context, program string, environment []string) (int, error) {
	// The end of ctx doesn't kill the program, because the program gets the signal itself.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, o.arguments[1:]...)
	cmd.Args[0] = o.arguments[0]
	cmd.Env, cmd.WaitDelay = environment, pipeTime
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.streams.In, o.streams.Out, o.streams.ErrOut
	// SIGPIPE must not end this process when a reader closes stderr, because the program would lose its proxy. The
	// signal is caught and not ignored, because the program would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded()...)
	defer signal.Stop(signals)
	if ctx.Err() != nil {
		return 0, errInterrupted
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if in, ok := o.streams.In.(*os.File); ok && !terminal.IsTerminal(in) { // a credential plugin can ask on a terminal
		_ = in.Close() // the program has its own copy, so a writer to the pipe notices when the program closes it
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !slices.Contains(ofTerminal, s) || !inForeground() {
				_ = cmd.Process.Signal(s) // the program might have ended
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
				return 0, err
			}
			return codeOf(cmd.ProcessState), nil
		}
	}
}

var (
	// bypasses are the variables that name a server or have a token, so that a program doesn't use those of its
	// KUBECONFIG.
	bypasses = []string{
		"ARGO_SERVER", "HELM_KUBEAPISERVER", "HELM_KUBETOKEN", "K8S_AUTH_API_KEY", "K8S_AUTH_HOST",
		"KUBERNETES_AUTH_TOKEN", "KUBERNETES_MASTER", "KUBE_HOST", "KUBE_TOKEN",
	}
	// configs are the variables that name a kubeconfig instead of KUBECONFIG.
	configs = []string{"K8S_AUTH_KUBECONFIG", "KUBE_CONFIG_PATH", "KUBE_CONFIG_PATHS"}
	// removed are the variables of an in-cluster configuration. Without them, a program that prefers it fails.
	removed = []string{"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}
)

// checkEnvironment returns an error if a variable replaces a part of a program's KUBECONFIG.
func checkEnvironment() error {
	for _, name := range bypasses {
		if os.Getenv(name) != "" {
			return fmt.Errorf("%s is set, so the command might not use its KUBECONFIG\n  unset %s", name, name)
		}
	}
	return nil
}

// environment returns the environment of the program.
func (s *session) environment() []string {
	set := map[string]string{"KUBECONFIG": s.path, "KUBECACHEDIR": s.cache}
	for _, name := range configs {
		if os.Getenv(name) != "" {
			set[name] = s.path
		}
	}
	// A program reads one of the two variables, and the other one only if it is empty. "*" means all hosts only if it
	// is alone.
	for name, other := range map[string]string{"NO_PROXY": "no_proxy", "no_proxy": "NO_PROXY"} {
		if set[name] = cmp.Or(os.Getenv(name), os.Getenv(other)); set[name] != "*" {
			set[name] = strings.TrimPrefix(set[name]+",127.0.0.1", ",")
		}
	}
	all := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		_, replaced := set[name]
		return replaced || slices.Contains(removed, name)
	})
	for name, value := range set {
		all = append(all, name+"="+value)
	}
	return all
}

// cacheDirectory returns the directory for kubectl's caches of one cluster and user. kubectl names a cache by host and
// port, and the port of the proxy can belong to another cluster at another time.
func cacheDirectory(id string) string {
	base := os.Getenv("KUBECACHEDIR")
	if base == "" {
		base = filepath.Join(homedir.HomeDir(), ".kube", "cache")
	}
	return filepath.Join(base, "genname-wrap", id)
}

// programs offers the programs that begin with a word, for the first word of the command. Shells complete the others.
func programs(_ *cobra.Command, args []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 || word == "" || filepath.Base(word) != word {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		files, _ := filepath.Glob(filepath.Join(dir, word+"*")) // an error is about a pattern in the word
		for _, file := range files {
			if _, err := exec.LookPath(file); err == nil {
				found = append(found, filepath.Base(file))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveDefault
}

package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

var update = flag.Bool("update", false, "write what is printed into docs/")

const (
	root     = "../../"
	recorded = root + "docs/demo.txt"
)

// buildPlugin builds the plugin, once for all tests.
var buildPlugin = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(retrying.Dir, "bin", "kubectl-genname")
	build := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/kubectl-genname")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// pluginPath is the path of the plugin as a program of its own.
func pluginPath(t *testing.T) string {
	t.Helper()
	path, err := buildPlugin()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// environment is that of a user of kubectl and the plugin.
func environment(t *testing.T, kubeconfig string) []string {
	t.Helper()
	path := strings.Join([]string{filepath.Dir(retrying.Binaries.Kubectl), filepath.Dir(pluginPath(t)), os.Getenv("PATH")}, string(os.PathListSeparator))
	return append(os.Environ(), "PATH="+path, "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
}

// The tour of "make demo", through kubectl, prints what docs/demo.txt says, but
// for what chance and the clock make.
func TestDemo(t *testing.T) {
	cp := controlplane.New(t)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	tour := exec.CommandContext(t.Context(), "bash", root+"examples/demo.sh")
	tour.Env = environment(t, kubeconfig)
	tour.Stdout, tour.Stderr = &stdout, &stderr
	if err := tour.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, stdout.String(), stderr.String())
	}
	if *update {
		if err := os.WriteFile(recorded, stdout.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutChance(string(want)), withoutChance(stdout.String())); diff != "" {
		t.Errorf("the tour differs from docs/demo.txt (-recorded +printed); go test ./test/e2e -run TestDemo -update records it:\n%s", diff)
	}
	if !regexp.MustCompile(`^(Read [^\n]*\n|[^\n]* hidden[^\n]*\n|the objects of this run: kubectl get jobs.batch -n default -l genname.dev/run=v1-[0-9a-f]{32}\n)+$`).MatchString(stderr.String()) {
		t.Errorf("stderr is\n%s", stderr.String())
	}
}

// withoutChance replaces what differs from run to run.
func withoutChance(text string) string {
	for _, r := range []struct{ pattern, by string }{
		{`(-|re)` + suffix + `\b`, `${1}xxxxx`},
		{`v1-[0-9a-f]{32}`, `v1-id`},
		{`(Client Version:) \S+`, `$1 version`},
		{`and [\d.]+ s: `, `and a while: `},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	return text
}

// What comes on stdin is created too. kubectl's builder reads the process's
// own stdin, so this runs through kubectl.
func TestCreateFromStdinThroughKubectl(t *testing.T) {
	ns := namespace(t, retrying)
	u := as(t, retrying.Admin())
	run := func(in string, args ...string) result {
		cmd := exec.CommandContext(t.Context(), retrying.Binaries.Kubectl, append([]string{"genname"}, args...)...)
		cmd.Env = environment(t, u.kubeconfig)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
		_ = cmd.Run() // the exit code is compared
		return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	}
	run(configMap, "create", "-n", ns, "-f", "-").expect(t, 0, `configmap/demo-`+suffix+` created\n`, ``)
	run("", "create", "-n", ns, "-f", "-").expect(t, 1, ``, `error: no objects passed to create\n`)
	run("", "report", "--creates=1000000", "--fail-above=0.001%").expect(t, 3, `A prefix: .*`, `1 row above --fail-above 0.001 %\n`)
}

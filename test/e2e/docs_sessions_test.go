package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Each session in the documentation is a recorded terminal. Each is run again from its own commands,
// on its own control plane.
func TestSessions(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(harness.Root + "docs/sessions/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	seeded := sync.OnceValue(func() *controlplane.ControlPlane { return seededCluster(t) }) // shared by all sessions
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			recorded, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			start := func() *controlplane.ControlPlane { return controlplane.New(t) }
			switch name := filepath.Base(path); {
			case strings.HasPrefix(name, "audit-"):
				start = seeded
			case name == "getting-started.txt":
				start = func() *controlplane.ControlPlane { return runningCluster(t) }
			}
			now := play(t, start(), script(string(recorded)))
			if *update {
				if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(withoutChance(string(recorded)), withoutChance(now)); diff != "" {
				t.Errorf("%s differs from what its commands print (-recorded +printed); go test ./test/e2e -run TestSessions -update records it:\n%s", path, diff)
			}
		})
	}
}

// script returns a session without its output. Commands begin with "$ ". Comments begin with "# " and
// get an empty line before them.
func script(session string) []string {
	var script []string
	lines := strings.Split(session, "\n")
	for i, line := range lines {
		beforeComment := line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "# ")
		if beforeComment || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			script = append(script, line)
		}
	}
	return script
}

// columns matches the comment of a session that runs on a terminal.
var columns = regexp.MustCompile(`in a terminal of (\d+) columns`)

// play runs the commands of a script in one bash in the directory examples, and returns the session.
func play(t *testing.T, cp *controlplane.ControlPlane, script []string) string {
	t.Helper()
	const end = "\x1e" // follows the output of a command
	var program strings.Builder
	for _, line := range script {
		if command, is := strings.CutPrefix(line, "$ "); is {
			fmt.Fprintf(&program, "{ %s\n} 2>&1; code=$?; printf '\\036'; (exit $code)\n", command)
		}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		t.Fatal(err)
	}
	bash := exec.CommandContext(t.Context(), "bash", "-c", program.String())
	bash.Env, bash.Dir = harness.Environment(t, kubeconfig), examples(t)
	printed := output(t, bash, columns.FindStringSubmatch(script[0]))
	outputs := strings.Split(strings.ReplaceAll(printed, bash.Dir, "/home/me/examples"), end)
	var session strings.Builder
	for _, line := range script {
		fmt.Fprintln(&session, line)
		if strings.HasPrefix(line, "$ ") && len(outputs) > 1 {
			session.WriteString(outputs[0])
			outputs = outputs[1:]
		}
	}
	return session.String()
}

// output runs a program, on a terminal if its width is given, and returns its output. It leaves out
// progress, which a terminal erases. The exit code is that of the last command.
func output(t *testing.T, program *exec.Cmd, width []string) string {
	t.Helper()
	if width == nil {
		printed, _ := program.Output()
		return string(printed)
	}
	columns, err := strconv.ParseUint(width[1], 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Cols: uint16(columns), Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	printed, _ := io.ReadAll(terminal) // always ends with an error
	_ = program.Wait()
	lines := strings.ReplaceAll(string(printed), "\r\n", "\n")
	return regexp.MustCompile(`\r[^\n]*\r`).ReplaceAllString(lines, "")
}

// examples returns a copy of the directory examples, into which commands can write.
func examples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(harness.Root+"examples")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Package sessions tests what commands print. Each .txt file is a script of testscript
// (github.com/rogpeppe/go-internal) that plays recorded terminals on a real API server. The pages of the
// documentation show parts of them. docs/internals/testing.md says how to add one.
package sessions

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The two servers (controlplane.Shared).
var retrying, single *controlplane.ControlPlane

var update = flag.Bool("update", false, "record the sessions that differ")

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m,
		harness.Server{ControlPlane: &retrying, Shared: "retrying"},
		harness.Server{ControlPlane: &single, Shared: "single"}))
}

// Each session prints what was recorded, except for names, ages and times.
func TestSessions(t *testing.T) {
	t.Parallel()
	servers := map[string]func() *controlplane.ControlPlane{ // the command server takes one of these names, or own
		"retrying": func() *controlplane.ControlPlane { return retrying },
		"single":   func() *controlplane.ControlPlane { return single },
		"jobs":     sync.OnceValue(func() *controlplane.ControlPlane { return clusterWithJobs(t) }),
		"leaks":    sync.OnceValue(func() *controlplane.ControlPlane { return clusterWithLeaks(t) }),
		"history":  sync.OnceValue(func() *controlplane.ControlPlane { return clusterWithHistory(t) }),
	}
	path := harness.Path(t)
	coverage := os.Getenv("GENNAME_COVERAGE") // make cover reads this directory
	if coverage != "" {
		path = pluginWithCoverage(t) + string(os.PathListSeparator) + path
	}
	testscript.Run(t, testscript.Params{
		Dir: ".",
		Setup: func(env *testscript.Env) error {
			s := &session{servers: servers, dir: env.WorkDir}
			env.Values[sessionKey{}] = s
			env.Setenv("PATH", path)
			env.Setenv("GOCOVERDIR", coverage)
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Setenv("TERM", "xterm")
			env.Setenv("LANG", "C.UTF-8")
			env.Defer(func() { s.close(t) })
			return s.serve(context.Background(), env, "retrying")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": server, "user": user, "fault": fault, "examples": examples,
			"play": play, "pty": pty80, "same": same,
		},
	})
}

// pluginWithCoverage builds the plugin so that it counts the statements that it executes, and returns its directory.
func pluginWithCoverage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-cover", "-covermode=atomic",
		"-coverpkg=./cmd/...,./pkg/...,./internal/...", "-o", dir, "./cmd/kubectl-genname")
	build.Dir = harness.Root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// clusterWithJobs returns a cluster that runs Jobs on a node simulated by KWOK.
func clusterWithJobs(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.New(t)
	if err := cp.StartControllers(t.Context(), os.Stderr, "job-controller"); err != nil {
		t.Fatal(err)
	}
	if err := cp.StartNodes(t.Context(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	return cp
}

// Placeholders replace only values that differ between runs.
func TestPlaceholders(t *testing.T) {
	for _, same := range [][2]string{
		{"job.batch/hello-8kdgf created", "job.batch/hello-2zv95 created"},
		{"created 12s ago (10:00:01Z)", "created 3m20s ago (10:00:01Z)"},
		{"at 2026-11-23T09:48:47Z", "at 2027-01-02T03:04:05.123Z"},
		{"RATE      NAMES\n+9.3/min  20", "RATE     NAMES\n+16/min  20"},
		{"not settled in 2s)", "not settled in 2.022s)"},
	} {
		if a, b := harness.Placeholders(same[0]), harness.Placeholders(same[1]); a != b {
			t.Errorf("%q and %q differ", a, b)
		}
	}
	for _, other := range [][2]string{
		{"job.batch/hello-8kdgf created", "job.batch/hello-8kdgf exists"},
		{"Deleted 3 of 3 objects", "Deleted 2 of 3 objects"},
		{"--older-than 1h", "--older-than 2h"},
		{"NAME   NAMES", "NAME  NAMES"},
	} {
		if a, b := harness.Placeholders(other[0]), harness.Placeholders(other[1]); a == b {
			t.Errorf("%q and %q are equal", other[0], strings.TrimSpace(other[1]))
		}
	}
}

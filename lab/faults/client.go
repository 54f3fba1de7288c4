package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Client is one way to create all objects.
type Client struct {
	// Name appears in namespaces and in the -only flag, Title in the report.
	Name, Title string
	// Check returns the promises that the client broke.
	Check func(*Result) error
	// survives is true if the test may kill the client.
	survives bool
	compete  func(*trial, context.Context) (*statement, error)
}

// exists is the plugin's word for an object that already exists.
const exists = "exists"

// Clients are all clients.
var Clients = []Client{
	{"keyed", "`kubectl genname create --idempotency-key`, run again until it exits 0", exact, true, (*trial).keyed},
	{"keyless", "`kubectl genname create`, run once, not killed", neverTwo, false, (*trial).keyless},
	{"wrap", "`kubectl genname wrap -- bash SCRIPT`, not killed; SCRIPT runs `kubectl create` for one object at a time, again until it exits 0", reported, false, (*trial).wrap},
	{"server", "`kubectl genname create --naming=server`, run again for the objects that it has not reported", nothing, true, (*trial).serverNaming},
	{"kubectl", "`kubectl create`, run again for the objects that it has not reported", nothing, true, (*trial).kubectl},
	{"fixed", "`kubectl create` with fixed names, run again for the objects that it has not reported; `AlreadyExists` counts as reported", once, true, (*trial).fixed},
	{"apply", "`kubectl apply --server-side` with fixed names, run again for the objects that it has not reported", once, true, (*trial).apply},
}

// exact checks that each object exists once and was reported, and that a last run finds all of them.
func exact(r *Result) error {
	if err := neverTwo(r); err != nil {
		return err
	}
	if r.Unknown > 0 || r.Missing > 0 || r.LastCode != 0 || r.Exist != r.Asked || r.PostsAgain > 0 {
		return fmt.Errorf("not all is there: %s", r)
	}
	return nil
}

// neverTwo checks that no object exists twice, that the report of each object is true, and that the exit code agrees.
func neverTwo(r *Result) error {
	switch {
	case r.Duplicates > 0 || r.NotThere > 0 || r.Unaccounted > 0:
		return fmt.Errorf("not as reported: %s", r)
	case r.Reported+r.Unknown+r.Failed+r.NotAttempted != r.Asked:
		return fmt.Errorf("it is not said what became of each object: %s", r)
	case r.LastCode != r.deserved():
		return fmt.Errorf("the exit code should be %d: %s", r.deserved(), r)
	}
	return nil
}

// reported checks that each object exists once and was reported.
func reported(r *Result) error {
	if err := neverTwo(r); err != nil {
		return err
	}
	if r.Missing > 0 || r.Reported != r.Asked {
		return fmt.Errorf("not all is there: %s", r)
	}
	return nil
}

// deserved returns the exit code that agrees with the reports.
func (r *Result) deserved() int {
	switch {
	case r.Unknown > 0:
		return 4
	case r.Failed+r.NotAttempted > 0:
		return 1
	}
	return 0
}

// once checks that each object exists once, as fixed names ensure.
func once(r *Result) error {
	if r.Duplicates > 0 || r.Missing > 0 {
		return fmt.Errorf("not each object exists once: %s", r)
	}
	return nil
}

// nothing checks nothing, because the client promises nothing.
func nothing(*Result) error { return nil }

// Run runs the client through a fault-injection test on the control plane. Run fails if the test could not be carried
// out. The Result lists which objects exist.
func (c Client) Run(ctx context.Context, cp *controlplane.ControlPlane, s Settings) (*Result, error) {
	if !c.survives {
		s.ClientKills = 0
	}
	t, err := newTrial(ctx, s, cp, c.Name)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	outcome, err := c.compete(t, ctx)
	took := time.Since(start)
	if err2 := t.finish(); err != nil || err2 != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, errors.Join(err, err2))
	}
	present, err := t.present(ctx)
	if err != nil {
		return nil, err
	}
	result := outcome.settle(present)
	result.Client, result.Took, result.tally = c, took, t.log
	result.Requests, result.Faults = t.counts()
	return result, nil
}

// keyed runs the plugin with the same key until it exits 0, and then once more. The last run must find all objects.
func (t *trial) keyed(ctx context.Context) (*statement, error) {
	names, want := mixed(t.Documents, t.Count)
	args, err := t.input(names, "create", "--count="+strconv.Itoa(t.Count), "--concurrency="+strconv.Itoa(t.Concurrency),
		"--idempotency-key=faults-"+strconv.FormatUint(t.Seed, 10))
	if err != nil {
		return nil, err
	}
	a := newStatement(want)
	if err := t.untilDone(ctx, a, args); err != nil {
		return nil, err
	}
	again, posts := newStatement(want), t.postsSoFar()
	if err := t.untilDone(ctx, again, args); err != nil {
		return nil, err
	}
	a.exist, a.postsAgain = again.reportedAs(exists), t.postsSoFar()-posts
	return a, nil
}

// untilDone repeats the run until it exits 0.
func (t *trial) untilDone(ctx context.Context, a *statement, args []string) error {
	for range maxRuns {
		r, err := t.run(ctx, t.Plugin, args...)
		if err != nil {
			return err
		}
		a.add(r)
		if r.code == 0 {
			return nil
		}
	}
	return fmt.Errorf("not done after %d runs", maxRuns)
}

// keyless runs the plugin once. A run that ended before the first create does not count.
func (t *trial) keyless(ctx context.Context) (*statement, error) {
	names, want := copies(t.Documents, t.Count)
	args, err := t.input(names, "create", "--count="+strconv.Itoa(t.Count), "--concurrency="+strconv.Itoa(t.Concurrency))
	if err != nil {
		return nil, err
	}
	a := newStatement(want)
	for range maxRuns {
		r, err := t.run(ctx, t.Plugin, args...)
		if err != nil {
			return nil, err
		}
		if a.add(r); len(a.reported)+len(a.unknown) > 0 {
			return a, nil
		}
	}
	return nil, fmt.Errorf("nothing was created in %d runs", maxRuns)
}

// script runs kubectl for each file of a directory, several at a time. Arguments: the directory, the number at a time,
// and kubectl with its flags. The script repeats kubectl until it succeeds, because kubectl also fails by faults in
// requests that wrap passes through. kubectl's timeout for a request is ten times the timeout of wrap, because wrap can
// send several requests for a create. If kubectl gave up just before wrap responds, its next create could make a second
// object.
const script = `cd "$1" && ls | xargs -P "$2" -I FILE bash -c 'until "$@"; do sleep 1; done' - "${@:3}" -f FILE`

// wrap runs a script under wrap, once. Each object has a file and a kubectl of its own.
func (t *trial) wrap(ctx context.Context) (*statement, error) {
	names, want := single(t.Objects())
	dir := t.path("documents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(manifest([]string{name})), 0o600); err != nil {
			return nil, err
		}
	}
	args := append([]string{"wrap"}, t.flags()...)
	args = append(args, "--", "bash", "-c", script, "-", dir, strconv.Itoa(3*t.Concurrency), // mostly waits
		t.Kubectl, "create", "--request-timeout="+(10*t.RequestTimeout).String(), "--cache-dir="+t.path("cache"))
	r, err := t.execute(ctx, t.Plugin, args...)
	if err != nil {
		return nil, err
	}
	a := newStatement(want)
	a.add(r)
	return a, nil
}

func (t *trial) serverNaming(ctx context.Context) (*statement, error) {
	return t.loop(ctx, single, t.Plugin, "create", "--naming=server", "--concurrency="+strconv.Itoa(t.Concurrency))
}

func (t *trial) kubectl(ctx context.Context) (*statement, error) {
	return t.loop(ctx, single, t.Kubectl, "create")
}

func (t *trial) fixed(ctx context.Context) (*statement, error) {
	return t.loop(ctx, named, t.Kubectl, "create")
}

func (t *trial) apply(ctx context.Context) (*statement, error) {
	return t.loop(ctx, named, t.Kubectl, "apply", "--server-side")
}

// loop is a script around a command that can fail. One second after each run it runs the command again, with the
// documents that were not reported as created. It ends when no document is left. A person has to settle an outcome
// that is reported as unknown.
func (t *trial) loop(
	ctx context.Context, input func(objects int) ([]string, want), program, verb string, flags ...string,
) (*statement, error) {
	todo, w := input(t.Objects())
	a := newStatement(w)
	for range maxRuns {
		args, err := t.input(todo, verb, flags...)
		if err != nil {
			return nil, err
		}
		r, err := t.run(ctx, program, args...)
		if err != nil {
			return nil, err
		}
		a.add(r)
		settled := a.settledPrefixes()
		todo = slices.DeleteFunc(todo, func(name string) bool { return settled[name] || a.reported[name] != "" })
		if len(todo) == 0 {
			return a, nil
		}
		time.Sleep(time.Second)
	}
	return nil, fmt.Errorf("not done after %d runs", maxRuns)
}

// input writes the documents, and returns the arguments of a command that reads them.
func (t *trial) input(names []string, verb string, flags ...string) ([]string, error) {
	path := t.path("input.yaml")
	err := os.WriteFile(path, []byte(manifest(names)), 0o600)
	return append([]string{verb, "--filename=" + path}, flags...), err
}

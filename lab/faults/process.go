package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// maxRuns limits the runs of a loop. No fault-injection test needs as many.
const maxRuns = 200

// run is the result of one run of a client.
type run struct {
	code           int // -1 if it was killed
	stdout, stderr string
}

// run runs kubectl or the plugin against the proxy.
func (t *trial) run(ctx context.Context, program string, args ...string) (run, error) {
	return t.execute(ctx, program, append(args, t.flags()...)...)
}

func (t *trial) flags() []string {
	return []string{
		"--kubeconfig=" + t.path("kubeconfig"), "--cache-dir=" + t.path("cache"), "--namespace=" + t.namespace,
		"--request-timeout=" + t.RequestTimeout.String(),
	}
}

// execute runs a program, and records its output.
func (t *trial) execute(ctx context.Context, program string, args ...string) (run, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return run{}, err
	}
	t.track(cmd.Process)
	err := cmd.Wait()
	t.track(nil)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return run{}, err
	}
	r := run{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	t.logRun(r)
	return r, ctx.Err()
}

// track sets the process that is killed as the client.
func (t *trial) track(client *os.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.client = client
	if client != nil {
		t.log.runs++
	}
}

func (t *trial) logRun(r run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	fmt.Fprintf(t.Log, "%s: run %d: exit code %d, %d objects reported, %d stored; stderr ends with: %.300s\n",
		t.namespace, t.log.runs, r.code, len(r.reported()), t.stored, lines[len(lines)-1])
}

// reported returns the names that the run printed, with the verb after each.
func (r run) reported() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(r.stdout) {
		object, verb, ok := strings.Cut(strings.TrimSpace(line), " ")
		if name, isConfigMap := strings.CutPrefix(object, "configmap/"); ok && isConfigMap {
			names[name] = verb
		}
	}
	for _, match := range alreadyExists.FindAllStringSubmatch(r.stderr, -1) {
		names[match[1]] = exists
	}
	return names
}

// alreadyExists is the error of kubectl for an object with a fixed name that exists. alreadyExists doesn't show
// whether an earlier run has created the object.
var alreadyExists = regexp.MustCompile(`configmaps "(document-\d+-fixed)" already exists`)

// unknown returns the names of the objects whose outcome the run reported as unknown.
func (r run) unknown() []string {
	var names []string
	for line := range strings.Lines(r.stderr) {
		if name, isConfigMap := strings.CutPrefix(line, "error: outcome unknown: configmap/"); isConfigMap {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	return names
}

// count is a part of the last line of a run that did not create all objects.
var count = regexp.MustCompile(`(\d+) (failed|not attempted)\b`)

// totals returns the counts of the last line. They are 0 if the run printed none, because then it did everything.
func (r run) totals() totals {
	counted := map[string]int{}
	for line := range strings.Lines(r.stderr) {
		if !strings.Contains(line, " not attempted") {
			continue
		}
		for _, part := range count.FindAllStringSubmatch(line, -1) {
			counted[part[2]], _ = strconv.Atoi(part[1]) // the expression has digits only
		}
	}
	return totals{failed: counted["failed"], notAttempted: counted["not attempted"]}
}

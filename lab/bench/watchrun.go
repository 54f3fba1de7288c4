package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// watchRun is a run of audit --watch, and the counts that it printed for the timed prefixes.
type watchRun struct {
	cmd    *exec.Cmd
	read   sync.WaitGroup
	err    strings.Builder
	memory int64 // bytes, at most

	mu      sync.Mutex
	seen    map[string][]time.Time // by prefix: the times at which it had 1, 2, 3, … names
	reports []time.Time
}

// timed are the prefixes that are timed, and the field that counts each. The field is names if the objects stay. It
// is creates if they are deleted.
var timed = []struct{ prefix, field string }{
	{lagPrefix, "names"}, {burstPrefix, "measured.creates"}, {newPrefix, "names"},
}

// startWatch starts a watch that prints a line every reportEvery, and waits for the first line.
func startWatch(ctx context.Context, b *bench, args ...string) (*watchRun, error) {
	format := "-o=jsonpath="
	for _, t := range timed {
		format += `{.items[?(@.prefix=="` + t.prefix + `")].` + t.field + "}:"
	}
	args = append([]string{"audit", "-A", "--watch", "--interval=" + reportEvery.String(), format + `{"\n"}`}, args...)
	w := &watchRun{cmd: exec.CommandContext(ctx, b.plugin, args...), seen: map[string][]time.Time{}}
	w.cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig(), "KUBECACHEDIR="+b.dir)
	w.cmd.Stderr = &w.err
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	counted := make(chan struct{})
	w.read.Go(func() { w.readAll(out, counted) })
	select {
	case <-counted:
		return w, nil
	case <-time.After(2 * time.Minute):
		return nil, errors.Join(errors.New("nothing was counted in two minutes"), w.cmd.Process.Kill())
	}
}

// readAll records the counts of each line, and closes counted after the first.
func (w *watchRun) readAll(out io.Reader, counted chan<- struct{}) {
	lines := bufio.NewScanner(out)
	for first := true; lines.Scan(); first = false {
		if first {
			close(counted)
		}
		fields := strings.Split(lines.Text(), ":")
		w.mu.Lock()
		w.memory = max(w.memory, highWater(w.cmd.Process.Pid))
		w.reports = append(w.reports, time.Now())
		for i, t := range timed {
			n, _ := strconv.Atoi(fields[i]) // empty if the prefix has no row
			for len(w.seen[t.prefix]) < n {
				w.seen[t.prefix] = append(w.seen[t.prefix], time.Now())
			}
		}
		w.mu.Unlock()
	}
}

// has returns the time at which a prefix had n names, or the zero time if it has fewer.
func (w *watchRun) has(prefix string, n int) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen := w.seen[prefix]; len(seen) >= n {
		return seen[n-1]
	}
	return time.Time{}
}

// period returns the 99th percentile of the times between two reports.
func (w *watchRun) period(since time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var times []time.Duration
	for i, at := range w.reports {
		if i > 0 && at.After(since) {
			times = append(times, at.Sub(w.reports[i-1]))
		}
	}
	return most(sorted(times))
}

// end stops the watch after it has had time to report all objects.
func (w *watchRun) end() error {
	time.Sleep(time.Second + 2*reportEvery)
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	w.read.Wait()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("audit --watch: %w\n%s", err, w.err.String())
	}
	logf("%s", w.err.String())
	return nil
}

// lags returns the delays between the responses to creates of a prefix and the reports of the watch.
func (w *watchRun) lags(prefix string, responseTimes []time.Time) (lags []time.Duration, err error) {
	for i, at := range responseTimes {
		seen := w.has(prefix, i+1)
		if seen.IsZero() {
			return nil, fmt.Errorf("%d of %d creates of %s were seen", i, len(responseTimes), prefix)
		}
		lags = append(lags, max(seen.Sub(at), 0))
	}
	return lags, nil
}

// highWater returns the peak memory of a process in bytes, or 0 if it has ended. wait4(2) is no alternative, because
// its value for a child includes the memory of the process that started it.
func highWater(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes << 10
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// sample is one run of a command.
type sample struct {
	Seconds float64
	CPU     float64 // seconds of all processors
	MaxRSS  int64   // bytes, of the largest of its processes
	Stdout  string
	Stderr  string
}

// measurer is the path of the program that measures child processes (measure/main.go).
var measurer string

// child runs a command with the environment env added, and measures it.
func child(ctx context.Context, env []string, args ...string) (sample, error) {
	cmd := exec.CommandContext(ctx, measurer, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%v: %w\n%s", args, err, errOut.String())
	}
	var s sample
	err := json.Unmarshal(out.Bytes(), &s)
	return s, err
}

// series is a list of repeated measurements of one value.
type series []float64

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// in formats the median and the range in a unit.
func (s series) in(format, unit string) string {
	number := func(x float64) string { return fmt.Sprintf(format, x) }
	return fmt.Sprintf("%s %s [%s, %s]", number(s.median()), unit, number(slices.Min(s)), number(slices.Max(s)))
}

// contest compares several ways to do the same work. contest runs them in turns, so that other load on the machine
// affects all of them.
type contest struct {
	names   []string
	ways    []func(context.Context) (sample, error)
	seconds []series
	memory  []series                    // MB
	client  []series                    // seconds of all processors
	cpu     []series                    // like client, plus the servers
	before  func(context.Context) error // runs before each way, not measured; nil for nothing
}

func (c *contest) add(name string, way func(context.Context) (sample, error)) {
	c.names = append(c.names, name)
	c.ways = append(c.ways, way)
	c.seconds = append(c.seconds, nil)
	c.memory = append(c.memory, nil)
	c.client = append(c.client, nil)
	c.cpu = append(c.cpu, nil)
}

func (c *contest) run(ctx context.Context, runs int) error {
	for n := range runs {
		for i, way := range c.ways {
			if c.before != nil {
				if err := c.before(ctx); err != nil {
					return err
				}
			}
			before := cpuSeconds()
			s, err := way(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", c.names[i], err)
			}
			cpu := cpuSeconds() - before
			logf("%d/%d %-60s %7.2f s, CPU %7.2f s, %6.1f MB", n+1, runs, c.names[i], s.Seconds, cpu, float64(s.MaxRSS)/1e6)
			c.client[i] = append(c.client[i], s.CPU)
			c.cpu[i] = append(c.cpu[i], cpu)
			c.seconds[i] = append(c.seconds[i], s.Seconds)
			c.memory[i] = append(c.memory[i], float64(s.MaxRSS)/1e6)
		}
	}
	return ctx.Err()
}

// cpuSeconds returns the processor time that this process and all its children have used, including children that
// still run. Other load on the machine increases processor time a little and elapsed time a lot.
func cpuSeconds() float64 {
	total := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err == nil {
			total += seconds(usage.Utime) + seconds(usage.Stime)
		}
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		total += runningChild(path)
	}
	return total
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// runningChild returns the processor time of the process that a /proc/PID/stat file describes, or 0 if it is not our
// child. In proc(5), field 4 is the parent, and fields 14 and 15 are the times in hundredths of a second.
func runningChild(stat string) float64 {
	content, err := os.ReadFile(stat)
	if err != nil { // it has ended
		return 0
	}
	_, rest, _ := strings.Cut(string(content), ") ")
	fields := strings.Fields(rest) // from the third
	if len(fields) < 13 || fields[1] != strconv.Itoa(os.Getpid()) {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// beyondBusy compares the time of a way with its time if all cores had always been busy. No program with the same
// processor time can be faster. of names the time of the way.
func beyondBusy(of string, c *contest, way int) comparison {
	cores := runtime.NumCPU()
	var turns series
	for n, cpu := range c.cpu[way] {
		turns = append(turns, c.seconds[way][n]*float64(cores)/cpu)
	}
	return comparison{fmt.Sprintf("%s / the time if all %d cores were always busy", of, cores), turns.median(), busyBar}
}

// busyBar limits the time of a program whose requests overlap.
const busyBar = 1.15

// comparison is a measured value, often a ratio of medians, and its bar. The bar is 0 if the value has none.
type comparison struct {
	of            string
	measured, bar float64
}

// compare returns a table of values and their bars. A bar refers to the full size of a population.
func (b *bench) compare(all ...comparison) string {
	var text strings.Builder
	text.WriteString("| value | measured | bar | within the bar |\n|---|--:|--:|---|\n")
	for _, c := range all {
		bar, verdict := fmt.Sprintf("%.3f", c.bar), "**no**"
		switch {
		case c.bar == 0:
			bar, verdict = "", ""
		case b.scale != 1:
			verdict = "not evaluated, because the bar is for the full size"
		case c.measured <= c.bar:
			verdict = "yes"
		}
		fmt.Fprintf(&text, "| %s | %.3f | %s | %s |\n", c.of, c.measured, bar, verdict)
	}
	return text.String()
}

// ratios returns the ratio of the second way's value to the first way's value for each turn.
func ratios(ways []series) (of series) {
	for i, value := range ways[1] {
		of = append(of, value/ways[0][i])
	}
	return of
}

package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/lab/crowd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// measurement is a section of lab/benchmarks.md: several ways to do the same work.
type measurement struct {
	name, title string
	version     string      // of kube-apiserver
	documents   int         // of the file to create, or 0
	objects     crowd.Crowd // the objects to list, if there is no file
	columns     []column
	ways        []way
	limits      []limit
}

// way is a command. Its line begins with kubectl or genname, and FILE is the file to create. If the command succeeds,
// count returns the number of objects in its output.
type way struct {
	name, line string
	count      func(stdout string) int
}

// column is a value of each sample.
type column struct {
	title, format, unit string
	of                  func(sample) float64
}

var (
	elapsed = column{"time", "%.2f", "s", func(s sample) float64 { return s.Seconds }}
	client  = column{"CPU", "%.2f", "s", func(s sample) float64 { return s.CPU }}
	all     = column{"CPU, servers included", "%.2f", "s", func(s sample) float64 { return s.withServers }}
	memory  = column{"peak memory", "%.1f", "MB", func(s sample) float64 { return float64(s.MaxRSS) / 1e6 }}
	growth  = column{"growth of the server's memory", "%.0f", "MB", func(s sample) float64 { return s.grows / 1e6 }}
	wait    = column{"time of another client's small request", "%.1f", "ms", func(s sample) float64 { return s.waits.median() }}

	ofClients = []column{elapsed, client, all, memory}
	ofServers = []column{elapsed, growth, wait}
)

// limit is the largest value that we accept.
type limit struct {
	what  string
	value func(results) float64
	most  float64
}

// results are the samples of each way.
type results [][]sample

func (r results) series(c column, way int) (s series) {
	for _, sample := range r[way] {
		s = append(s, c.of(sample))
	}
	return s
}

// over returns the ratio of the medians of a way and of the first way.
func over(c column, way int) func(results) float64 {
	return func(r results) float64 { return r.series(c, way).median() / r.series(c, 0).median() }
}

// busy returns the time of a way, divided by the time that it would take if all cores were always busy. No program with
// the same processor time can be faster.
func busy(way int) func(results) float64 {
	ratio := column{of: func(s sample) float64 { return s.Seconds * float64(runtime.NumCPU()) / s.withServers }}
	return func(r results) float64 { return r.series(ratio, way).median() }
}

// mebibytes returns the peak memory of a way.
func mebibytes(way int) func(results) float64 {
	return func(r results) float64 { return r.series(memory, way).median() * 1e6 / (1 << 20) }
}

// report returns the table and the limits in Markdown.
func (m measurement) report(r results) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d repetitions |", len(r[0]))
	for _, c := range m.columns {
		fmt.Fprintf(&text, " %s |", c.title)
	}
	fmt.Fprintf(&text, "\n|---|%s\n", strings.Repeat("---|", len(m.columns)))
	for i, way := range m.ways {
		fmt.Fprintf(&text, "| %s |", way.name)
		for _, c := range m.columns {
			s := r.series(c, i)
			fmt.Fprintf(&text, " "+c.format+" "+c.unit+" ["+c.format+", "+c.format+"] |", s.median(), slices.Min(s), slices.Max(s))
		}
		text.WriteString("\n")
	}
	text.WriteString("\n| value | measured | at most | accepted |\n|---|--:|--:|---|\n")
	for _, limit := range m.limits {
		verdict := "yes"
		if limit.value(r) > limit.most {
			verdict = "**no**"
		}
		fmt.Fprintf(&text, "| %s | %.3f | %.3f | %s |\n", limit.what, limit.value(r), limit.most, verdict)
	}
	return text.String()
}

// lines counts the lines with the name of a generated object.
func lines(prefix string) func(string) int {
	return func(stdout string) int { return strings.Count(stdout, prefix) }
}

// audited reads the output of audits.
func audited(stdout string) (objects int) {
	_, _ = fmt.Sscanf(stdout, "true:%d", &objects) // 0 if the audit is not complete
	return objects
}

// audit returns an audit with these arguments.
func audit(arguments string) way {
	return way{"`kubectl genname audit configmaps " + arguments + "`", "genname audit configmaps " + arguments + " -o jsonpath={.complete}:{.summary.objects}", audited}
}

var measurements = []measurement{
	{
		name: "create", title: "A file of 1,000 documents, strict validation", version: controlplane.ServerVersion,
		documents: 1000, columns: ofClients,
		ways: []way{
			// The objects of kubectl have no creation ID annotation. If the plugin found a recent one under its name,
			// it could not know who had created it. So kubectl uses another namespace.
			{"`kubectl create -f`", "kubectl create -f FILE --namespace=kube-public", lines("/bench-")},
			{"`kubectl genname create -f`", "genname create -f FILE", lines("/bench-")},
			{"the same, `--concurrency=16`", "genname create -f FILE --concurrency=16", lines("/bench-")},
			{"`kubectl genname wrap -- kubectl create -f`", "genname wrap -- kubectl create -f FILE", lines("/bench-")},
		},
		limits: []limit{
			{"time, plugin / kubectl", over(elapsed, 1), 0.95},
			{"peak memory, plugin / kubectl", over(memory, 1), 1},
			{"time with `--concurrency=16` / the time if all cores were always busy", busy(2), 1.15},
			{"time of kubectl, under `wrap` / alone", over(elapsed, 3), 1.6},
		},
	},
	{
		name: "audit, namespaces", title: "1,000,000 ConfigMaps over 40 namespaces, under 10,000 prefixes",
		version: controlplane.ServerVersion, objects: crowd.Crowd{Name: "team", Namespaces: 40, Prefixes: 250, Names: 100},
		columns: ofClients, ways: []way{audit("-A")},
		limits: []limit{
			{"time / the time if all cores were always busy", busy(0), 1.15},
			{"peak memory in MiB", mebibytes(0), 80},
		},
	},
	{
		name: "audit, namespace", title: "1,000,000 ConfigMaps in one namespace, each with a prefix of its own",
		version: controlplane.ServerVersion, objects: crowd.Crowd{Name: "team", Namespaces: 1, Prefixes: 1_000_000, Names: 1},
		columns: ofClients, ways: []way{audit("-n team-00"), audit("-n team-00 --min-count=1 --top=100")},
		limits: []limit{
			{"time / the time if all cores were always busy", busy(0), 1.6},
			{"peak memory in MiB", mebibytes(0), 250},
			{"peak memory in MiB with `--min-count=1`", mebibytes(1), 250},
		},
	},
	{
		name: "audit, old", title: "60,000 ConfigMaps of 12 KB in one namespace, on a server that reads lists from etcd",
		version: controlplane.ServerVersions[0],
		objects: crowd.Crowd{Name: "team", Namespaces: 1, Prefixes: 20, Names: 3_000, Bytes: 12 << 10},
		columns: ofServers,
		ways: []way{
			{"`kubectl get configmaps -A --chunk-size=500`", "kubectl get configmaps -A --chunk-size=500", lines(" crowd-")},
			audit("-A"), audit("-A --polite"),
		},
		limits: []limit{
			{"growth of the server's memory, audit / kubectl", over(growth, 1), 2.2},
			{"the same with `--polite`", over(growth, 2), 2.2},
			{"time of a small request, during the audit / during kubectl", over(wait, 1), 1.5},
			{"the same with `--polite`", over(wait, 2), 1.5},
			{"time, audit / kubectl", over(elapsed, 1), 0.2},
		},
	},
}

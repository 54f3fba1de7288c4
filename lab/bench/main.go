// Command bench measures the plugin beside the tools that people use today, on real API servers. It writes the
// results into lab/benchmarks.md. Each section is between two markers and names the conditions of its run.
//
//	make -f lab/Makefile bench
//	go run -C lab/bench . audit
//	go run -C lab/bench . -scale 0.1 -runs 1 -print audit
//
// It has its own module because it writes populations directly into etcd.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// section is the text between two markers of lab/benchmarks.md.
type section struct {
	name    string
	measure func(context.Context, *bench) (string, error)
	old     bool // for the server that reads pages from etcd
	// isSynthetic means that the program serves the objects.
	isSynthetic bool
}

// sections are all measurements by the name on the command line.
var sections = map[string][]section{
	"audit":  audit,
	"create": {{name: "create", measure: create}},
	"live":   live,
	"stems":  stems,
	"wrap":   {{name: "wrap", measure: wrapped}},
}

// bench is one run of the program.
type bench struct {
	runs   int
	scale  float64 // of the populations; the bars refer to 1
	load   string  // of the machine, before the measurement
	commit string  // of the plugin
	server string  // version of the servers
	old    string  // version of the server that reads pages from etcd
	part   string  // the only part of a section to measure; empty for all
	plugin string  // path of the binary, built as .goreleaser.yaml does
	bare   string  // path of a bare proxy
	dir    string  // for files of child processes
}

const (
	page      = "../benchmarks.md"
	pluginDir = "../../cmd/kubectl-genname"
)

func main() {
	b := &bench{commit: document.Commit()}
	flag.IntVar(&b.runs, "runs", 5, "repetitions of every measurement")
	flag.Float64Var(&b.scale, "scale", 1, "factor for the sizes of the populations")
	flag.StringVar(&b.part, "part", "", "measure only this part: of the audit namespaces, namespace, ownprefixes, old or oldtenants; of live few or own; of stems fixed, own, one or mixed")
	flag.StringVar(&b.server, "server", controlplane.ServerVersion, "version of kube-apiserver for all but the parts old and oldtenants")
	flag.StringVar(&b.old, "old", controlplane.ServerVersions[0], "version of kube-apiserver for the parts old and oldtenants")
	printOnly := flag.Bool("print", false, "print the sections, do not write lab/benchmarks.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.run(ctx, flag.Args(), *printOnly)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, names []string, printOnly bool) (err error) {
	if len(names) == 0 {
		return errors.New("name sections: audit, create, live, stems, wrap")
	}
	if b.dir, err = os.MkdirTemp("", "genname-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.plugin, measurer = filepath.Join(b.dir, "kubectl-genname"), filepath.Join(b.dir, "measure")
	b.bare = filepath.Join(b.dir, "bare")
	for program, source := range map[string]string{b.plugin: pluginDir, measurer: "measure", b.bare: "bare"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
		build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	for _, name := range names {
		parts := sections[name]
		if parts == nil {
			return fmt.Errorf("there is no section %q", name)
		}
		for _, s := range parts {
			if b.part != "" && s.name != name+", "+b.part {
				continue
			}
			if err := b.write(ctx, s, printOnly); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}

// write measures a section and prints it. write also writes the section into the document unless printOnly is set.
func (b *bench) write(ctx context.Context, s section, printOnly bool) error {
	b.load = document.LoadAverage()
	text, err := s.measure(ctx, b)
	if err != nil {
		return err
	}
	heading := "" // if there is one, the conditions come after it
	if strings.HasPrefix(text, "### ") && strings.Count(text, "### ") == 1 {
		heading, text, _ = strings.Cut(text, "\n")
		heading += "\n\n"
	}
	server := "The machine also ran etcd, and kube-apiserver " + b.server + ", which reads lists from its cache."
	switch {
	case s.old:
		server = "The machine also ran etcd, and kube-apiserver " + b.old + ", which reads lists from etcd."
	case s.isSynthetic:
		server = "The measuring program itself was the API server, and had all lists in memory."
	}
	text = heading + b.conditions(server) + "\n" + strings.TrimSpace(text) + "\n"
	fmt.Println(text)
	if printOnly {
		return nil
	}
	return document.Write(page, s.name, strings.TrimSpace(text)+"\n")
}

// logf prints progress on stderr.
func logf(format string, args ...any) {
	fmt.Fprintln(os.Stderr, strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"))
}

// conditions describes the machine, the date and the versions of a measurement.
func (b *bench) conditions(server string) string {
	command := "go run -C lab/bench . " + strings.Join(os.Args[1:], " ")
	return fmt.Sprintf("Measured on %s at commit %s with `%s` and %s. The machine had %d cores (%s), and a load average of %s before the measurement. "+
		"%s A time or a size is the median of the repetitions, with the minimum and the maximum in brackets.\n",
		time.Now().UTC().Format(time.DateOnly), b.commit, strings.TrimSpace(command), runtime.Version(), runtime.NumCPU(), cpuModel(), b.load, server)
}

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, " \t:\n")
		}
	}
	return runtime.GOARCH
}

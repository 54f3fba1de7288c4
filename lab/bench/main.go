// Command bench measures the plugin beside kubectl on real API servers, and writes the results into lab/benchmarks.md.
// Each section is between two markers, and names the conditions of its run. Arguments: beginnings of section names.
//
//	make -f lab/Makefile bench
//	go run ./lab/bench audit
//	go run ./lab/bench -scale 0.1 -runs 1 audit
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
)

const page = "lab/benchmarks.md"

// bench is one run of the program.
type bench struct {
	runs     int
	scale    float64           // factor for the numbers of objects; the limits refer to 1
	dir      string            // for files of child processes
	measurer string            // path of the program that measures child processes (measure/main.go)
	paths    map[string]string // by words of a command line
}

func main() {
	b := &bench{}
	flag.IntVar(&b.runs, "runs", 5, "repetitions of every measurement")
	flag.Float64Var(&b.scale, "scale", 1, "factor for the numbers of objects; with another than 1, the sections are only printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, names []string) (err error) {
	if b.dir, err = os.MkdirTemp("", "genname-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.measurer = filepath.Join(b.dir, "measure")
	b.paths = map[string]string{"genname": filepath.Join(b.dir, "kubectl-genname"), "FILE": filepath.Join(b.dir, "input.yaml")}
	for program, source := range map[string]string{b.paths["genname"]: "./cmd/kubectl-genname", b.measurer: "./lab/bench/measure"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	for _, m := range measurements {
		chosen := len(names) == 0
		for _, name := range names {
			chosen = chosen || strings.HasPrefix(m.name, name)
		}
		if !chosen {
			continue
		}
		if err := b.write(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// write measures a section, prints it, and writes it into the page.
func (b *bench) write(ctx context.Context, m measurement) error {
	load := document.LoadAverage()
	results, err := b.measure(ctx, m)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("### %s\n\nMeasured on %s at commit %s with `%s` and %s. The machine had %d cores (%s), and a load average of %s "+
		"before the measurement. The machine also ran etcd, and kube-apiserver %s. "+
		"A time or a size is the median of the repetitions, with the minimum and the maximum in brackets.\n\n%s",
		m.title, time.Now().UTC().Format(time.DateOnly), document.Commit(), strings.TrimSpace("go run ./lab/bench "+strings.Join(os.Args[1:], " ")),
		runtime.Version(), runtime.NumCPU(), cpuModel(), load, m.version, m.report(results))
	fmt.Println(text)
	if b.scale != 1 {
		return nil
	}
	return document.Write(page, m.name, text)
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

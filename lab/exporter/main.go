// Command exporter runs the image of the exporter as in deploy/exporter, beside a real kube-apiserver
// and etcd with many ConfigMaps. It measures the exporter's memory and its scrapes, and with -write
// puts the results into a document.
//
//	go run ./lab/exporter -write lab/exporter/README.md
//
// It needs the image that deploy/exporter names ("make image").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/lab/crowd"
	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	prefixes  = 40
	memoryBar = 150 << 20
	scrapeBar = 100 * time.Millisecond
	scrapes   = 20
)

func main() {
	container := flag.String("container", "podman", "what runs the image: podman or docker")
	objects := flag.Int("objects", 1_000_000, "number of ConfigMaps")
	write := flag.String("write", "", "document to write the results into, between its markers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *container, *write, *objects)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run measures, prints the results, and writes them into the document. If results exceed a limit, run only prints them.
func run(ctx context.Context, container, write string, objects int) error {
	const section = "memory"
	if write != "" {
		if err := document.Check(write, section); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("Measured on %s at commit %s with kube-apiserver %s. The machine has %d cores. "+
		"Its load average was %s at the start.\n\n",
		time.Now().UTC().Format(time.DateOnly), document.Commit(), controlplane.ServerVersion, runtime.NumCPU(), document.LoadAverage()) +
		"| objects | prefixes | first count | peak of resident memory | heap in use | time of a scrape, median | " +
		"time of a scrape, slowest | bytes of a scrape |\n" +
		"|--:|--:|--:|--:|--:|--:|--:|--:|\n"
	var err error
	for _, n := range []int{objects / 10, objects} { // a tenth of the objects, and all of them
		err = errors.Join(err, onLab(ctx, container, func(l *lab) error {
			row, err := l.measure(ctx, crowd.Crowd{Name: "crowd", Namespaces: 1, Prefixes: prefixes, Names: n / prefixes})
			text += row
			return err
		}))
	}
	err = errors.Join(err, onLab(ctx, container, func(l *lab) error {
		result, err := l.growth(ctx, crowd.Crowd{Name: "tenant", Namespaces: 1, Prefixes: objects, Names: 1})
		text += result
		return err
	}))
	fmt.Print(text)
	if err != nil || write == "" {
		return err
	}
	return document.Write(write, section, text)
}

// lab is a control plane with the manifests of the exporter, and a container of its image.
type lab struct {
	*cluster
	container string // podman or docker
	exporter  *exporter
	dir       string // of the files of this run
}

// onLab runs a function on a new lab, and takes the lab down.
func onLab(ctx context.Context, container string, run func(*lab) error) (err error) {
	dir, err := os.MkdirTemp("", "genname-exporter-")
	if err != nil {
		return err
	}
	c, err := startCluster(ctx, dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	l := &lab{cluster: c, container: container, dir: dir}
	defer func() {
		err = errors.Join(err, l.exporter.remove(), c.Stop())
		if err != nil {
			err = fmt.Errorf("%w\nlogs are in %s and %s", err, dir, c.Dir)
			return
		}
		err = errors.Join(c.Remove(), os.RemoveAll(dir))
	}()
	if err := c.deploy(ctx); err != nil {
		return err
	}
	if l.exporter, err = newExporter(l); err != nil {
		return err
	}
	return run(l)
}

// measure returns the row of one population. measure fails if a limit is exceeded.
func (l *lab) measure(ctx context.Context, c crowd.Crowd) (string, error) {
	if err := c.Store(ctx, l.ControlPlane); err != nil {
		return "", err
	}
	if err := l.exporter.start(ctx); err != nil {
		return "", err
	}
	counted, err := l.exporter.waitReady(ctx)
	if err != nil {
		return "", err
	}
	took, text, err := l.scrapes(ctx)
	if err != nil {
		return "", err
	}
	heap, err := metric(text, "go_memstats_heap_inuse_bytes")
	peak, err2 := l.exporter.highWater(ctx)
	if err := errors.Join(err, err2, l.hasCounted(ctx, c.N()), l.exporter.stop(ctx)); err != nil {
		return "", err
	}
	median, slowest := took[len(took)/2], took[len(took)-1]
	row := fmt.Sprintf("| %s | %d | %.0f s | %d MiB | %d MiB | %.1f ms | %.1f ms | %s |\n",
		humanize.Grouped(c.N()), c.Prefixes, counted.Seconds(), peak>>20, int64(heap)>>20,
		milliseconds(median), milliseconds(slowest), humanize.Grouped(len(text)))
	if peak > memoryBar || median > scrapeBar {
		return row, fmt.Errorf("%d objects need %d MiB and %s per scrape, the limits are %d MiB and %s",
			c.N(), peak>>20, median, memoryBar>>20, scrapeBar)
	}
	return row, nil
}

// growth measures the exporter while a tenant creates the names of a crowd, and returns a sentence. growth fails if the
// exporter needs more memory than its limit, or stops.
func (l *lab) growth(ctx context.Context, c crowd.Crowd) (string, error) {
	before := crowd.Crowd{Name: "crowd", Namespaces: 1, Prefixes: prefixes, Names: 10} // so that the exporter watches ConfigMaps from the beginning
	if err := before.Store(ctx, l.ControlPlane); err != nil {
		return "", err
	}
	if err := l.exporter.start(ctx); err != nil {
		return "", err
	}
	if _, err := l.exporter.waitReady(ctx); err != nil {
		return "", err
	}
	began := time.Now()
	if err := c.Create(ctx, l.ControlPlane); err != nil {
		return "", err
	}
	created := time.Since(began)
	err := eventually(ctx, readyTimeout, func() error { return l.hasCounted(ctx, before.N()+c.N()) })
	counted := time.Since(began) - created
	peak, err2 := l.exporter.highWater(ctx)
	if err := errors.Join(err, err2, l.exporter.stop(ctx)); err != nil {
		return "", err
	}
	limit := l.exporter.spec.Resources.Limits.Memory().Value()
	if peak > limit {
		err = fmt.Errorf("%d new prefixes need %d MiB, and the limit is %d MiB", c.Prefixes, peak>>20, limit>>20)
	}
	return fmt.Sprintf("\nWhile the exporter ran, a tenant created %s ConfigMaps in %.0f s, each with its own prefix. "+
		"The exporter had counted all of them %.0f s later. Its peak of resident memory was %d MiB (limit %d MiB).\n",
		humanize.Grouped(c.N()), created.Seconds(), counted.Seconds(), peak>>20, limit>>20), err
}

// hasCounted returns an error unless the exporter has counted a number of ConfigMaps.
func (l *lab) hasCounted(ctx context.Context, n int) error {
	text, _, err := l.exporter.scrape(ctx)
	if err != nil {
		return err
	}
	names, err := metric(text, `genname_resource_names{group="",resource="configmaps"}`)
	if err == nil && int(names) != n {
		err = fmt.Errorf("the exporter has counted %.0f of %d ConfigMaps", names, n)
	}
	return err
}

// scrapes scrapes repeatedly. scrapes returns the sorted times, and the last exposition.
func (l *lab) scrapes(ctx context.Context) (took []time.Duration, text []byte, err error) {
	for range scrapes {
		var d time.Duration
		if text, d, err = l.exporter.scrape(ctx); err != nil {
			return nil, nil, err
		}
		took = append(took, d)
		_ = apistatus.Sleep(ctx, 200*time.Millisecond) // the next scrape fails if ctx is done
	}
	slices.Sort(took)
	return took, text, nil
}

// metric returns the value of a series in the text of a scrape.
func metric(text []byte, name string) (value float64, err error) {
	for line := range strings.Lines(string(text)) {
		if number, is := strings.CutPrefix(line, name+" "); is {
			_, err := fmt.Sscan(number, &value)
			return value, err
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func logf(format string, values ...any) { fmt.Fprintf(os.Stderr, format+"\n", values...) }

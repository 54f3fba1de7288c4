// Command exporter runs the image of the exporter as in deploy/exporter, beside a real
// kube-apiserver, etcd and Prometheus server. It carries out incidents, checks which alerts
// fire and when, measures, and with -write puts the results into a document.
//
//	go run ./lab/exporter -write lab/exporter/README.md incidents guide memory
//
// It needs bin/kubectl-genname, bin/prometheus, and the image that deploy/exporter names ("make
// image").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// settings are the flags.
type settings struct {
	container  string // podman or docker
	prometheus string
	crowd      int // names under each of the 300 prefixes
	objects    int // of the measurement of memory
	write      string
}

func main() {
	var s settings
	flag.StringVar(&s.container, "container", "podman", "what runs the image: podman or docker")
	flag.StringVar(&s.prometheus, "prometheus", "bin/prometheus", "the Prometheus server")
	flag.IntVar(&s.crowd, "crowd", 2000, "names under each of the 300 prefixes; 10,000 need 16 GiB of memory")
	flag.IntVar(&s.objects, "objects", 1_000_000, "objects under 40 prefixes, for the measurement of memory")
	flag.StringVar(&s.write, "write", "", "document to write the results into, between its markers")
	flag.Parse()
	if err := s.runAll(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// runAll carries out the parts in their order.
func (s settings) runAll(parts []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, part := range parts {
		if err := s.run(ctx, part); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// run carries out one part.
func (s settings) run(ctx context.Context, part string) error {
	switch part {
	case "incidents":
		return s.section(part, func() (string, error) { return incidents(ctx, s) })
	case "memory":
		return s.section(part, func() (string, error) { return memory(ctx, s) })
	case "guide":
		return guide(ctx, s)
	}
	return fmt.Errorf("there is no part %q, only incidents, guide and memory", part)
}

// lab is a control plane with the manifests of the exporter, and a container of its image.
type lab struct {
	settings
	*cluster
	exporter *exporter
	dir      string // of the files of this run
}

// onLab runs a function on a new lab, and takes the lab down.
func onLab(ctx context.Context, s settings, run func(*lab) error) (err error) {
	dir, err := os.MkdirTemp("", "genname-exporter-")
	if err != nil {
		return err
	}
	c, err := startCluster(ctx, dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	l := &lab{settings: s, cluster: c, dir: dir}
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
	l.exporter, err = newExporter(l)
	if err != nil {
		return err
	}
	return run(l)
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

func logf(format string, values ...any) { fmt.Fprintf(os.Stderr, format+"\n", values...) }

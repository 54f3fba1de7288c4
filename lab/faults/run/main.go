// Command run carries out a fault-injection test on its own control plane, and prints the result. With -write it also
// writes the result into a document. The seed and the other flags reproduce a failed test.
//
//	go run ./lab/faults/run -seed 1 -only keyed -objects 500
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/lab/faults"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

func main() {
	s := faults.Full()
	s.Log = os.Stderr
	flag.StringVar(&s.Plugin, "plugin", "bin/kubectl-genname", "the plugin's binary")
	flag.Uint64Var(&s.Seed, "seed", s.Seed, "decides which requests meet which fault")
	objects := flag.Int("objects", s.Objects(), "objects to create")
	flag.IntVar(&s.Count, "count", s.Count, "how many of them are made of one document of a keyed run")
	flag.IntVar(&s.Concurrency, "concurrency", s.Concurrency, "creates that the plugin has in flight")
	flag.Float64Var(&s.Rate, "rate", s.Rate, "share of the requests that meet a fault")
	flag.IntVar(&s.ClientKills, "client-kills", s.ClientKills, "how often the client is killed")
	flag.IntVar(&s.ServerKills, "server-kills", s.ServerKills, "how often kube-apiserver is killed, or something of a replicated control plane fails")
	flag.DurationVar(&s.RequestTimeout, "request-timeout", s.RequestTimeout, "deadline of the clients' requests")
	flag.BoolVar(&s.Replicated, "replicated", false, "three members of etcd and two kube-apiservers behind a balancer")
	byRequest := flag.Bool("by-request", false, "the balancer spreads requests, not connections")
	http1 := flag.Bool("http1", false, "clients speak HTTP/1.1 instead of HTTP/2")
	flag.DurationVar(&s.Follows, "follow", 0, "have audit --watch follow objects that are created and deleted for so long, instead of creating objects")
	only := flag.String("only", "", "clients, separated by commas: keyed, keyless, server, kubectl, fixed, apply (default all)")
	write := flag.String("write", "", "document to write the result into, between its markers")
	flag.Parse()
	if *http1 {
		s.Protocol = faultproxy.HTTP1
	}
	if *byRequest {
		s.Spread = faultproxy.ByRequest
	}
	s.Documents = *objects / s.Count
	if err := run(s, *only, *write); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(s faults.Settings, only, write string) (err error) {
	if write != "" {
		if err := document.Check(write, s.SectionName()); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.Plugin, err = filepath.Abs(s.Plugin); err != nil {
		return err
	}
	var options []controlplane.Option
	if s.Replicated {
		options = append(options, controlplane.Replicated)
	}
	cp, err := controlplane.Start(ctx, os.Stderr, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	s.Kubectl = cp.Binaries.Kubectl
	if s.Follows > 0 {
		return follow(ctx, cp, s, write)
	}
	var results []*faults.Result
	var broken error // promises
	for _, c := range faults.Clients {
		if only != "" && !strings.Contains(","+only+",", ","+c.Name+",") {
			continue
		}
		r, err := c.Run(ctx, cp, s)
		if err != nil {
			return err
		}
		results = append(results, r)
		fmt.Fprintln(os.Stderr, r)
		broken = errors.Join(broken, c.Check(r))
	}
	text := faults.Section(s, results)
	fmt.Print(document.Section(s.SectionName(), text))
	if write != "" && broken == nil {
		return document.Write(write, s.SectionName(), text)
	}
	return broken
}

// follow runs audit --watch while objects of all types are created and deleted.
func follow(ctx context.Context, cp *controlplane.ControlPlane, s faults.Settings, write string) error {
	f, err := faults.Follow(ctx, cp, s)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, f)
	text := f.Section(s)
	fmt.Print(document.Section(s.SectionName(), text))
	if write == "" {
		return nil
	}
	return document.Write(write, s.SectionName(), text)
}

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
	flag.Uint64Var(&s.Seed, "seed", s.Seed, "decides which requests meet which fault")
	objects := flag.Int("objects", s.Objects(), "objects to create")
	flag.BoolVar(&s.Replicated, "replicated", false, "three members of etcd and two kube-apiservers behind a balancer")
	http1 := flag.Bool("http1", false, "clients speak HTTP/1.1 instead of HTTP/2")
	flag.DurationVar(&s.Follows, "follow", 0, "have audit --watch follow objects that are created and deleted for so long, instead of creating objects")
	only := flag.String("only", "", "clients, separated by commas: keyed, keyless, wrap, server, kubectl, fixed, apply (default all)")
	write := flag.String("write", "", "document to write the result into, between its markers")
	flag.Parse()
	if *http1 {
		s.Protocol = faultproxy.HTTP1
	}
	if s.Replicated {
		s.ServerKills = 7 // each failure once
	}
	s.Documents = *objects / s.Count
	if err := run(s, *only, *write); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(s faults.Settings, only, write string) (err error) {
	section := s.SectionName()
	if only != "" {
		section += ", only " + only
	}
	if write != "" {
		if err := document.Check(write, section); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.Plugin, err = filepath.Abs("bin/kubectl-genname"); err != nil {
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
	text, broken, err := measure(ctx, cp, s, only)
	if err != nil {
		return err
	}
	fmt.Print(document.Section(section, text))
	if write != "" && broken == nil {
		return document.Write(write, section, text)
	}
	return broken
}

// measure returns the results as a text, and the broken promises.
func measure(ctx context.Context, cp *controlplane.ControlPlane, s faults.Settings, only string) (text string, broken, err error) {
	if s.Follows > 0 {
		f, err := faults.Follow(ctx, cp, s)
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintln(os.Stderr, f)
		return f.Section(s), nil, nil
	}
	var results []*faults.Result
	for _, c := range faults.Clients {
		if only != "" && !strings.Contains(","+only+",", ","+c.Name+",") {
			continue
		}
		r, err := c.Run(ctx, cp, s)
		if err != nil {
			return "", nil, err
		}
		results = append(results, r)
		fmt.Fprintln(os.Stderr, r)
		broken = errors.Join(broken, c.Check(r))
	}
	return faults.Section(s, results), broken, nil
}

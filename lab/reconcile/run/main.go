// Command run runs every way in every scenario on its own control plane, and prints the results. With -write it also
// writes them into a page.
//
//	go run -C lab/reconcile ./run -only once -in all -purposes 200 -seed 7
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/lab/reconcile"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

func main() {
	reconcile.Process()
	s := reconcile.Settings{Log: os.Stderr}
	flag.Uint64Var(&s.Seed, "seed", 1, "decides which requests have faults, and which")
	flag.IntVar(&s.Purposes, "purposes", 1000, "objects that the owner should have")
	version := flag.String("version", controlplane.ServerVersion, "kube-apiserver's")
	only := flag.String("only", "", "ways, separated by commas (default all)")
	in := flag.String("in", "", "scenarios, separated by commas (default all)")
	write := flag.String("write", "", "page that gets the results")
	flag.Parse()
	if err := run(s, *version, *only, *in, *write); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(s reconcile.Settings, version, only, in, write string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cp, err := controlplane.Start(ctx, os.Stderr, controlplane.Version(version))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop(), cp.Remove()) }()
	var results []*reconcile.Result
	var broken error
	for _, way := range reconcile.Ways {
		for _, scenario := range reconcile.Scenarios {
			if !chosen(only, way.Name) || !chosen(in, scenario.Name) {
				continue
			}
			r, err := reconcile.Run(ctx, cp, s, way, scenario)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, r)
			results = append(results, r)
			broken = errors.Join(broken, r.Check())
		}
	}
	text := reconcile.Section(s, version, results)
	fmt.Print(document.Section(reconcile.SectionName, text))
	if write != "" && broken == nil {
		return document.Write(write, reconcile.SectionName, text)
	}
	return broken
}

// chosen reports whether name is in the list, or the list is empty.
func chosen(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

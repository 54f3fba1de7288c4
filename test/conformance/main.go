// Command conformance runs a program that creates objects, in histories of faults, and
// compares the objects on the server with the program's claims. docs/spec says what a
// program has to do. Usage:
//
//	conformance [-kubeconfig FILE] PROGRAM [ARG...]
//
// It calls PROGRAM ARG... KUBECONFIG MANIFEST for each run. The key and the secret are in
// GENNAME_IDEMPOTENCY_KEY and GENNAME_IDEMPOTENCY_SECRET. The last line of stdout is the
// claim: {"outcome":"created|exists|failed|unknown","name":"…"}. The API server is in
// memory, or that of FILE. A proxy on a loopback address injects the same faults before both.
// On the server of FILE, the run creates and deletes ConfigMaps in the namespace default.
//
//	conformance -page PAGE
//
// It writes the tables of docs/concepts/lost-responses.md, with published clients, on the server of
// $KUBECONFIG. It runs in test/conformance.
//
// The exit code is 1 if a claim is not true, or if an object exists twice.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "run on the API server of this file, and not in memory")
	page := flag.String("page", "", "measure published clients, and write the tables of this page")
	flag.Parse()
	ok, err := start(*kubeconfig, *page, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func start(kubeconfig, page string, program []string) (ok bool, err error) {
	if page != "" {
		return true, writePage(page)
	}
	if len(program) == 0 {
		return false, errors.New("name a program: conformance [-kubeconfig FILE] PROGRAM [ARG...]")
	}
	open := opener(inMemory)
	if kubeconfig != "" {
		if open, err = on(kubeconfig); err != nil {
			return false, err
		}
	}
	return conformance(os.Stdout, program, cases(), open)
}

// conformance runs all cases, several at once, and prints a table.
func conformance(out io.Writer, program []string, all []testCase, open opener) (ok bool, err error) {
	results := make([]result, len(all))
	places := make(chan struct{}, 8) // programs mostly wait
	var group sync.WaitGroup
	for i, c := range all {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[i] = c.play(program, open)
		})
	}
	group.Wait()
	return show(out, results)
}

func show(out io.Writer, results []result) (ok bool, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "CASE\tCLAIMED\tPOSTS\tOBJECTS\tTIME\tRESULT")
	failures := 0
	for _, r := range results {
		verdict := "ok"
		if len(r.problems) > 0 {
			verdict = strings.Join(r.problems, "; ")
			failures++
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.0fs\t%s\n", r.name, strings.Join(r.claims, ", "), r.posts, r.objects,
			r.took.Seconds(), verdict)
	}
	err = table.Flush()
	fmt.Fprintf(out, "%d of %d cases passed\n", len(results)-failures, len(results))
	return failures == 0, err
}

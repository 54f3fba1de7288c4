// Command conformance runs a program that creates objects, in histories of faults, and
// compares the objects on the server with the program's claims. docs/spec says what a
// program has to do. Usage:
//
//	conformance PROGRAM [ARG...]
//
// It calls PROGRAM ARG... KUBECONFIG MANIFEST for each run. The key and the secret are in
// GENNAME_IDEMPOTENCY_KEY and GENNAME_IDEMPOTENCY_SECRET. The last line of stdout is the
// claim: {"outcome":"created|exists|failed|unknown","name":"…"}. The API server is in
// memory and listens on a loopback address.
//
// conformance -page PAGE writes the tables of docs/concepts/lost-responses.md, with published
// clients. It runs in test/conformance.
//
// The exit code is 1 if a claim is not true, or if an object exists twice.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "error: name a program: conformance PROGRAM [ARG...]")
		os.Exit(2)
	}
	if os.Args[1] == "-page" && len(os.Args) == 3 {
		if err := writePage(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		return
	}
	ok, err := conformance(os.Stdout, os.Args[1:], cases())
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// conformance runs all cases, several at once, and prints a table.
func conformance(out io.Writer, program []string, all []testCase) (ok bool, err error) {
	results := make([]result, len(all))
	places := make(chan struct{}, 8) // programs mostly wait
	var group sync.WaitGroup
	for i, c := range all {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[i] = c.play(program)
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

// Command measure runs the experiment on real servers and writes lab/experiment/README.md. It writes the results
// and the numbers under each prefix into lab/experiment/measured/. "make -f lab/Makefile measure" calls it and draws the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/kubectl-genname/kubectl-genname/lab/experiment"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

var (
	relativeError = flag.Float64("error", 0.01, "relative standard error of the mean number of creates to the first failure")
	rateCreates   = flag.Int("creates", 5000, "creates per population, for the failure rate")
	dir           = flag.String("dir", "lab/experiment", "directory to write to")
)

// populations are the numbers of existing names at which the failure rate is measured, by the attempts of the
// server. At other numbers, the rate is too small or too large to distinguish the numbers of attempts.
var populations = map[int][]int{
	1: {36, 146, 292, 437, 583, 692},
	8: {365, 437, 510, 583, 620, 656, 692, 714},
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	r := &record{}
	for clientAttempts := 1; clientAttempts <= 8; clientAttempts++ {
		if err := r.measure(ctx, 1, clientAttempts); err != nil {
			return err
		}
	}
	if err := r.measure(ctx, 8, 1); err != nil {
		return err
	}
	r.Names = experiment.Names
	r.Conditions = experiment.Conditions{
		Date:       start.UTC().Format(time.DateOnly),
		Kubernetes: controlplane.ServerVersion,
		Go:         runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:       runtime.NumCPU(),
		Minutes:    int(time.Since(start).Minutes() + 0.5),
	}
	r.Conclude()
	return experiment.Write(*dir, r.Results, r.seen)
}

// record contains the measurements so far.
type record struct {
	experiment.Results
	seen []experiment.Seen
}

// measure starts a server and measures the number of creates to the first failure. With one client attempt, it also
// measures the server's attempts and the failure rates.
func (r *record) measure(ctx context.Context, attempts, clientAttempts int) (err error) {
	server, err := experiment.Start(ctx, os.Stderr, attempts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if clientAttempts == 1 {
		if err := r.attempts(ctx, server, attempts); err != nil {
			return err
		}
		if err := r.rates(ctx, server, attempts); err != nil {
			return err
		}
	}
	prefixes, err := experiment.Prefixes(attempts*clientAttempts, *relativeError)
	if err != nil {
		return err
	}
	seen, err := server.FirstFailures(ctx, prefixes, clientAttempts)
	if err != nil {
		return err
	}
	f, err := experiment.NewFirstFailure(attempts, clientAttempts, seen)
	if err != nil {
		return err
	}
	r.FirstFailures = append(r.FirstFailures, f)
	r.seen = append(r.seen, experiment.Seen{ServerAttempts: attempts, ClientAttempts: clientAttempts, Creates: seen})
	fmt.Fprintf(os.Stderr, "%d × %d attempts, %d prefixes: %.2f creates to the first failure, expected %.2f (z %+.2f)\n",
		attempts, clientAttempts, prefixes, f.Mean, f.Expected, f.Z)
	return nil
}

func (r *record) attempts(ctx context.Context, server *experiment.Server, attempts int) error {
	measured, err := server.Attempts(ctx)
	if err != nil {
		return err
	}
	r.Attempts = append(r.Attempts, experiment.Attempts{Expected: attempts, Measured: measured})
	fmt.Fprintf(os.Stderr, "%d attempts per create, expected %d\n", measured, attempts)
	return nil
}

func (r *record) rates(ctx context.Context, server *experiment.Server, attempts int) error {
	const prefixes = 10
	each := (*rateCreates + prefixes - 1) / prefixes
	failures, err := server.Failures(ctx, populations[attempts], prefixes, each)
	if err != nil {
		return err
	}
	for i, existing := range populations[attempts] {
		rate, err := experiment.NewRate(attempts, existing, prefixes*each, failures[i])
		if err != nil {
			return err
		}
		r.Rates = append(r.Rates, rate)
		fmt.Fprintf(os.Stderr, "%d attempts per create, %d names: %.5f of the creates fail, expected %.5f (z %+.2f)\n",
			attempts, existing, rate.Measured, rate.Expected, rate.Z)
	}
	return nil
}

package audit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxLists is the largest number of lists in flight; each has a connection and a
// buffer.
const maxLists = 256

// config is a command line in the types that its parts take.
type config struct {
	arguments []string // TYPE[,TYPE...] or TYPE/PREFIX
	about     audit.Options
	scan      census.Scanner // how the server is read
	estimate  bool           // print an estimate of an audit's requests
	watch     bool
	// duration is how long an audit goes on, and interval how often it shows the counts.
	duration, interval time.Duration
	prints             printing
	// ignoreNotFound lets a gate pass that found no name.
	ignoreNotFound bool
	compare        string // the file of the earlier audit
}

// printing is how a report is printed.
type printing struct {
	flags      *output.Flags
	wide       bool
	noHeaders  bool
	namespaces bool // the table has a column for them
	topGiven   bool
	order      audit.Order
}

// forMachines reports whether the output is for programs.
func (p *printing) forMachines() bool { return p.flags.ForMachines() }

// named reports whether types were named.
func (c *config) named() bool { return len(c.arguments) > 0 }

// isPrefix reports whether an argument is TYPE/PREFIX.
func isPrefix(argument string) bool { return strings.Contains(argument, "/") }

// withPrefix returns effective prefixes, and that of another one, each once.
func withPrefix(prefixes []string, prefix string) []string {
	if prefix = names.EffectivePrefix(prefix); slices.Contains(prefixes, prefix) {
		return prefixes
	}
	return append(prefixes, prefix)
}

// complete sets the part of the config that depends on several flags or on a file.
func (f *flags) complete(args []string, namespace string, given func(flag string) bool) (err error) {
	about, prints := &f.about, &f.prints
	if f.scan.Selector, err = labels.Parse(about.LabelSelector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if about.Old, err = readOld(f.compare); err != nil {
		return err
	}
	prints.wide = prints.flags.Take(output.Wide)
	prints.topGiven = given("top")
	f.arguments, about.Namespace, about.TypesNamed, about.Order = args, namespace, len(args) > 0, f.sortBy.Value
	if f.watch && !given("sort-by") {
		about.Order = audit.ByRate
	}
	prints.order = about.Order
	if (given("prefix") || slices.ContainsFunc(args, isPrefix)) && !given("min-count") {
		about.MinCount = 1 // who names a prefix wants to see it
	}
	for _, prefix := range f.prefixes {
		about.Prefixes = withPrefix(about.Prefixes, prefix)
	}
	if f.failAbove.Given() {
		about.FailAbove = f.failAbove.Value
	}
	if given("fail-above-count") {
		about.FailAboveCount = &f.failAboveCount
	}
	if given("fail-above-growth") {
		about.FailAboveGrowth = &f.failAboveGrowth
	}
	return nil
}

// readOld reads the audit to compare with, if there is one.
func readOld(path string) (*v1alpha1.AuditReport, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--compare: %w", err)
	}
	old, err := v1alpha1.ReadAuditReport(data)
	if err != nil {
		return nil, fmt.Errorf("--compare: %s %w", path, err)
	}
	return old, nil
}

// validate returns an error for flags that are wrong, alone or together.
func (f *flags) validate(given func(flag string) bool) error {
	switch {
	case f.about.MinCount < 0:
		return fmt.Errorf("--min-count must be 0 or more, not %d", f.about.MinCount)
	case f.about.Top < 0:
		return fmt.Errorf("--top must be 0 or more, not %d", f.about.Top)
	case f.failAboveCount < 0:
		return fmt.Errorf("--fail-above-count must be 0 or more, not %d", f.failAboveCount)
	case math.IsNaN(f.failAboveGrowth) || math.IsInf(f.failAboveGrowth, 0):
		return fmt.Errorf("--fail-above-growth must be a number of names per day, not %g", f.failAboveGrowth)
	case given("fail-above-growth") && f.compare == "":
		return errors.New("--fail-above-growth needs --compare with an earlier audit")
	case f.scan.ChunkSize < 0:
		return fmt.Errorf("--chunk-size must be 0 or more, not %d", f.scan.ChunkSize)
	case f.scan.Concurrency < 0 || f.scan.Concurrency > maxLists:
		return fmt.Errorf("--concurrency must be from 0 to %d, not %d", maxLists, f.scan.Concurrency)
	case given("prefix") && (len(f.prefixes) == 0 || slices.Contains(f.prefixes, "")):
		return errors.New("--prefix must not be empty")
	}
	return errors.Join(f.validateReading(given), f.validateWatching(given))
}

// validateReading returns an error for flags about the load on the server.
func (f *flags) validateReading(given func(flag string) bool) error {
	gated := f.failAbove.Given() || given("fail-above-count") || given("fail-above-growth")
	switch {
	case f.scan.RetryTimeout <= 0:
		return fmt.Errorf("--retry-timeout must be positive, not %s", flagvalue.Duration(f.scan.RetryTimeout))
	case f.scan.Polite && f.scan.Concurrency > 1:
		return fmt.Errorf("--polite sends one request at a time, so --concurrency can't be %d", f.scan.Concurrency)
	case f.estimate && f.prints.flags.ForMachines():
		return errors.New("--estimate prints only a table and takes no --output")
	case f.estimate && (gated || f.compare != ""):
		return errors.New("--estimate doesn't count, so it takes neither --compare nor a gate")
	}
	return nil
}

// validateWatching returns an error for flags about --watch.
func (f *flags) validateWatching(given func(flag string) bool) error {
	order := f.sortBy.Value
	switch {
	case !f.watch && (given("duration") || given("interval")):
		return errors.New("--duration and --interval need --watch")
	case f.duration < 0:
		return fmt.Errorf("--duration must be 0 or more, not %s", flagvalue.Duration(f.duration))
	case f.interval <= 0:
		return fmt.Errorf("--interval must be positive, not %s", flagvalue.Duration(f.interval))
	case f.watch && f.estimate:
		return errors.New("--estimate doesn't count, so it can't be used with --watch")
	case f.watch && (order == audit.ByLast10m || order == audit.ByLast24h):
		return fmt.Errorf("--sort-by=%s counts objects of one audit, so it can't be used with --watch", order)
	}
	return nil
}

// validateArguments returns an error for arguments that are no types or prefixes.
func validateArguments(args []string, prefixesGiven bool) error {
	if !slices.ContainsFunc(args, isPrefix) {
		return nil
	}
	if prefixesGiven {
		return errors.New("--prefix and TYPE/PREFIX can't be used together")
	}
	for _, argument := range args {
		resource, prefix, ok := strings.Cut(argument, "/")
		switch {
		case !ok:
			return fmt.Errorf("%q is not TYPE/PREFIX, but another argument is. Name a prefix in all arguments, or "+
				"in none", argument)
		case resource == "" || prefix == "" || strings.Contains(resource, ",") || isPrefix(prefix):
			return fmt.Errorf("%q is not TYPE/PREFIX, like jobs/nightly-report-", argument)
		}
	}
	return nil
}

// scanner returns the scanner of an audit.
func (c *config) scanner(of *cluster.Cluster) *census.Scanner {
	scanner, about := c.scan, &c.about
	scanner.Config, scanner.Version = of.Config, of.ListsLike()
	scanner.Prefixes, scanner.MinCount = about.Prefixes, about.CountsFrom()
	for _, window := range audit.Recent {
		scanner.Since = append(scanner.Since, about.Began.Add(-window))
	}
	return &scanner
}

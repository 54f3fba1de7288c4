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
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// maxLists is the largest number of lists in flight; each has a connection and a
// buffer of 64 KiB.
const maxLists = 256

// config is a command line in the types that its parts take.
type config struct {
	arguments []string // TYPE[,TYPE...] or TYPE/PREFIX
	about     audit.Options
	lists     lists
	watch     watching
	prints    printing
	// ignoreNotFound lets a gate pass that found no name.
	ignoreNotFound bool
	compare        string // the file of the earlier audit
}

// lists is how the server is read.
type lists struct {
	selector     labels.Selector
	chunkSize    int64
	concurrency  int
	polite       bool
	retryTimeout time.Duration
	estimate     bool // print an estimate of an audit's requests
}

// watching is how long an audit goes on, and how often it shows the counts.
type watching struct {
	on                 bool
	duration, interval time.Duration
}

// printing is how a report is printed.
type printing struct {
	flags       *output.Flags
	wide        bool
	openMetrics bool
	noHeaders   bool
	namespaces  bool // the table has a column for them
	topGiven    bool
}

// forMachines reports whether the output is for programs.
func (p *printing) forMachines() bool { return p.openMetrics || p.flags.ForMachines() }

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

// config returns the config of valid flags.
func (f *flags) config(args []string, namespace string, given func(flag string) bool) (*config, error) {
	selector, err := labels.Parse(f.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	old, err := readOld(f.compare)
	if err != nil {
		return nil, err
	}
	c := &config{
		arguments: args, ignoreNotFound: f.ignoreNotFound, compare: f.compare,
		lists: lists{
			selector: selector, chunkSize: f.chunkSize, concurrency: f.concurrency,
			polite: f.polite, retryTimeout: time.Duration(f.retryTimeout), estimate: f.estimate,
		},
		watch: watching{f.watch, time.Duration(f.duration), time.Duration(f.interval)},
		prints: printing{
			flags: f.print, wide: f.print.Take(output.Wide), openMetrics: f.print.Take(openMetricsFormat),
			noHeaders: f.noHeaders, namespaces: f.allNamespaces, topGiven: given("top"),
		},
		about: audit.Options{
			Namespace: namespace, LabelSelector: f.selector, TypesNamed: len(args) > 0, AllowUnlisted: f.allowUnlisted,
			Windows: audit.Windows, Forecast: time.Duration(f.forecast), Old: old,
			MinCount: f.minCount, Top: f.top, Order: f.sortBy.Value,
		},
	}
	for _, prefix := range f.prefixes {
		c.about.Prefixes = withPrefix(c.about.Prefixes, prefix)
	}
	if (given("prefix") || slices.ContainsFunc(args, isPrefix)) && !given("min-count") {
		c.about.MinCount = 1 // who names a prefix wants to see it
	}
	if f.watch && !given("sort-by") {
		c.about.Order = audit.ByRate
	}
	if f.window > 0 {
		c.about.Windows = []time.Duration{time.Duration(f.window)}
	}
	f.addGates(&c.about, given)
	return c, nil
}

// addGates sets the limits that were given.
func (f *flags) addGates(about *audit.Options, given func(flag string) bool) {
	if f.failAbove.Given() {
		about.FailAbove = f.failAbove.Value
	}
	if given("fail-above-count") {
		about.FailAboveCount = &f.failAboveCount
	}
	if given("fail-above-growth") {
		about.FailAboveGrowth = &f.failAboveGrowth
	}
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
		return nil, fmt.Errorf(messages.BadFile, path, err)
	}
	return old, nil
}

// validate returns an error for flags that are wrong, alone or together.
func (f *flags) validate(given func(flag string) bool) error {
	switch {
	case f.minCount < 0:
		return fmt.Errorf(messages.NegativeNumber, "--min-count", f.minCount)
	case f.top < 0:
		return fmt.Errorf(messages.NegativeNumber, "--top", f.top)
	case f.window < 0:
		return fmt.Errorf(messages.NegativeDuration, "--window", f.window.String())
	case f.forecast < 0:
		return fmt.Errorf(messages.NegativeDuration, "--forecast", f.forecast.String())
	case f.failAboveCount < 0:
		return fmt.Errorf(messages.NegativeNumber, "--fail-above-count", f.failAboveCount)
	case math.IsNaN(f.failAboveGrowth) || math.IsInf(f.failAboveGrowth, 0):
		return fmt.Errorf(messages.BadGrowth, f.failAboveGrowth)
	case given("fail-above-growth") && f.compare == "":
		return errors.New(messages.GrowthNeedsCompare)
	case f.chunkSize < 0:
		return fmt.Errorf(messages.NegativeNumber, "--chunk-size", f.chunkSize)
	case f.concurrency < 0 || f.concurrency > maxLists:
		return fmt.Errorf(messages.BadConcurrency, maxLists, f.concurrency)
	case given("prefix") && (len(f.prefixes) == 0 || slices.Contains(f.prefixes, "")):
		return errors.New(messages.EmptyPrefix)
	}
	return errors.Join(f.validateReading(given), f.validateWatching(given))
}

// validateReading returns an error for flags about the load on the server.
func (f *flags) validateReading(given func(flag string) bool) error {
	gated := f.failAbove.Given() || given("fail-above-count") || given("fail-above-growth")
	switch {
	case f.retryTimeout <= 0:
		return fmt.Errorf(messages.BadRetryTimeout, f.retryTimeout.String())
	case f.polite && f.concurrency > 1:
		return fmt.Errorf(messages.PoliteConcurrency, f.concurrency)
	case f.estimate && f.print.ForMachines():
		return errors.New(messages.EstimateOutput)
	case f.estimate && (gated || f.compare != ""):
		return errors.New(messages.EstimateGate)
	}
	return nil
}

// validateWatching returns an error for flags about --watch.
func (f *flags) validateWatching(given func(flag string) bool) error {
	order := f.sortBy.Value
	switch {
	case !f.watch && (given("duration") || given("interval")):
		return errors.New(messages.WatchFlagsAlone)
	case f.duration < 0:
		return fmt.Errorf(messages.NegativeDuration, "--duration", f.duration.String())
	case f.interval <= 0:
		return fmt.Errorf(messages.BadInterval, f.interval.String())
	case f.watch && f.print.Take(openMetricsFormat):
		return errors.New(messages.OpenMetricsWatch)
	case f.watch && f.estimate:
		return errors.New(messages.EstimateWatch)
	case f.watch && (order == audit.ByLast10m || order == audit.ByLast24h):
		return fmt.Errorf(messages.SortByWatch, order)
	}
	return nil
}

// validateArguments returns an error for arguments that are no types or prefixes.
func validateArguments(args []string, prefixesGiven bool) error {
	if !slices.ContainsFunc(args, isPrefix) {
		return nil
	}
	if prefixesGiven {
		return errors.New(messages.PrefixTwice)
	}
	for _, argument := range args {
		resource, prefix, ok := strings.Cut(argument, "/")
		switch {
		case !ok:
			return fmt.Errorf(messages.MixedArguments, argument)
		case resource == "" || prefix == "" || strings.Contains(resource, ",") || isPrefix(prefix):
			return fmt.Errorf(messages.BadArgument, argument)
		}
	}
	return nil
}

// scanner returns the scanner of an audit.
func (l *lists) scanner(c *cluster.Cluster, about *audit.Options) *census.Scanner {
	scanner := &census.Scanner{
		Config: c.Config, Version: c.ListsLike(),
		ChunkSize: l.chunkSize, Concurrency: l.concurrency, Polite: l.polite, RetryTimeout: l.retryTimeout,
		Selector: l.selector, Prefixes: about.Prefixes, MinCount: about.CountsFrom(),
	}
	if !about.Gated() { // only a gate needs the creators of hidden prefixes, for their attempts
		scanner.CreatorsFrom = about.MinCount
	}
	for _, window := range about.Recent() {
		scanner.Since = append(scanner.Since, about.Began.Add(-window))
	}
	return scanner
}

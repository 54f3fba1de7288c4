package audit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// named reports whether the user named types.
func (o *options) named() bool { return len(o.arguments) > 0 }

// isPrefix reports whether an argument is TYPE/PREFIX.
func isPrefix(argument string) bool { return strings.Contains(argument, "/") }

// withPrefix adds a prefix to a list, unless the list has it. A long prefix is added twice: as the effective prefix of
// a generateName, and as a stem, which is not truncated.
func withPrefix(prefixes []string, prefix string) []string {
	for _, prefix := range []string{names.EffectivePrefix(prefix), prefix} {
		if !slices.Contains(prefixes, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes
}

// readOld reads the audit of --compare, or returns nil.
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

// Validate returns an error for flags and arguments that are wrong, alone or together.
func (o *options) Validate() error {
	switch {
	case o.config.MinCount < 0:
		return fmt.Errorf("--min-count must be 0 or more, not %d", o.config.MinCount)
	case o.config.Top < 0:
		return fmt.Errorf("--top must be 0 or more, not %d", o.config.Top)
	case o.failAboveCount < 0:
		return fmt.Errorf("--fail-above-count must be 0 or more, not %d", o.failAboveCount)
	case math.IsNaN(o.failAboveGrowth) || math.IsInf(o.failAboveGrowth, 0):
		return fmt.Errorf("--fail-above-growth must be a number of names per day, not %g", o.failAboveGrowth)
	case o.given("fail-above-growth") && o.compare == "":
		return errors.New("--fail-above-growth needs --compare with an earlier audit")
	case o.lists.ChunkSize < 0:
		return fmt.Errorf("--chunk-size must be 0 or more, not %d", o.lists.ChunkSize)
	case o.lists.Concurrency < 0 || o.lists.Concurrency > maxLists:
		return fmt.Errorf("--concurrency must be from 0 to %d, not %d", maxLists, o.lists.Concurrency)
	case o.lists.Polite && o.lists.Concurrency > 1:
		return fmt.Errorf("--polite sends one request at a time, so --concurrency can't be %d", o.lists.Concurrency)
	case o.given("prefix") && (len(o.prefixes) == 0 || slices.Contains(o.prefixes, "")):
		return errors.New("--prefix must not be empty")
	}
	return cmp.Or(o.scope.Validate(), o.validateWatching(), o.validateArguments())
}

// validateWatching returns an error for flags about --watch.
func (o *options) validateWatching() error {
	order := o.sortBy.Value
	switch {
	case !o.watch && (o.given("duration") || o.given("interval")):
		return errors.New("--duration and --interval need --watch")
	case o.duration < 0:
		return fmt.Errorf("--duration must be 0 or more, not %s", flagvalue.Duration(o.duration))
	case o.interval <= 0:
		return fmt.Errorf("--interval must be positive, not %s", flagvalue.Duration(o.interval))
	case o.watch && (order == audit.ByLast10m || order == audit.ByLast24h):
		return fmt.Errorf("--sort-by=%s counts objects of one audit, so it can't be used with --watch", order)
	}
	return nil
}

// validateArguments returns an error for arguments that are no types or prefixes.
func (o *options) validateArguments() error {
	if !slices.ContainsFunc(o.arguments, isPrefix) {
		return nil
	}
	if o.given("prefix") {
		return errors.New("--prefix and TYPE/PREFIX can't be used together")
	}
	for _, argument := range o.arguments {
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

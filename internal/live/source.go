package live

import (
	"context"
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

const (
	// listsAtOnce limits the lists that are read at the same time after the first count.
	listsAtOnce = 2
	// A watch lasts from five to ten minutes, as the watches of client-go's reflectors do.
	leastWatch, mostWatch = 5 * time.Minute, 10 * time.Minute
	// noRetries is the time limit for retries of a request that must not be retried.
	noRetries = time.Millisecond
)

// scannerFor returns a scanner that calls listed with each list.
func (e *Engine) scannerFor(listed func(census.Listed)) *census.Scanner {
	scanner := e.Scanner
	scanner.Listed = listed
	return &scanner
}

func newListing(l census.Listed, began time.Time) *listing {
	version, _ := strconv.ParseUint(l.ResourceVersion, 10, 64)
	return &listing{began: began, version: version, unsteady: l.ResourceVersion == "", objects: l.Objects}
}

// list lists the type of a store, when fewer than listsAtOnce lists are in progress. If a part can't be read, the
// listing has only its duration.
func (e *Engine) list(ctx context.Context, to *store) (list *listing, skipped []census.Skipped) {
	select {
	case e.lists <- struct{}{}:
		defer func() { <-e.lists }()
	case <-ctx.Done():
		return &listing{}, []census.Skipped{skip(to.resource, census.Interrupted, ctx.Err())}
	}
	began, at := time.Now(), e.clock.now()
	to.beginSweep()
	scanner := e.scannerFor(func(l census.Listed) { list = newListing(l, at) })
	part, objects := &listing{}, int64(0)
	scanner.Progress = func(p census.Progress) {
		if p.Objects > objects {
			part.took, objects = time.Since(began), p.Objects
		}
	}
	begin := func(census.Resource) census.Visitor { return &visitor{store: to} }
	summary, err := scanner.Visit(ctx, []census.Resource{to.resource}, e.Namespace, e.asked(), begin)
	e.requests.Add(summary.Requests)
	switch {
	case err != nil:
		return part, []census.Skipped{skip(to.resource, census.Failed, err)}
	case len(summary.Skipped) > 0:
		return part, summary.Skipped
	}
	if list.took = time.Since(began); to.isStale() {
		return list, []census.Skipped{skip(to.resource, census.Failed, errStale)}
	}
	return list, nil
}

// asked selects the parts of objects that the engine needs.
func (e *Engine) asked() decode.Asked { return decode.Asked{NoLabels: e.rules.Selector == nil} }

// numbers requests the numbers of objects of types. numbers retries for the time patience. numbers also returns the
// types without a response.
func (e *Engine) numbers(
	ctx context.Context, types []census.Resource, patience time.Duration,
) ([]census.Estimate, []census.Skipped) {
	if len(types) == 0 {
		return nil, nil // without making a client
	}
	scanner := e.Scanner
	scanner.Progress, scanner.RetryTimeout = nil, patience
	estimates, skipped, _ := scanner.Estimate(ctx, types, e.Namespace) // Run has validated the configuration
	e.requests.Add(int64(len(types)))
	return estimates, skipped
}

// open opens a watch of a type, from a resourceVersion on.
func (e *Engine) open(ctx context.Context, r census.Resource, from uint64) (io.ReadCloser, error) {
	namespace := ""
	if r.Namespaced {
		namespace = e.Namespace
	}
	return e.watcher.Open(ctx, r, namespace, formatVersion(from), leastWatch+rand.N(mostWatch-leastWatch))
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }

// skip returns a type that is skipped because of err.
func skip(r census.Resource, reason census.Reason, err error) census.Skipped {
	return census.Skipped{Group: r.Group, Resource: r.Resource, Reason: reason, Message: err.Error()}
}

func groupResource(s census.Skipped) schema.GroupResource {
	return schema.GroupResource{Group: s.Group, Resource: s.Resource}
}

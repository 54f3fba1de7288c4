package live

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
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
	// noRetries is a retry timeout that is too short for a retry.
	noRetries = time.Millisecond
)

// source sends all requests of an engine, and owns their shared limits.
type source struct {
	scanner   census.Scanner
	watcher   *census.Watcher
	namespace string
	options   decode.Options // parts of objects that the engine needs
	clock     *clock
	lists     chan struct{} // has an element for each list in progress
	requests  *atomic.Int64 // number of requests for lists and numbers
	// versions has the version in which a type was listed, by its GroupResource. It isn't the preferred
	// version while the type's conversion webhook fails.
	versions sync.Map
}

func newSource(
	scanner census.Scanner, namespace string, clock *clock, requests *atomic.Int64,
) (*source, error) {
	scanner.ShareLimits()
	watcher, err := census.NewWatcher(scanner.Config)
	selects := scanner.Selector != nil && !scanner.Selector.Empty()
	return &source{
		scanner: scanner, watcher: watcher, namespace: namespace, clock: clock, requests: requests,
		options: decode.Options{NoLabels: !selects}, lists: make(chan struct{}, listsAtOnce),
	}, err
}

// visit passes the objects of types to visitors. scanner is a copy of the source's scanner.
func (s *source) visit(
	ctx context.Context, types []census.Resource, scanner census.Scanner, visitors func(census.Resource) census.Visitor,
) ([]census.Skipped, error) {
	summary, err := scanner.Visit(ctx, s.served(types), s.namespace, s.options, visitors)
	s.requests.Add(summary.Requests)
	return summary.Skipped, err
}

func (s *source) served(types []census.Resource) []census.Resource {
	types = slices.Clone(types)
	for i := range types {
		if version, known := s.versions.Load(types[i].GroupResource()); known {
			types[i].Version = version.(string)
		}
	}
	return types
}

func (s *source) newListing(l census.Listed) *listing {
	version, _ := strconv.ParseUint(l.ResourceVersion, 10, 64)
	began := s.clock.now().Add(-time.Since(l.Began))
	s.versions.Store(l.Resource.GroupResource(), l.Resource.Version)
	return &listing{began: began, version: version, unsteady: l.Inconsistent, objects: l.Objects}
}

// list lists a type into a store, when fewer than listsAtOnce lists are in progress. If a part can't be read, the
// listing has only its duration.
func (s *source) list(ctx context.Context, r census.Resource, to *store) (list *listing, skipped []census.Skipped) {
	select {
	case s.lists <- struct{}{}:
		defer func() { <-s.lists }()
	case <-ctx.Done():
		return &listing{}, []census.Skipped{skip(r, census.Interrupted, ctx.Err())}
	}
	began := time.Now()
	to.do((*counts).beginSweep)
	scanner, part, objects := s.scanner, &listing{}, int64(0)
	scanner.Listed = func(l census.Listed) { list = s.newListing(l) }
	scanner.Progress = func(p census.Progress) {
		if p.Objects > objects {
			part.took, objects = time.Since(began), p.Objects
		}
	}
	newVisitor := func(census.Resource) census.Visitor { return &visitor{store: to} }
	skipped, err := s.visit(ctx, []census.Resource{r}, scanner, newVisitor)
	switch {
	case err != nil:
		return part, []census.Skipped{skip(r, census.Failed, err)}
	case len(skipped) > 0:
		s.versions.Delete(r.GroupResource())
		return part, skipped
	}
	if list.took = time.Since(began); get(to, (*counts).isStale) {
		return list, []census.Skipped{skip(r, census.Failed, errStale)}
	}
	return list, nil
}

// numbers requests the numbers of objects of types. numbers retries for retryTimeout. numbers also returns the
// types without a response.
func (s *source) numbers(
	ctx context.Context, types []census.Resource, retryTimeout time.Duration,
) ([]census.Size, []census.Skipped) {
	if len(types) == 0 {
		return nil, nil // without making a client
	}
	scanner := s.scanner
	scanner.Progress, scanner.RetryTimeout = nil, retryTimeout
	// There is no error, because newSource has validated the configuration.
	sizes, skipped, _ := scanner.Sizes(ctx, s.served(types), s.namespace)
	s.requests.Add(int64(len(types)))
	for _, why := range skipped {
		if why.Reason == census.NotFound { // the server might have the type in another version now
			s.versions.Delete(groupResource(why))
		}
	}
	return sizes, skipped
}

// open opens a watch of a type, from a resourceVersion on.
func (s *source) open(ctx context.Context, r census.Resource, from uint64) (io.ReadCloser, error) {
	namespace := ""
	if r.Namespaced {
		namespace = s.namespace
	}
	served, lasts := s.served([]census.Resource{r})[0], leastWatch+rand.N(mostWatch-leastWatch)
	return s.watcher.Open(ctx, served, namespace, formatVersion(from), lasts)
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }

// skip returns a type that is skipped because of err.
func skip(r census.Resource, reason census.Reason, err error) census.Skipped {
	return census.Skipped{Group: r.Group, Resource: r.Resource, Reason: reason, Message: err.Error()}
}

func groupResource(s census.Skipped) schema.GroupResource {
	return schema.GroupResource{Group: s.Group, Resource: s.Resource}
}

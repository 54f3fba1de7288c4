package census

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

const (
	defaultConcurrency  = 4
	defaultRetryTimeout = 30 * time.Second
)

// Scanner counts the names of a cluster. The zero value of all fields but
// Config is usable.
type Scanner struct {
	// Config reaches the cluster. Its Timeout bounds every request, reading the
	// answer included; without one a server that hangs is waited for.
	Config *rest.Config
	// ChunkSize is the number of objects to ask for in one request; 0: chosen
	// by the size of what is listed.
	ChunkSize int64
	// Concurrency is the number of requests in flight; 0: chosen.
	Concurrency int
	// RetryTimeout is how long one page is pursued through throttling, 5xx and
	// broken connections, and how long a server that does not answer at all is
	// waited for; 0: half a minute.
	RetryTimeout time.Duration
	// Selector chooses the prefixes of which some object matches it: one in the
	// space, or one that says the prefix. It lowers no counts. nil chooses all.
	Selector labels.Selector
	// Prefixes are effective prefixes that are counted, where names with them
	// exist, even if no generateName says them.
	Prefixes []string
	// Since is from when on a creation is recent.
	Since time.Time
	// Progress, if set, is told after every page and every type how far the scan
	// is. It is called by one goroutine at a time.
	Progress func(Progress)
}

// Progress is how far a scan is.
type Progress struct {
	// Types is the number of types to be counted, Done how many of them are.
	Types, Done int
	// Objects is how many have been read, those read again included.
	Objects int64
	// Current is the type that was read from last.
	Current Resource
}

// Summary is what a scan did.
type Summary struct {
	// Objects is how many objects the lists had that were counted, and Requests
	// how many requests that and all else took.
	Objects, Requests int64
	// Skipped is what could not be read, in order. No space of it was emitted.
	Skipped []Skipped
	// Inconsistent are the resources whose counts are not of one instant.
	Inconsistent []Resource
}

// Scan counts the names of the resources, in one namespace or, if it is empty,
// in all; cluster-scoped resources are counted in either case. The spaces of
// every list come in a batch of their own that begin makes; begin is called by
// one goroutine at a time. What fails is skipped and does not stop the rest;
// when ctx is done, all that is not finished is skipped. The error is about
// the configuration, before any request.
func (s *Scanner) Scan(ctx context.Context, resources []Resource, namespace string, begin func() Batch) (Summary, error) {
	client, err := newClient(s.Config)
	if err != nil {
		return Summary{}, err
	}
	run := s.newScan(client, begin)
	var group errgroup.Group
	run.progress.Types = len(resources)
	for _, r := range resources {
		group.Go(func() error {
			run.scan(ctx, r, namespace)
			run.reportType()
			return nil
		})
	}
	_ = group.Wait()
	run.summary.sort()
	return run.summary, nil
}

// scan is one run of a Scanner.
type scan struct {
	*Scanner
	rules
	client  rest.Interface
	buffers chan []byte // one for each request that may be in flight

	mu       sync.Mutex
	begin    func() Batch
	progress Progress
	summary  Summary

	silentSince time.Time  // the first request without an answer, after the last with one
	gone        *abandoned // once the server is
}

func (s *Scanner) newScan(client rest.Interface, begin func() Batch) *scan {
	run := &scan{Scanner: s, client: client, begin: begin}
	run.rules = rules{since: s.Since.Unix(), prefixes: map[string]bool{}, targetsAtOnce: maxTargets}
	if s.Selector != nil && !s.Selector.Empty() {
		run.selector = s.Selector
	}
	for _, prefix := range s.Prefixes {
		run.prefixes[prefix] = true
	}
	run.buffers = make(chan []byte, cmp.Or(s.Concurrency, defaultConcurrency))
	for range cap(run.buffers) {
		run.buffers <- make([]byte, bufferSize)
	}
	return run
}

// scan counts one resource.
func (s *scan) scan(ctx context.Context, r Resource, namespace string) {
	if !r.Namespaced {
		namespace = ""
	}
	l := &list{scan: s, resource: r, namespace: namespace, pace: s.newPace(), mayDivide: r.Namespaced && namespace == ""}
	whole, err := l.count(ctx)
	counts := []counted{whole}
	var big *tooBig
	if errors.As(err, &big) {
		counts, err = s.divide(ctx, r, big)
	}
	if err != nil {
		s.skip(ctx, r, namespace, err)
		return
	}
	s.commit(r, counts)
}

func (s *scan) commit(r Resource, lists []counted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inconsistent := false
	for _, l := range lists {
		l.batch.Commit()
		s.summary.Objects += l.objects
		inconsistent = inconsistent || l.inconsistent
	}
	if inconsistent {
		s.summary.Inconsistent = append(s.summary.Inconsistent, r)
	}
}

func (s *scan) skip(ctx context.Context, r Resource, namespace string, err error) {
	skipped := Skipped{
		Group: r.Group, Resource: r.Resource, Namespace: namespace,
		Reason: reasonFor(err), Message: fmt.Sprintf("list %s: %v", r.GroupResource(), err),
	}
	if ctx.Err() != nil {
		skipped.Reason = Interrupted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summary.Skipped = append(s.summary.Skipped, skipped)
}

func (s *scan) newBatch() Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begin()
}

func (s *scan) countRequest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summary.Requests++
}

func (s *scan) reportPage(r Resource, objects int64) {
	s.report(func(p *Progress) { p.Objects, p.Current = p.Objects+objects, r })
}

func (s *scan) reportType() {
	s.report(func(p *Progress) { p.Done++ })
}

func (s *scan) report(change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.progress)
	if s.Progress != nil {
		s.Progress(s.progress)
	}
}

// sort puts into an order what came in that of the network.
func (s *Summary) sort() {
	slices.SortFunc(s.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace))
	})
	slices.SortFunc(s.Inconsistent, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
}

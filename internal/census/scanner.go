package census

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// spacesAtOnce is how many spaces are counted in one sweep: some megabytes.
const spacesAtOnce = 1 << 14

// Scanner counts the names of a cluster. The zero value of all fields but
// Config is usable.
type Scanner struct {
	// Config reaches the cluster. Its Timeout bounds every request, reading the
	// answer included; without one a server that hangs is waited for.
	Config *rest.Config
	// ChunkSize is the number of objects to ask for in one request; 0: chosen
	// by the size of what is listed.
	ChunkSize int64
	// limits are those of pages; zero: those of Version. Tests on a busy machine
	// set them.
	limits pageLimits
	// Concurrency is the number of requests in flight; 0: four, and of those for
	// more than a first page two.
	Concurrency int
	// Polite is one request at a time, and after each a pause of nine times what
	// it took.
	Polite bool
	turns  *turns // those that it shares; nil for its own
	// Version is the server's, like v1.34.4, or the one that it emulates. One
	// below 1.34, or that is not known, reads pages from etcd as whole objects:
	// pages are small then.
	Version string
	// RetryTimeout is how long one page is pursued through throttling, 5xx and
	// broken connections, and how long a server that does not answer at all is
	// waited for; 0: two minutes.
	RetryTimeout time.Duration
	// Selector chooses the prefixes of which some object matches it: one in the
	// space, or one that says the prefix. It lowers no counts. nil chooses all.
	Selector labels.Selector
	// Prefixes are effective prefixes that are counted, where names with them
	// exist, even if no generateName says them.
	Prefixes []string
	// Since is from when on a creation is recent, for each of at most MaxWindows
	// windows.
	Since []time.Time
	// All is whether spaces are handed over, too, that do not count: nobody says
	// their prefix, nor is it evident, or Selector does not choose it. Their
	// NamePool.Extra is true. A list that is not in order has none of them.
	All bool
	// MinCount is from how many names on a prefix that no generateName says can
	// be evident; 10 at least.
	MinCount int64
	// CreatorsFrom is from how many names on it is of interest who made those of a
	// space. Of fewer that is mostly not read: where each object has a prefix of its
	// own it takes as long as all else.
	CreatorsFrom int64
	// FoldBelow is below how many names NamePool.OwnerKind is set; 0 for none.
	FoldBelow int64
	// Progress, if set, is told after every page and every type how far the scan
	// is. It is called by one goroutine at a time.
	Progress func(Progress)
	// Absent, if set, is told that for some seconds the server has not answered any
	// request, and why; and then, without a cause, that it answers again, and after how
	// long. It is called by one goroutine at a time.
	Absent func(cause error, after time.Duration)
	// Resting, if set, is told of each long pause of a polite scan. It is called by one
	// goroutine at a time.
	Resting func(pause time.Duration)
	// Listed, if set, is told of each type that has been read, once its batch is
	// committed. It is called by one goroutine at a time.
	Listed func(Listed)
}

// Listed is a type that has been read.
type Listed struct {
	Resource Resource
	Batch    Batch // with its spaces
	Objects  int64
	// Prefixed is how many of the objects are in spaces that count.
	Prefixed int64
	// Uncounted is how many of the objects say a prefix that was not counted.
	Uncounted int64
	// ResourceVersion is the state that was read, from which a watch goes on. It is
	// empty if what was read is not all of one state.
	ResourceVersion string
}

// Scan counts the names of the resources, in one namespace or, if it is empty,
// in all; cluster-scoped resources are counted in either case. The spaces of
// every list come in a batch of their own that begin makes; begin is called by
// one goroutine at a time. What fails is skipped and does not stop the rest;
// when ctx is done, all that is not finished is skipped. The error is about
// the configuration, before any request.
func (s *Scanner) Scan(
	ctx context.Context, resources []Resource, namespace string, begin func() Batch,
) (Summary, error) {
	run, err := s.newScan(begin)
	if err != nil {
		return Summary{}, err
	}
	run.ledger.progress.Types = len(resources)
	var group errgroup.Group
	for _, r := range resources {
		group.Go(func() error {
			run.count(ctx, r, namespace)
			run.ledger.typeDone()
			return nil
		})
	}
	_ = group.Wait()
	return run.summary(), nil
}

// scan is one run of a Scanner.
type scan struct {
	chunkSize int64
	limits    pageLimits
	version   string
	rules     *spaces.Rules
	server    *server
	ledger    *ledger
}

func (s *Scanner) newScan(begin func() Batch) (*scan, error) {
	server, err := newServer(s)
	if err != nil {
		return nil, err
	}
	rules := &spaces.Rules{
		Prefixes: map[string]bool{}, AtOnce: spacesAtOnce,
		MinCount: s.MinCount, CreatorsFrom: s.CreatorsFrom, FoldBelow: s.FoldBelow, All: s.All,
	}
	for _, since := range s.Since {
		rules.Since = append(rules.Since, since.Unix())
	}
	if s.Selector != nil && !s.Selector.Empty() {
		rules.Selector = s.Selector
	}
	for _, prefix := range s.Prefixes {
		rules.Prefixes[prefix] = true
	}
	return &scan{
		chunkSize: s.ChunkSize, limits: cmp.Or(s.limits, limitsFor(s.Version)), version: s.Version,
		rules: rules, server: server,
		ledger: &ledger{begin: begin, report: s.Progress, listed: s.Listed},
	}, nil
}

// count counts one resource.
func (s *scan) count(ctx context.Context, r Resource, namespace string) {
	if !r.Namespaced {
		namespace = ""
	}
	l := s.newList(r, namespace)
	l.mayDivide = r.Namespaced && namespace == ""
	count, err := l.count(ctx, s.ledger.newBatch)
	var big *tooBig
	if errors.As(err, &big) {
		count, err = s.divide(ctx, r, big)
	}
	if err != nil {
		s.ledger.skip(ctx, r, namespace, err)
		return
	}
	s.ledger.commit(r, count)
}

// summary is what the scan has done, when it is over.
func (s *scan) summary() Summary {
	summary := s.ledger.summary
	summary.Requests = s.server.requests.Load()
	summary.sort()
	return summary
}

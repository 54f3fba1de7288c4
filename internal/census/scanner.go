package census

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// poolsAtOnce is how many name pools are counted in one sweep. They take some megabytes.
const poolsAtOnce = 1 << 14

// Scanner counts the names of a cluster. Only Config is required.
type Scanner struct {
	// Config reaches the cluster. Its Timeout bounds every request, including the time to read
	// the response. Without it, a server that hangs is waited for.
	Config *rest.Config
	// ChunkSize is the number of objects per request. 0 chooses it by the size of the objects.
	ChunkSize int64
	// limits are the limits of pages. The zero value uses those of Version. Tests on a busy machine set
	// them.
	limits pageLimits
	// Concurrency is the number of requests in flight. 0 is four, of which two are for more
	// than a first page.
	Concurrency int
	// Polite sends one request at a time, and pauses nine times as long as each took.
	Polite bool
	turns  *turns // shared turns; nil for its own
	// Version is that of the server, like v1.34.4, or the one that it emulates. A server below
	// 1.34, or of an unknown version, reads pages from etcd as whole objects. Its pages are
	// small.
	Version string
	// RetryTimeout limits the retries of a page after throttling, 5xx and broken connections. It also
	// limits the wait for an unreachable server. 0 is two minutes.
	RetryTimeout time.Duration
	// Selector chooses the prefixes of which some object matches it: an object in the name
	// pool, or one with its generateName. It lowers no counts. nil chooses all.
	Selector labels.Selector
	// Prefixes are effective prefixes that are counted even if no object has them as
	// generateName.
	Prefixes []string
	// Since are the times from which on a creation is recent, at most MaxWindows.
	Since []time.Time
	// All hands over name pools that do not count, too: no object has their generateName, the
	// prefix is not evident, or Selector doesn't choose it. Their NamePool.Extra is true. A
	// list that is not in order has none of them.
	All bool
	// MinCount is the number of names from which on a prefix without a generateName can be evident. It is
	// 10 at least.
	MinCount int64
	// FoldBelow is the number of names below which NamePool.OwnerKind is set. 0 means never.
	FoldBelow int64
	// Progress, if set, is called after every page and every type. It is called by one
	// goroutine at a time.
	Progress func(Progress)
	// Absent, if set, is called if the server has not responded to any request for some
	// seconds, with the cause. It is called again without a cause when the server responds,
	// with the time that passed. It is called by one goroutine at a time.
	Absent func(cause error, after time.Duration)
	// Resting, if set, is called before each long pause of a polite scan. It is called by one
	// goroutine at a time.
	Resting func(pause time.Duration)
	// Listed, if set, is called for each type that has been read, after its batch is
	// committed. It is called by one goroutine at a time.
	Listed func(Listed)
}

// Listed is a resource type that has been read.
type Listed struct {
	Resource Resource
	Batch    Batch // with its name pools
	Objects  int64
	// Prefixed is how many of the objects are in name pools that count.
	Prefixed int64
	// Uncounted is how many of the objects have a generateName whose prefix was not counted.
	Uncounted int64
	// ResourceVersion is the state of the list, from which a watch goes on. It is empty if the
	// list is not all of one state.
	ResourceVersion string
}

// Scan counts the names of the resources, in one namespace or, if it is empty, in all.
// Cluster-scoped resources are counted in either case. The name pools of every list come in a
// batch of their own that begin makes. begin is called by one goroutine at a time. A list that
// fails is skipped, and the others go on. When ctx is done, all unfinished lists are skipped.
// An error is about the configuration, and comes before any request.
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
	rules     *namepools.Rules
	server    *server
	ledger    *ledger
}

func (s *Scanner) newScan(begin func() Batch) (*scan, error) {
	server, err := newServer(s)
	if err != nil {
		return nil, err
	}
	rules := &namepools.Rules{
		Prefixes: map[string]bool{}, AtOnce: poolsAtOnce,
		MinCount: s.MinCount, FoldBelow: s.FoldBelow, All: s.All,
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

// count counts one resource type.
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

// summary returns the summary of a finished scan.
func (s *scan) summary() Summary {
	summary := s.ledger.summary
	summary.Requests = s.server.requests.Load()
	summary.Sort()
	return summary
}

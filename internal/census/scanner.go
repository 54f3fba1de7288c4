// Package census reads the objects of a cluster, and counts their names by resource, namespace and effective prefix.
// The package lists metadata only and drops objects at once, so that its memory does not grow with the objects. The
// package owns the resource types, the pages and their size, faults, and the decision to list again or to divide a
// list. Package decode reads pages, and package pools counts their objects. It knows no probabilities and prints
// nothing.
//
// # Load on the server
//
// A page aims at a third of a second of the server's time, and is small if the server reads
// it from etcd (pagesize.go). Few requests are in flight, and fewer for pages of big lists
// (limiter.go). A page is retried for [Scanner].RetryTimeout, and the pages before it are kept
// (walk.go).
//
// # Words
//
// A list is one scope: a resource in all namespaces or in one. A walk reads a list once, page
// by page.
//
// # Guarantees
//
// The objects of a list go to a [Visitor], which is committed when the list has been read to its
// end. So every name pool that counts is complete, and no object counts twice. A list that fails
// gives a [Skipped], and its visitor is never committed. Without faults the counts of one list
// are consistent. If they can't be, because a continue token expired, its resource is among
// [Summary].Inconsistent. Lists of different resources are never of the same state.
//
// A type that is too big for one list is read namespace by namespace at the resourceVersion
// of a first page. The number of objects must be that of the first page, or the type is read
// again as one list (divide.go). So no object is lost whose namespace was created or deleted
// meanwhile, or has no Namespace object. A namespace that can't be read is skipped, and the
// others are counted.
package census

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Scanner counts the names of a cluster. Only Config is required.
type Scanner struct {
	// Config is the configuration of the client. Config.Timeout bounds every request, including the time to read the
	// response. Without a Timeout, a scan waits forever for a server that hangs.
	Config *rest.Config
	// ChunkSize is the number of objects per request. 0 chooses it by the size of the objects.
	ChunkSize int64
	// limits are the limits of pages. The zero value means the limits for Version. Tests set them, because
	// machines are busy and test lists are small.
	limits pageLimits
	// Concurrency is the number of requests in flight. 0 is four, of which two are for more
	// than a first page.
	Concurrency int
	// Polite sends one request at a time, and pauses nine times as long as each took.
	Polite  bool
	limiter *limiter // shared with other scans, or nil
	// Version is the version of the server, such as v1.34.4, or the version that it emulates. A server below 1.34,
	// or of an unknown version, reads pages from etcd as whole objects, so its pages are small.
	Version string
	// RetryTimeout limits the retries of a page after throttling, 5xx and broken connections. RetryTimeout also limits
	// the wait for an unreachable server. 0 is two minutes.
	RetryTimeout time.Duration
	// Selector chooses the name pools in which some object matches it. Selector lowers no counts. nil chooses all. Only
	// Count uses it, Prefixes, Since, MinCount and MinStem.
	Selector labels.Selector
	// Prefixes are effective prefixes that are counted even if no object has them as
	// generateName.
	Prefixes []string
	// Since are the times from which on a creation is recent, at most pools.Spans. They are later for a type that is
	// listed minutes after the beginning of the scan.
	Since []time.Time
	// MinCount is the number of names from which on a prefix without a generateName can be evident. MinCount is 10 at
	// least.
	MinCount int64
	// MinStem is the number of names from which on a stem is a name pool of its own.
	MinStem int64
	// Progress, if set, is called after every page and every type. It is called by one
	// goroutine at a time.
	Progress func(Progress)
	// Unreachable, if set, is called if the server has not responded to any request for some
	// seconds, with the cause. It is called again without a cause when the server responds,
	// with the time that passed. It is called by one goroutine at a time.
	Unreachable func(cause error, after time.Duration)
	// Resting, if set, is called before each long pause of a polite scan. It is called by one
	// goroutine at a time.
	Resting func(pause time.Duration)
	// Listed, if set, is called for each type that has been read, after its visitors
	// are committed. It is called by one goroutine at a time.
	Listed func(Listed)
}

// Listed is a resource type that has been read.
type Listed struct {
	Resource Resource
	Objects  int64
	// ResourceVersion is the state of the list, from which a watch can start. It is empty if the pages have different
	// states (Inconsistent), or if the server has no states.
	ResourceVersion string
	Inconsistent    bool
	// Began is when the list was first requested, which can be long after the beginning of a polite scan.
	Began time.Time
}

// scan is one run of a Scanner.
type scan struct {
	chunkSize  int64
	limits     pageLimits
	options    decode.Options
	newVisitor visitorFactory
	server     *server
	ledger     *ledger
}

func (s *Scanner) newScan(options decode.Options, newVisitor visitorFactory) (*scan, error) {
	server, err := newServer(s)
	if err != nil {
		return nil, err
	}
	return &scan{
		chunkSize: s.ChunkSize, limits: cmp.Or(s.limits, limitsFor(s.Version)),
		options: options, newVisitor: newVisitor, server: server,
		ledger: &ledger{report: s.Progress, listed: s.Listed},
	}, nil
}

// read reads one resource type.
func (s *scan) read(ctx context.Context, r Resource, namespace string) {
	if !r.Namespaced {
		namespace = ""
	}
	l := s.newList(r, namespace)
	l.mayDivide = r.Namespaced && namespace == ""
	read, err := l.read(ctx, s.options, s.newVisitor)
	var big *tooBig
	if errors.As(err, &big) {
		read, err = s.divide(ctx, r, big)
	}
	if failsToConvert(err) {
		read, r.Version, err = s.readOther(ctx, r, namespace, err)
	}
	if err != nil {
		s.ledger.skip(ctx, r, namespace, err)
		return
	}
	s.ledger.commit(r, read, l.began)
}

// summary returns the summary of a finished scan.
func (s *scan) summary() Summary {
	summary := s.ledger.summary
	summary.Requests = s.server.requests.Load()
	summary.Sort()
	return summary
}

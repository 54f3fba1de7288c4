// Package census reads the objects of a cluster, and counts their names by resource, namespace and effective prefix.
// The package lists metadata only and drops objects at once, so that its memory does not grow with their number. The
// package decides which types it reads, how large pages are, which faults it retries, and when it lists again or
// divides a list. Package decode reads pages, and package pools counts their objects. Package census calculates no
// probabilities and prints nothing.
//
// # Load on the server
//
// The scan aims at pages that take the server a third of a second. Pages are small if the server reads them from etcd
// (pagesize.go). Few requests are in flight, and fewer for pages of big lists (limiter.go). The scan retries a page for
// [Scanner].RetryTimeout, and keeps the pages before it (walk.go).
//
// # Words
//
// A list is one scope: a resource in all namespaces or in one. A walk reads a list once, page
// by page.
//
// # Guarantees
//
// The scan passes the objects of a list to a [Visitor], and commits the visitor when it has read the list to its end.
// So every name pool that is counted is complete, and no object counts twice. If a list fails, the scan adds a
// [Skipped] and never commits the visitor. Without faults, the counts of one list are consistent. If a continue token
// expires, they can be inconsistent, and [Summary].Inconsistent has the type. Lists of different types never show the
// same state.
//
// If a type is too big for one list, the scan reads it namespace by namespace at the resourceVersion of the first page.
// If the total differs from the number that the first page reported, the scan reads the type again as one list
// (divide.go). So no object is lost if its namespace was created or deleted meanwhile, or has no Namespace object. The
// scan skips a namespace that it can't read, and counts the others.
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
	// ChunkSize is the number of objects per request. If it is 0, the scan adapts the number to the server.
	ChunkSize int64
	// limits are the limits of pages. The zero value means the limits for Version. Tests set other limits, because test
	// machines are busy and test lists are small.
	limits pageLimits
	// Concurrency is the number of requests in flight. 0 means four. At most two of these four request pages of big
	// lists.
	Concurrency int
	// Polite sends one request at a time. After each request, it pauses for nine times the duration of the request.
	Polite  bool
	limiter *limiter // shared with other scans, or nil
	// Version is the version of the server, such as v1.34.4, or the version that it emulates. A server below 1.34,
	// or of an unknown version, reads pages from etcd as whole objects, so its pages are small.
	Version string
	// RetryTimeout limits the retries of a page after throttling, 5xx and broken connections. RetryTimeout also limits
	// the wait for an unreachable server. 0 means two minutes.
	RetryTimeout time.Duration
	// Selector selects the name pools that have a matching object. All objects of such a pool count. nil selects all
	// name pools. Only Count uses Selector, Prefixes, Since, MinCount and MinStem.
	Selector labels.Selector
	// Prefixes are effective prefixes that are counted even if no object has them as
	// generateName.
	Prefixes []string
	// Since has at most pools.Spans times. An object that was created after one of them is recent. If the scan lists a
	// type minutes after its beginning, the times for this type are later.
	Since []time.Time
	// MinCount is the number of names that make a prefix evident if no object has it as generateName. MinCount is at
	// least 10.
	MinCount int64
	// MinStem is the number of names from which on a stem is a separate name pool.
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
	// ResourceVersion is the version of the list, from which a watch can start. ResourceVersion is empty if the pages
	// have different versions (Inconsistent), or if the server reports no version.
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

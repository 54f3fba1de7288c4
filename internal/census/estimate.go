package census

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Estimate is the expected cost of reading one type. Estimate assumes that pages are fast, and that all objects are
// as large as the first.
type Estimate struct {
	Resource Resource
	// Objects is the number of objects. If Known is false, the server doesn't report the number, and Objects is 0
	// or 1.
	Objects int64
	Known   bool
	// ResourceVersion is the current version of the server.
	ResourceVersion string
	// Requests and Bytes are the cost of reading the objects. Bytes are before compression.
	Requests, Bytes int64
	// Seats is a lower bound of the seats that the largest request takes in API Priority and Fairness, for a user
	// who is not exempt. AtOnce is the number of such requests in flight.
	Seats, AtOnce int
}

// Estimate requests the first object of each type, and returns how much Scan would read, most
// objects first. A type that can't be read is skipped.
func (s *Scanner) Estimate(
	ctx context.Context, resources []Resource, namespace string,
) ([]Estimate, []Skipped, error) {
	run, err := s.newScan(decode.Asked{}, nil)
	if err != nil {
		return nil, nil, err
	}
	run.ledger.progress.Types = len(resources)
	all := make([]*Estimate, len(resources))
	var group errgroup.Group
	for i, r := range resources {
		group.Go(func() error {
			at := namespace
			if !r.Namespaced {
				at = ""
			}
			found, err := run.estimate(ctx, r, at)
			if err != nil {
				run.ledger.skip(ctx, r, at, err)
			} else {
				all[i] = found
			}
			run.ledger.typeDone()
			return nil
		})
	}
	_ = group.Wait()
	var estimates []Estimate
	for _, e := range all {
		if e != nil {
			estimates = append(estimates, *e)
		}
	}
	slices.SortStableFunc(estimates, func(a, b Estimate) int { return cmp.Compare(b.Objects, a.Objects) })
	return estimates, run.summary().Skipped, nil
}

// Numbers requests the numbers of objects of some types. A type whose number the server doesn't report is left out.
func (s *Scanner) Numbers(ctx context.Context, resources []Resource, namespace string) (counts []TypeCount) {
	numbered := *s
	numbered.Progress, numbered.RetryTimeout = nil, time.Nanosecond // they aren't worth a wait
	estimates, _, err := numbered.Estimate(ctx, resources, namespace)
	if err != nil {
		return nil
	}
	for _, e := range estimates {
		if e.Known {
			counts = append(counts, TypeCount{e.Resource, e.Objects})
		}
	}
	return counts
}

// estimate requests one object, and retries.
func (s *scan) estimate(ctx context.Context, r Resource, namespace string) (*Estimate, error) {
	l := s.newList(r, namespace)
	l.size = newPageSize(1, pageLimits{})
	for retrier := s.server.newRetrier(); ; {
		p, err := l.get(ctx, pageRequest{limit: 1}, decode.Asked{}, func(*object.Object) error { return nil })
		if err == nil {
			return s.estimateOf(l, p), nil
		}
		if !transient(ctx, err) {
			return nil, err
		}
		if err := s.server.wait(ctx, retrier, err); err != nil {
			return nil, err
		}
	}
}

// estimateOf returns the estimate of a list whose first object is p.
func (s *scan) estimateOf(l *list, p decode.Page) *Estimate {
	e := &Estimate{
		Resource: l.resource, Objects: p.Objects + p.Remaining, ResourceVersion: p.ResourceVersion,
		Requests: 1, AtOnce: cap(s.server.slots),
	}
	e.Known = p.Continue == "" || p.Remaining > 0
	each := l.bytes / max(p.Objects, 1)
	e.Bytes = e.Objects * each
	// Simulate a list whose pages all take less than pageTime.
	pages := newPageSize(s.chunkSize, s.limits)
	page := pages.current()
	for left := e.Objects - page; left > 0; left -= page {
		pages.succeeded(pageCost{page, page, each * page, left, time.Nanosecond})
		page = pages.current()
		e.Requests++
	}
	if e.Requests > 1 {
		e.AtOnce = cap(s.server.big)
	}
	if e.Objects > s.limits.undivided && l.namespace == "" && l.resource.Namespaced {
		e.Requests += 2 // the first page twice, and the namespaces
	}
	e.Seats = s.seats(min(page, e.Objects), each)
	return e
}

// These constants define the seats of a list, as in k8s.io/apiserver/pkg/util/flowcontrol/request
// (list_work_estimator.go). Up to 1.33, a list takes one seat per 100 objects that the server processes, and ten
// at most. Objects of a page from etcd count twice. From 1.34 on, a list takes one seat per 100 kB of whole
// objects, and 100 at most. docs/internals/audit-engine.md has the seats of the users' priority levels.
const (
	objectsPerSeat  = 100
	mostSeatsBefore = 10
	bytesPerSeat    = 100_000
	mostSeats       = 100
)

// seats returns the smallest number of seats of a page. bytes is the size of one object's metadata.
func (s *scan) seats(objects, bytes int64) int {
	taken, most := float64(2*objects)/objectsPerSeat, mostSeatsBefore
	if v, err := version.ParseGeneric(s.version); err == nil && v.AtLeast(fromCache) {
		taken, most = float64(objects*bytes)/bytesPerSeat, mostSeats
	}
	return min(max(1, int(math.Ceil(taken))), most)
}

package prune

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// maxFailures is the number of failures in a row after which the run stops. A cause that refuses so
// many deletions will refuse the next one, too.
const maxFailures = 100

// ErrListChanged reports that a list was restarted after some of its objects were handed over.
var ErrListChanged = errors.New("the list expired while it was read")

// stopped carries the reason why the run stopped before it tried the remaining objects.
type stopped struct{ cause error }

func (s *stopped) Error() string { return "stopped: " + s.cause.Error() }
func (s *stopped) Unwrap() error { return s.cause }

// Each passes the objects of a plan to take, in the order of the lists. An error of take stops it.
func (p *Pruner) Each(ctx context.Context, targets []Target, plan *Plan, take func(Object) error) error {
	return p.pages(ctx, targets, plan, func(_ context.Context, page []Object, again bool) error {
		if again {
			return &stopped{ErrListChanged}
		}
		for _, o := range page {
			if err := take(o); err != nil {
				return &stopped{err}
			}
		}
		return nil
	})
}

// Delete deletes the objects of a plan, and passes the result of each to done. Calls of done don't
// overlap. The error is the reason why the remaining objects were not tried. If ctx is done, Delete
// returns an error, too.
func (p *Pruner) Delete(ctx context.Context, targets []Target, plan *Plan, done func(Result)) error {
	client, err := newClient(p.Deletions)
	if err != nil {
		return err
	}
	client.limiter = p.Limiter
	run := &run{
		deleter:     &deleter{client: client, retryTimeout: p.RetryTimeout},
		concurrency: p.Concurrency, done: done,
	}
	return p.pages(ctx, targets, plan, func(ctx context.Context, page []Object, _ bool) error {
		return run.deletePage(ctx, page)
	})
}

// pages reads the lists of a plan again, and passes the chosen objects to take page by page. again
// reports whether the page can repeat objects of an earlier page.
func (p *Pruner) pages(
	ctx context.Context, targets []Target, plan *Plan, take func(ctx context.Context, page []Object, again bool) error,
) error {
	reader, err := p.reader()
	if err != nil {
		return err
	}
	for _, target := range targets {
		to := &pageOf{take: take}
		to.chooser = newChooser(target, p.Criteria, plan.Time, to)
		if _, err := p.walk(ctx, reader, target.Resource, plan.at[target.Resource], to); err != nil {
			return err
		}
	}
	return nil
}

// pageOf collects the chosen objects of a page. It implements sink and visitor.
type pageOf struct {
	*chooser
	take  func(ctx context.Context, page []Object, again bool) error
	page  []Object
	taken bool // take got a page with objects
	again bool // the list was restarted after that
}

// Begin implements census.PageVisitor.
func (p *pageOf) Begin(sorted bool) {
	p.page, p.again = p.page[:0], p.taken
	p.begin(sorted)
}

// Visit implements census.PageVisitor.
func (p *pageOf) Visit(o *decode.Object) { p.visit(o) }

// EndPage implements census.PageVisitor.
func (p *pageOf) EndPage(ctx context.Context) error {
	if len(p.page) == 0 {
		return nil
	}
	page := p.page
	p.page, p.taken = p.page[:0], true
	return p.take(ctx, page, p.again)
}

func (p *pageOf) chosen(o Object) { p.page = append(p.page, o) }

func (*pageOf) left(pool, Reason, int64) {}

// run is one run of deletions.
type run struct {
	*deleter
	concurrency int
	done        func(Result)

	mu       sync.Mutex
	failures int // in a row
}

// deletePage deletes the objects of a page, several at once and in their order, until the run stops.
func (r *run) deletePage(ctx context.Context, page []Object) error {
	var group errgroup.Group
	var next atomic.Int64
	stop, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for range min(r.concurrency, len(page)) {
		group.Go(func() error {
			for stop.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(page) {
					return nil
				}
				if err := r.note(r.delete(stop, page[i])); err != nil {
					cancel(err)
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	if stop.Err() != nil {
		return &stopped{context.Cause(stop)}
	}
	return nil
}

// note reports a result to done. It returns the reason to stop the run, or nil.
func (r *run) note(result Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done(result)
	switch {
	case result.GaveUp:
		return result.Err
	case result.Outcome != Failed:
		r.failures = 0
	default:
		r.failures++
	}
	if r.failures >= maxFailures {
		return result.Err
	}
	return nil
}

var _ census.PageVisitor = (*pageOf)(nil)

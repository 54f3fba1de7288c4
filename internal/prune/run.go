package prune

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Delete deletes the objects of a plan, and calls done with each result. Calls of done don't overlap. If the server
// refuses one deletion, Delete continues with the other objects. An error explains why Delete stopped early. Delete
// also returns an error if ctx ends.
func (p *Pruner) Delete(ctx context.Context, plan *Plan, done func(Result)) error {
	client, err := newClient(p.Deletions)
	if err != nil {
		return err
	}
	client.limiter = p.Limiter
	each := deleter{client: client, saver: p.Saver, retryTimeout: p.RetryTimeout, unreachableAt: &atomic.Int64{}}
	r := &run{deleter: each, done: done}
	stop, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	objects := make(chan Object)
	var group errgroup.Group
	group.Go(func() error {
		defer close(objects)
		for o := range plan.Objects() {
			used, err := p.isUsed(stop, plan, o)
			if err != nil {
				cancel(err)
				return err
			}
			if used {
				_ = r.note(Result{Object: o, Outcome: LeftAlone, Reason: v1alpha1.PruneInUse}) // it never stops a run
				continue
			}
			select {
			case objects <- o:
			case <-stop.Done():
				return context.Cause(stop)
			}
		}
		return nil
	})
	for range p.Concurrency {
		group.Go(func() error {
			for o := range objects {
				if stop.Err() != nil {
					continue // send no more requests after the end
				}
				deleter := r.nextDeleter()
				if err := r.note(deleter.delete(stop, o)); err != nil {
					cancel(err)
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	return context.Cause(stop)
}

// run is one run of deletions.
type run struct {
	deleter deleter
	done    func(Result)

	mu      sync.Mutex
	givenUp int // number of objects in a row whose retries ended without an outcome
}

// nextDeleter returns the deleter for the next object. If the run gave up on the last object, the timeout is shorter.
func (r *run) nextDeleter() *deleter {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.deleter
	if r.givenUp > 0 {
		d.retryTimeout = min(d.retryTimeout, shortRetryTimeout)
	}
	return &d
}

// note reports a result to done. It returns the reason to stop the run, or nil. If a server doesn't respond, further
// requests are useless.
func (r *run) note(result Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done(result)
	if !result.GaveUp {
		r.givenUp = 0
		return nil
	}
	r.givenUp++
	if result.Outcome == Unknown || r.givenUp >= maxGivenUp {
		return result.Err
	}
	return nil
}

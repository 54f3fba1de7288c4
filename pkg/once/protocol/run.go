package protocol

import (
	"cmp"
	"context"
	"time"
)

// Exchange makes a request, which is a Post, a Get or an AskTime, and returns the
// observation of its response.
type Exchange func(ctx context.Context, request Action) Observation

// Options change how Run makes requests.
type Options struct {
	// PostGrace and Grace are how long a POST and any other request may go on after
	// the context is done. Grace is at least PostGrace.
	PostGrace, Grace time.Duration
	// Timeout bounds each request; 0 for no bound.
	Timeout time.Duration
	// Before is called before each request, and before the pause that comes first. refusal
	// is the error of the last POST.
	Before func(next Action, refusal error)
}

// Run makes the requests that the machine asks for, until the outcome is certain or
// can't be known. Once ctx is done, it sends no other POST.
func Run(ctx context.Context, m *Machine, exchange Exchange, o Options) Done {
	posts, cancelPosts := outlive(ctx, o.PostGrace)
	defer cancelPosts()
	requests, cancel := outlive(ctx, o.Grace)
	defer cancel()
	for waited := false; ; {
		if ctx.Err() != nil {
			m.Interrupt(requests.Err() != nil)
		}
		next := m.Next(time.Now())
		if !waited && o.Before != nil {
			o.Before(next, m.refusal)
		}
		var seen Observation
		switch a := next.(type) {
		case Done:
			a.cause = context.Cause(ctx)
			return a
		case Wait:
			waited = true
			sleep(ctx, requests, a.Until)
			continue
		case Post:
			seen = within(posts, o.Timeout, exchange, a)
		case Get:
			seen = within(requests, cmp.Or(a.Timeout, o.Timeout), exchange, a)
		case AskTime:
			seen = within(requests, cmp.Or(a.Timeout, o.Timeout), exchange, a)
		}
		waited = false
		m.Observe(time.Now(), seen)
	}
}

// within makes a request, which has that much time, or any if timeout is 0.
func within(ctx context.Context, timeout time.Duration, exchange Exchange, request Action) Observation {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return exchange(ctx, request)
}

// outlive returns a context that is done that long after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	if grace == 0 {
		return ctx, func() {}
	}
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}

// sleep waits until a time. The end of ctx ends the pause. If ctx was done before, only
// the end of the requests' time does.
func sleep(ctx, requests context.Context, until time.Time) {
	if ctx.Err() != nil {
		ctx = requests
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

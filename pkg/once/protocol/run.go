package protocol

import (
	"cmp"
	"context"
	"time"
)

// Exchange sends the request of a Post, Get or AskTime, and returns the observation of its response.
type Exchange func(ctx context.Context, request Action) Observation

// Options change how Run sends requests.
type Options struct {
	// PostGrace is the time that a POST in flight gets after the context has ended. Grace is the time for other
	// requests, and at least PostGrace.
	PostGrace, Grace time.Duration
	// Timeout limits each request. With 0, there is no limit.
	Timeout time.Duration
	// Before is called once for each request: before the request, or before a pause that precedes it. refusal is the
	// error of the last POST.
	Before func(next Action, refusal error)
}

// Run sends the requests that the machine asks for, until the outcome is known or can't be known. After the end of
// ctx, it sends no other POST.
func Run(ctx context.Context, m *Machine, exchange Exchange, o Options) Done {
	posts, cancelPosts := Outlive(ctx, o.PostGrace)
	defer cancelPosts()
	requests, cancel := Outlive(ctx, o.Grace)
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

// within sends a request with a time limit, or without one if timeout is 0.
func within(ctx context.Context, timeout time.Duration, exchange Exchange, request Action) Observation {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return exchange(ctx, request)
}

// Outlive returns a context that ends later than ctx, by the grace time.
func Outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	if grace == 0 {
		return ctx, func() {}
	}
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}

// sleep waits until a time, or until ctx ends. If ctx has already ended, sleep waits until requests ends instead.
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

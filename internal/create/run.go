// Package create is the engine of the command create. Its Session takes documents, and yields the outcome of each
// object as an event. It reads documents ahead of the creates. Several creates run at the same time if the
// order of the documents permits it. The package decides this order, sends the requests, and chooses whether the
// plugin or the server picks a name. The package compares a run with a key with the objects of earlier runs.
// internal/exactlyonce creates a single object. The package reads no flags and prints nothing.
//
// A place is a resource type in a namespace. A probe is an object that is sent only once, because an earlier
// object of the place has used up its retry time. To recheck an object is to read it after a refusal, because an
// earlier copy of its POST might have been stored.
package create

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Session is one run. Session creates the objects of the input, and continues after an object that fails. When its
// context is done, it sends no new create, waits briefly for requests in flight, and counts the remaining objects of
// the input. Only the goroutine that ranges over Create changes a Session. Workers, reviews and the reader send to its
// channels. Other goroutines can call InFlight, Totals and Abandon, which use only what inFlight locks.
type Session struct {
	config   Config
	client   requests
	ctx      context.Context // done after an interrupt, a failure to write results, or the caller's loop
	stop     context.CancelFunc
	yield    func(Event) bool // nil after the caller has ended its loop
	inFlight inFlight
	end      Summary

	reader    *reader
	readOver  <-chan time.Time // ends reading after an interrupt, when nothing is in flight anymore
	scheduler scheduler
	breakers  breakers
	reviews   int // reviews in progress
	places    []*place
	placeFor  map[idempotency.Place]*place

	key    *keyed.Run
	states int // number of objects whose states are read
}

// New returns the session of a run, which Create begins.
func New(ctx context.Context, client requests, config Config) *Session {
	ctx, stop := context.WithCancel(ctx)
	s := &Session{
		config: config, client: client, ctx: ctx, stop: stop, placeFor: map[idempotency.Place]*place{},
		reader: newReader(), inFlight: inFlight{pending: map[int]pending{}, uncounted: map[int]uncounted{}},
	}
	s.key = keyed.New(config.Key, config.Secrets, s.list)
	reports := make(chan report)
	s.scheduler = scheduler{
		jobs: make(chan job), reports: reports, take: s.take, limit: config.Concurrency,
		create: (&worker{s.config, client, config.creates(), ctx, &s.inFlight, reports}).create,
	}
	s.breakers = breakers{end: &s.end}
	return s
}

func (s *Session) list(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) ([]idempotency.Existing, error) {
	return s.client.Find(ctx, s.config.Key, resource, namespace, s.config.RetryTimeout)
}

// Create creates the documents of the input, and yields an event about each object. A document that waits for earlier
// ones is sent only after the caller has handled their events. Create can be called once.
//
// If the caller ends its loop, Create behaves as after an interrupt: it sends nothing more, and returns when the
// requests in flight have ended. The Summary counts the outcomes of these requests, and lists them in Unseen.
func (s *Session) Create(input iter.Seq2[*Document, error]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		s.yield = yield
		s.reader.start(input)
		if s.config.Key != "" {
			s.createKeyed()
		} else {
			s.inOrder()
		}
		s.endReviews()
		s.stop()
		close(s.scheduler.jobs)
	}
}

// Flush waits until all objects of the documents read so far have ended. Only the input calls Flush, before it
// requests a type that an earlier document can add. A run with a key creates nothing before it has read the
// whole input, so its input must not call Flush. Flush returns false if an interrupt has ended the reading.
func (s *Session) Flush() bool { return s.reader.flush() }

// Summary returns the result of the run after Create.
func (s *Session) Summary() Summary {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	s.end.Tally = s.inFlight.tally
	return s.end
}

// emit yields an event. After the caller has ended its loop, emit keeps outcomes only.
func (s *Session) emit(e Event) {
	if s.yield != nil {
		if !s.yield(e) {
			s.yield = nil
			s.stop()
		}
	} else if o, is := e.(Outcome); is {
		s.end.Unseen = append(s.end.Unseen, o)
	}
}

// problem reports an error that does not belong to one object.
func (s *Session) problem(err error) { s.emit(Problem{Err: err, After: s.end.Documents}) }

func (s *Session) inOrder() {
	s.eachStep(func(next Step) {
		if t := s.prepare(next); t != nil {
			s.create(t, 0)
		}
	})
	s.flush()
}

// eachStep calls do for every step of the input, until the input ends. After an interrupt it stops
// when the reading time is over.
func (s *Session) eachStep(do func(Step)) {
	for {
		switch next, more := s.nextStep(); {
		case !more:
			return
		case errors.Is(next.Err, ErrUnread):
			s.end.Unread = true
		default:
			do(next)
		}
	}
}

// nextStep waits for the next Step, and takes reports in the meantime. Reports go first because they
// can stop the next Steps.
func (s *Session) nextStep() (next Step, more bool) {
	for {
		s.scheduler.takeReady()
		s.resume()
		interrupted := s.ctx.Done()
		if s.ctx.Err() != nil {
			interrupted = nil
			if s.readOver == nil && !s.scheduler.busy() {
				s.readOver = time.After(readGrace)
			}
		}
		select {
		case report := <-s.scheduler.reports:
			s.take(report)
		case next, more = <-s.reader.documents:
			return next, more
		case flushed := <-s.reader.waiting():
			s.flush()
			close(flushed)
		case <-interrupted:
		case <-s.readOver:
			s.reader.abandon()
			s.end.Unread = true
			return Step{}, false
		}
	}
}

// prepare decides how to create the document of a step. prepare returns nil if there is no document, or if it can't
// be created.
func (s *Session) prepare(next Step) *task {
	if next.Err != nil {
		s.problem(next.Err)
		return nil
	}
	t := newTask(next.Document, s.config)
	s.inFlight.expect(t)
	s.end.Documents = t.number
	t.place = s.placeOf(t.document)
	var err error
	if t.byServer, err = s.serverNaming(t); err != nil {
		s.inFlight.drop(t)
		s.problem(err)
		return nil
	}
	return t
}

// create starts to create the copies of a document, beginning with the copy first. A document that does
// not overlap waits for all earlier ones, and later documents wait for it. A document with a fixed name
// also waits for deferred copies.
func (s *Session) create(d *task, first int) {
	if !s.overlaps(d) {
		for s.scheduler.wait(); !d.generated && len(s.scheduler.deferred) > 0; s.scheduler.wait() {
			s.scheduler.takeNext()
			s.resume()
		}
		defer s.scheduler.wait()
	}
	s.createFrom(d, first)
}

// createFrom starts to create the copies of a document, beginning with the copy first. createFrom defers the other
// copies while one copy is rechecked after a refusal, because they would get the same refusal.
func (s *Session) createFrom(d *task, first int) {
	for n := first; n < d.copies; n++ {
		s.scheduler.makeRoom(func() bool { return s.breakers.uncertain(d) })
		switch {
		case s.ctx.Err() != nil || !s.breakers.allow(d):
			s.giveUp(d, n)
			return
		case d.rechecking > 0:
			s.scheduler.deferred = append(s.scheduler.deferred, deferred{d, n})
			return
		}
		if d.place.breaker.probing {
			s.warn("an object of %s used up its --retry-timeout. Until the server creates one, the plugin sends each "+
				"of the next objects once, without retries.", d.place.Place)
		}
		j := s.job(d, n)
		s.review(j)
		j.withState = s.takesState(j)
		s.scheduler.start(s.breakers.start(j))
	}
}

func (s *Session) job(d *task, n int) job {
	j := job{task: d, id: s.id(d, n)}
	if s.config.Key != "" {
		j.existing = s.key.Existing(d.place.in, j.id)
	}
	return j
}

// giveUp gives up the copies of a document, beginning with the copy first. giveUp reports copies that the
// run has listed as existing. If a copy must be read and no request is allowed, it counts as not attempted.
func (s *Session) giveUp(d *task, first int) {
	silent := s.ctx.Err() != nil || !s.breakers.allowRequests(d)
	listed := s.config.Key != "" && (!s.config.FullObjects || !silent)
	missed := 0
	for n := first; n < d.copies; n++ {
		var j job
		if listed {
			j = s.job(d, n)
		}
		if j.existing == nil {
			missed++
			continue
		}
		j.reportOnly = true
		s.scheduler.makeRoom(func() bool { return false })
		s.scheduler.start(s.breakers.start(j))
	}
	if missed > 0 {
		o := d.outcome(NotAttempted)
		o.Copies = missed
		s.inFlight.count(0, s.config, o)
		s.emit(o)
	}
}

// resume continues with deferred copies whose documents are no longer rechecked.
func (s *Session) resume() {
	for _, c := range s.scheduler.ready() {
		s.create(c.task, c.first)
	}
}

// overlaps reports whether the document can be in progress together with others.
func (s *Session) overlaps(d *task) bool {
	return d.generated && s.config.Overlap && s.config.DryRun == NoDryRun
}

// flush waits for all jobs, and creates the deferred copies.
func (s *Session) flush() {
	for s.scheduler.busy() || len(s.scheduler.deferred) > 0 {
		s.scheduler.takeNext()
		s.resume()
	}
}

func (s *Session) take(taken report) {
	switch t := taken.(type) {
	case Warning:
		s.emit(t)
	case retried:
		s.emit(Retry{t.task.document, t.retry})
		if t.retry.Action == exactlyonce.Recheck {
			s.scheduler.recheck(t.task)
		} else {
			s.notRefused(t.task.place)
		}
	case ended:
		t.outcome.Job = t.job.number
		s.inFlight.count(t.job.number, s.config, t.outcome)
		s.emit(t.outcome)
		s.inFlight.end(t.job.number)
		s.scheduler.end(t)
		s.breakers.report(t, s.ctx.Err() != nil)
		s.note(t)
	case reviewed:
		s.reviews--
		t.place.permission.unreadable = !t.readable
		s.warnOfNoGet(t.place)
	}
}

func (s *Session) note(e ended) {
	d := e.job.task
	switch e.outcome.Outcome {
	case protocol.Created, protocol.Found:
		if e.job.existing != nil { // it was not sent
			return
		}
		s.notRefused(d.place)
		if slices.Contains(e.outcome.Stripped, exactlyonce.RunLabel) {
			s.end.Unlabelled++
		}
	case protocol.Failed, Renamed:
		if !d.refused {
			s.notRefused(d.place)
		}
	case protocol.Unknown:
		s.notRefused(d.place)
	}
}

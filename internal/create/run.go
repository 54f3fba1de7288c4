// Package create is the engine of the command create. Its Session takes batches of documents, and reports the outcome
// of each object as an event. It reads documents ahead of the creates. Several creates run at the same time if the
// order of the documents permits it. The package decides this order, sends the requests, and chooses whether the
// plugin or the server picks a name. The package compares a run with a key with the objects of earlier runs.
// internal/exactlyonce creates a single object. The package knows no flags and no streams.
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
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// readGrace is how long reading continues after an interrupt, so that the run can count the objects
// that it did not attempt.
const readGrace = time.Second

// Session is one run. Session creates the objects of the input, and continues after an object that fails. When its
// context is done, it sends nothing more, waits briefly for requests in flight, and counts the remaining objects of
// the input. Only the goroutine that calls Create and End accesses it, but for InFlight and Totals. Workers, reviews
// and the reader only send to its channels.
type Session struct {
	config   Config
	ctx      context.Context // done when the user interrupts
	stop     context.CancelFunc
	sink     func(Event)
	inFlight inFlight
	end      Summary

	reader    *reader
	readOver  <-chan time.Time // ends reading after an interrupt, when nothing is in flight anymore
	scheduler scheduler
	breakers  breakers
	reviews   int // reviews in progress
	places    []*place
	placeFor  map[idempotency.Place]*place

	unreadable map[schema.GroupVersionResource]NamingReason // reasons why the plugin can't pick names; empty if it can
	existing   map[inPlace]*idempotency.Existing            // objects of earlier runs with the key
	secret     derive.Secret                                // of the key
	states     int                                          // number of objects whose states are read
}

// New returns the session of a run. The caller must call End. The session passes all events to sink, in the
// goroutine that calls Create and End. A document that waits for earlier ones is sent only after their
// events were handled.
func New(ctx context.Context, client *Client, config Config, sink func(Event)) *Session {
	config.client = client
	return newSession(ctx, config, sink)
}

func newSession(ctx context.Context, config Config, sink func(Event)) *Session {
	ctx, stop := context.WithCancel(ctx)
	s := &Session{
		config: config, ctx: ctx, stop: stop, sink: sink,
		placeFor: map[idempotency.Place]*place{}, unreadable: map[schema.GroupVersionResource]NamingReason{},
	}
	reports := make(chan report)
	s.scheduler = scheduler{
		jobs: make(chan job), reports: reports, take: s.take, limit: config.Concurrency,
		create: (&worker{s.config, ctx, &s.inFlight, reports}).create,
	}
	s.breakers = breakers{end: &s.end}
	return s
}

// Create creates the documents of a batch, and returns when all of them have ended. Create returns ErrUnread if an
// interrupt left a part of the batch unread. The batch of a run with a key is its whole input.
func (s *Session) Create(batch iter.Seq2[*Document, error]) error {
	s.reader = read(batch)
	s.inFlight.readBy(s.reader)
	if s.config.Key != "" {
		(&keyed{Session: s, documents: map[derive.Object][]*Document{}}).create()
	} else {
		s.inOrder()
	}
	if s.end.Unread {
		return ErrUnread
	}
	return nil
}

// End ends the session.
func (s *Session) End() Summary {
	s.endReviews()
	s.stop()
	close(s.scheduler.jobs)
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	s.end.Tally = s.inFlight.tally
	return s.end
}

func (s *Session) emit(e Event) { s.sink(e) }

func (s *Session) warn(code WarningCode, args ...any) { s.emit(Warning{code, args}) }

// problem reports an error that does not belong to one object.
func (s *Session) problem(err error) { s.emit(Problem{Err: err, After: s.end.Documents}) }

// inOrder creates the documents of the input one after the other.
func (s *Session) inOrder() {
	s.eachStep(func(next Step) {
		switch {
		case next.Err != nil:
			s.problem(next.Err)
		case s.prepare(next.Document):
			s.create(next.Document, 0)
		}
	})
	s.settle()
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
			s.reader.taken()
			return next, more
		case <-interrupted:
		case <-s.readOver:
			s.reader.abandon()
			s.end.Unread = true
			return Step{}, false
		}
	}
}

// prepare decides how to create the document. prepare returns false if the document can't be created.
func (s *Session) prepare(d *Document) bool {
	s.expect(d)
	s.end.Documents = d.Number
	d.place = s.placeOf(d)
	var err error
	d.byServer, err = s.serverNaming(d)
	if err != nil {
		s.inFlight.drop(d)
		s.problem(err)
	}
	return err == nil
}

// expect counts the document and its copies. Any goroutine can call it.
func (s *Session) expect(d *Document) {
	d.Copies = 1
	d.canCarryID = exactlyonce.CanCarry(d.Object)
	d.generated = d.canCarryID && d.Object.GetName() == ""
	if d.generated {
		d.Copies = s.config.Copies
	}
	if d.Copies > 1 {
		d.template = exactlyonce.NewTemplate(d.Object)
	}
	s.inFlight.expect(d)
}

// create starts to create the copies of a document, beginning with the copy first. A document that does
// not overlap waits for all earlier ones, and later documents wait for it. A document with a fixed name
// also waits for deferred copies.
func (s *Session) create(d *Document, first int) {
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
func (s *Session) createFrom(d *Document, first int) {
	for n := first; n < d.Copies; n++ {
		s.scheduler.makeRoom(func() bool { return s.breakers.uncertain(d) })
		switch {
		case s.ctx.Err() != nil || !s.breakers.allow(d):
			s.forgo(d, n)
			return
		case d.rechecking > 0:
			s.scheduler.deferred = append(s.scheduler.deferred, deferred{d, n})
			return
		}
		if d.place.breaker.probing {
			s.warn(Probing, d.place.Place)
		}
		j := s.job(d, n)
		s.review(j)
		j.withState = s.takesState(j)
		s.scheduler.start(s.breakers.start(j))
	}
}

// job returns the job of the document's n-th copy.
func (s *Session) job(d *Document, n int) job {
	j := job{document: d, id: s.id(d, n)}
	if id := j.id.String(); id != "" {
		j.existing = s.existing[inPlace{d.place.Place, id}]
	}
	return j
}

// forgo gives up the copies of a document, beginning with the copy first. Copies in the run's list are
// reported as existing. If they must be read and no request is allowed, they count as not attempted.
func (s *Session) forgo(d *Document, first int) {
	silent := s.ctx.Err() != nil || !s.breakers.allowRequests(d)
	listed := len(s.existing) > 0 && (!s.config.Whole || !silent)
	missed := 0
	for n := first; n < d.Copies; n++ {
		var j job
		if listed {
			j = s.job(d, n)
		}
		if j.existing == nil {
			missed++
			continue
		}
		j.unsent = true
		s.scheduler.makeRoom(func() bool { return false })
		s.scheduler.start(s.breakers.start(j))
	}
	if missed > 0 {
		o := Outcome{Document: d, Kind: NotAttempted, Copies: missed}
		s.inFlight.count(0, s.config, o)
		s.emit(o)
	}
}

// resume continues with deferred copies whose documents are no longer rechecked.
func (s *Session) resume() {
	for _, c := range s.scheduler.ready() {
		s.create(c.document, c.first)
	}
}

// overlaps reports whether the document can be in progress together with others.
func (s *Session) overlaps(d *Document) bool {
	return d.generated && s.config.Overlap && s.config.DryRun == NoDryRun
}

// settle waits for all jobs, and creates the deferred copies.
func (s *Session) settle() {
	for s.scheduler.busy() || len(s.scheduler.deferred) > 0 {
		s.scheduler.takeNext()
		s.resume()
	}
}

// take handles a report.
func (s *Session) take(taken report) {
	switch t := taken.(type) {
	case Warning:
		s.emit(t)
	case Retry:
		s.emit(t)
		if t.Retry.Action == exactlyonce.Recheck {
			s.scheduler.recheck(t.Document)
		} else {
			s.notRefused(t.Document.place)
		}
	case ended:
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

// note updates the run with the outcome of an object.
func (s *Session) note(e ended) {
	d := e.job.document
	switch e.outcome.Kind {
	case Created, Existed:
		if e.job.existing != nil { // it was not sent
			return
		}
		s.notRefused(d.place)
		if slices.Contains(e.outcome.Result.Stripped, exactlyonce.RunLabel) {
			s.end.Unlabelled++
		}
	case Failed, Renamed:
		if !d.refused {
			s.notRefused(d.place)
		}
	case Unknown:
		s.notRefused(d.place)
	}
}

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
)

// Session is one run. New makes it.
type Session struct {
	config   Config
	inFlight inFlight
}

// New returns the session of a run.
func New(client *Client, config Config) *Session {
	config.client = client
	return &Session{config: config}
}

// Run creates the objects of the input, and continues after an object that fails. When ctx is done, it
// sends nothing more, waits briefly for requests in flight, and counts the remaining objects of the
// input. A document that waits for earlier ones is sent only after their events were handled. The run
// stops when its caller stops taking events.
func (s *Session) Run(ctx context.Context, input iter.Seq2[Item, error]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		r := newRun(ctx, stop, s, input, yield)
		defer close(r.scheduler.jobs)
		if s.config.Key != "" {
			(&keyed{run: r, numbers: map[equal]int{}, reported: map[inPlace]bool{}}).create()
		} else {
			r.inOrder()
		}
		r.endReviews()
		r.end.Tally = s.inFlight.tally
		r.emit(r.end)
	}
}

// readGrace is how long reading continues after an interrupt, so that the run can count the objects
// that it did not attempt.
const readGrace = time.Second

// run is one run. Only the goroutine of the caller accesses it. Workers, reviews and the reader only
// send to its channels.
type run struct {
	*Session
	ctx   context.Context // done when the user interrupts, or stops taking events
	stop  context.CancelFunc
	yield func(Event) bool // nil once it has returned false
	end   Summary

	reader    *reader
	readOver  <-chan time.Time // ends reading after an interrupt, when nothing is in flight anymore
	scheduler scheduler
	breakers  breakers
	reviews   int // reviews in progress
	places    []*place
	placeFor  map[idempotency.Place]*place

	unreadable map[schema.GroupVersionResource]NamingReason // reasons why the plugin can't pick names; empty if it can
	changed    bool                                         // something was created since the last Item.Reached
	existing   map[inPlace][]idempotency.Existing           // objects of earlier runs with the key
	states     int                                          // number of objects whose states are read
}

func newRun(
	ctx context.Context, stop context.CancelFunc, s *Session, input iter.Seq2[Item, error], yield func(Event) bool,
) *run {
	r := &run{
		Session: s, ctx: ctx, stop: stop, yield: yield, reader: read(input),
		placeFor: map[idempotency.Place]*place{}, unreadable: map[schema.GroupVersionResource]NamingReason{},
	}
	reports := make(chan report)
	r.scheduler = scheduler{
		jobs: make(chan job), reports: reports, take: r.take, limit: s.config.Concurrency,
		create: (&worker{s, ctx, reports}).create,
	}
	r.breakers = breakers{end: &r.end}
	return r
}

func (r *run) emit(e Event) {
	if r.yield != nil && !r.yield(e) {
		r.yield = nil
		r.stop()
	}
}

func (r *run) warn(code WarningCode, args ...any) { r.emit(Warning{code, args}) }

// problem reports an error that does not belong to one object.
func (r *run) problem(err error) { r.emit(Problem{Err: err, After: r.end.Documents}) }

// inOrder creates the documents of the input one after the other.
func (r *run) inOrder() {
	r.eachStep(func(s step) {
		switch {
		case s.err != nil:
			r.problem(s.err)
		case s.item.Document == nil:
			r.settle()
			s.item.Reached(r.changed)
			r.changed = false
		default:
			if d := s.item.Document; r.prepare(d) {
				r.create(d, 0)
			}
		}
	})
	r.settle()
}

// eachStep calls do for every step of the input, until the input ends. After an interrupt it stops
// when the reading time is over.
func (r *run) eachStep(do func(step)) {
	for {
		switch s, more := r.nextStep(); {
		case !more:
			return
		case errors.Is(s.err, ErrUnread):
			r.end.Unread = true
		default:
			do(s)
		}
	}
}

// nextStep waits for the next step, and takes reports in the meantime. Reports go first because they
// can stop the next steps.
func (r *run) nextStep() (s step, more bool) {
	for {
		r.scheduler.takeReady()
		r.resume()
		interrupted := r.ctx.Done()
		if r.ctx.Err() != nil {
			interrupted = nil
			if r.readOver == nil && !r.scheduler.busy() {
				r.readOver = time.After(readGrace)
			}
		}
		select {
		case report := <-r.scheduler.reports:
			r.take(report)
		case s, more = <-r.reader.items:
			r.reader.taken()
			return s, more
		case <-interrupted:
		case <-r.readOver:
			r.reader.abandon()
			r.end.Unread = true
			return step{}, false
		}
	}
}

// prepare decides how to create the document. It returns false if the document can't be created.
func (r *run) prepare(d *Document) bool {
	r.end.Documents++
	d.Number, d.Copies = r.end.Documents, 1
	d.place = r.placeOf(d)
	d.canCarryID = exactlyonce.CanCarry(d.Object)
	d.generated = d.canCarryID && d.Object.GetName() == ""
	if d.generated {
		d.Copies = r.config.Copies
	}
	var err error
	d.byServer, err = r.serverNaming(d)
	if err != nil {
		r.problem(err)
	}
	return err == nil
}

// create starts to create the copies of a document, beginning with the copy first. A document that does
// not overlap waits for all earlier ones, and later documents wait for it. A document with a fixed name
// also waits for deferred copies.
func (r *run) create(d *Document, first int) {
	if !r.overlaps(d) {
		for r.scheduler.wait(); !d.generated && len(r.scheduler.deferred) > 0; r.scheduler.wait() {
			r.scheduler.takeNext()
			r.resume()
		}
		defer r.scheduler.wait()
	}
	r.createFrom(d, first)
}

// createFrom starts to create the copies of a document, beginning with the copy first. It defers the
// other copies while one copy is rechecked after a refusal, because they would get the same refusal.
func (r *run) createFrom(d *Document, first int) {
	for n := first; n < d.Copies; n++ {
		r.scheduler.makeRoom(func() bool { return r.breakers.uncertain(d) })
		switch {
		case r.ctx.Err() != nil || !r.breakers.allow(d):
			r.forgo(d, n)
			return
		case d.rechecking > 0:
			r.scheduler.deferred = append(r.scheduler.deferred, deferred{d, n})
			return
		}
		if d.place.breaker.probing {
			r.warn(Probing, d.place.Place)
		}
		j := r.job(d, n)
		r.review(j)
		j.withState = r.takesState(j)
		r.scheduler.start(r.breakers.start(j))
	}
}

// job returns the job of the document's n-th copy.
func (r *run) job(d *Document, n int) job {
	j := job{document: d, id: r.config.id(d, n)}
	if id := j.id.String(); id != "" {
		j.existing = r.existing[inPlace{d.place.Place, id}]
	}
	return j
}

// forgo gives up the copies of a document, beginning with the copy first. Copies in the run's list are
// reported as existing. If they must be read and no request is allowed, they count as not attempted.
func (r *run) forgo(d *Document, first int) {
	silent := r.ctx.Err() != nil || !r.breakers.allowRequests(d)
	listed := len(r.existing) > 0 && (!r.config.Whole || !silent)
	missed := 0
	for n := first; n < d.Copies; n++ {
		var j job
		if listed {
			j = r.job(d, n)
		}
		if len(j.existing) == 0 {
			missed++
			continue
		}
		j.unsent = true
		r.scheduler.makeRoom(func() bool { return false })
		r.scheduler.start(r.breakers.start(j))
	}
	if missed > 0 {
		o := Outcome{Document: d, Kind: NotAttempted, Copies: missed}
		r.inFlight.count(0, r.config, o)
		r.emit(o)
	}
}

// resume continues with deferred copies whose documents are no longer rechecked.
func (r *run) resume() {
	for _, c := range r.scheduler.ready() {
		r.create(c.document, c.first)
	}
}

// overlaps reports whether the document can be in progress together with others.
func (r *run) overlaps(d *Document) bool {
	return d.generated && r.config.Overlap && r.config.DryRun == NoDryRun
}

// settle waits for all jobs, and creates the deferred copies.
func (r *run) settle() {
	for r.scheduler.busy() || len(r.scheduler.deferred) > 0 {
		r.scheduler.takeNext()
		r.resume()
	}
}

// take handles a report.
func (r *run) take(taken report) {
	switch t := taken.(type) {
	case Warning:
		r.emit(t)
	case Retry:
		r.emit(t)
		if t.Retry.Action == exactlyonce.Recheck {
			r.scheduler.recheck(t.Document)
		} else {
			r.notRefused(t.Document.place)
		}
	case ended:
		r.inFlight.count(t.job.number, r.config, t.outcome)
		r.emit(t.outcome)
		r.inFlight.end(t.job.number)
		r.scheduler.end(t)
		r.breakers.report(t, r.ctx.Err() != nil)
		r.note(t)
	case reviewed:
		r.reviews--
		t.place.permission.unreadable = !t.readable
		r.warnOfNoGet(t.place)
	}
}

// note updates the run with the outcome of an object.
func (r *run) note(e ended) {
	d := e.job.document
	stripped := e.outcome.Result.Stripped
	switch e.outcome.Kind {
	case Created:
		r.changed, d.place.created = true, true
		r.notRefused(d.place)
		r.countLabel(stripped)
	case Existed:
		if len(stripped) > 0 {
			r.notRefused(d.place)
			r.countLabel(stripped)
		}
	case Failed, Renamed:
		if !d.refused {
			r.notRefused(d.place)
		}
	case Unknown:
		r.notRefused(d.place)
	}
}

// countLabel counts objects that lack the run's label.
func (r *run) countLabel(lost []string) {
	if slices.Contains(lost, exactlyonce.RunLabel) {
		r.end.Unlabelled++
	}
}

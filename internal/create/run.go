package create

import (
	"context"
	"errors"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Run creates the objects of the input, and goes on after one that fails. When
// ctx is done, nothing more is sent, what is in flight is followed for a moment,
// and what is left of the input is counted. Events are handled before the next
// document is sent that waits for those before it. Whoever stops taking events
// stops the run.
func Run(ctx context.Context, config Config, input iter.Seq2[Item, error]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		r := &run{
			config: config, ctx: ctx, stop: stop, yield: yield,
			reader: read(input), jobs: make(chan job), reports: make(chan report),
			unreadable: map[schema.GroupVersionResource]NamingReason{}, numbers: map[equal]int{},
			breakers: map[idempotency.Place]*breaker{}, told: map[inPlace]bool{},
		}
		defer close(r.jobs)
		if config.Key != "" {
			r.repeatably()
		} else {
			r.inOrder()
		}
		r.endReviews()
		r.emit(r.end)
	}
}

// run is one run: what is in flight, and what has become of the objects so far.
// One goroutine has it, that of the caller; workers and the reader only send to
// its channels.
type run struct {
	config Config
	ctx    context.Context // done when the user interrupts, or stops taking events
	stop   context.CancelFunc
	yield  func(Event) bool // nil once it has returned false

	reader  *reader
	jobs    chan job
	reports chan report
	workers int

	inFlight  int   // creates that what follows may have to wait for
	lingering int   // creates that it does not: what was refused is looked for again
	aside     []job // the first copies that were not started, while others were looked for again
	changed   bool  // something was created since the last Item.Reached
	// readUntil is when reading ends after an interrupt; zero while it need not.
	readUntil time.Time

	unreadable map[schema.GroupVersionResource]NamingReason // why names cannot be picked here, if they cannot
	breakers   map[idempotency.Place]*breaker
	end        End

	unauthorized int // objects refused for it, one after the other

	reviews int // how many rights are being asked about

	// Of a run with a key:

	numbers  map[equal]int
	existing map[inPlace][]idempotency.Existing // what has been created before
	told     map[inPlace]bool                   // of which there are several, as was said
	versions map[idempotency.Place]schema.GroupVersionResource
}

// equal is what equal documents have in common.
type equal struct {
	place  idempotency.Place
	digest digest.Sum
}

// maxLingering bounds the creates that a run goes on without.
const maxLingering = 1000

func (r *run) emit(e Event) {
	if r.yield != nil && !r.yield(e) {
		r.yield = nil
		r.stop()
	}
}

// problem tells of an error that is not one of an object.
func (r *run) problem(err error) { r.emit(Problem{Err: err, After: r.end.Documents}) }

// inOrder creates one document of the input after the other.
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
				r.create(job{document: d})
			}
		}
	})
	r.settle()
}

// eachStep calls do for every step of the input, until its end or, after an
// interrupt, until nothing has come for a while.
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

// nextStep waits for the next step, and meanwhile takes the reports of what is
// in flight, which go first: they may stop what follows.
func (r *run) nextStep() (s step, more bool) {
	for {
		r.takeReady()
		r.resume()
		interrupted, over := r.ctx.Done(), (<-chan time.Time)(nil)
		if r.ctx.Err() != nil {
			interrupted = nil
		}
		if r.ctx.Err() != nil && r.inFlight+r.lingering == 0 {
			left := r.readingLeft()
			if left <= 0 {
				r.reader.abandon()
				r.end.Unread = true
				return step{}, false
			}
			over = time.After(left)
		}
		select {
		case report := <-r.reports:
			r.take(report)
		case s, more = <-r.reader.items:
			r.reader.taken()
			return s, more
		case <-interrupted:
		case <-over:
		}
	}
}

// readingLeft returns how long reading may still go on after an interrupt, from
// the moment on that nothing is in flight any more.
func (r *run) readingLeft() time.Duration {
	if r.readUntil.IsZero() {
		r.readUntil = time.Now().Add(r.config.ReadGrace)
	}
	return time.Until(r.readUntil)
}

// prepare finds out how the document is to be created. It is false if it
// cannot be.
func (r *run) prepare(d *Document) bool {
	r.end.Documents++
	d.Number, d.Copies = r.end.Documents, 1
	d.place = idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	d.markable = once.CanCarry(d.Object)
	d.generated = d.markable && d.Object.GetName() == ""
	if d.generated {
		d.Copies = r.config.Copies
	}
	var err error
	if d.byServer, err = r.serverNaming(d); err == nil && r.config.Key != "" {
		err = r.number(d)
	}
	if err != nil {
		r.problem(err)
	}
	return err == nil
}

// create starts to create the copies of a document from j on. One that may not
// overlap waits for those before it, and those after it wait for it; one with a
// name of its own also waits for copies that were put aside.
func (r *run) create(j job) {
	if d := j.document; !r.overlaps(d) {
		for r.wait(); !d.generated && len(r.aside) > 0; r.wait() {
			r.takeNext()
			r.resume()
		}
		defer r.wait()
	}
	r.createFrom(j)
}

// createFrom starts to create the copies of a document from j on. While one of
// them is looked for again after a refusal, which the others would get too, they
// are put aside.
func (r *run) createFrom(j job) {
	d := j.document
	for ; j.copy < d.Copies; j.copy++ {
		for r.full() || r.enoughProbes(d) {
			r.take(<-r.reports)
		}
		r.takeReady()
		switch {
		case r.blocked(d):
			r.forgo(j)
			return
		case d.doubted > 0:
			r.aside = append(r.aside, j)
			return
		}
		if j.probe = r.breakerAt(d).probing; j.probe {
			r.emit(Probing{d.place})
		}
		r.start(j)
	}
}

// full reports whether nothing more may be started now.
func (r *run) full() bool {
	return r.inFlight == r.config.Concurrency || r.lingering >= maxLingering
}

// forgo gives up the copies of a document from j on. Those that the run's list
// has shown are told to be there, unless they had to be read for it and nothing
// may be sent.
func (r *run) forgo(j job) {
	d, missed := j.document, 0
	j.probe, j.unsent = false, true
	for ; j.copy < d.Copies; j.copy++ {
		if !r.listed(j) || r.config.Whole && r.silent(d) {
			missed++
			continue
		}
		for r.full() {
			r.take(<-r.reports)
		}
		r.start(j)
	}
	if missed > 0 {
		r.emit(NotAttempted{d, missed})
	}
}

// resume goes on with copies that were put aside, when none of their documents'
// is looked for any more.
func (r *run) resume() {
	aside := r.aside
	r.aside = nil
	for _, j := range aside {
		if j.document.doubted > 0 {
			r.aside = append(r.aside, j)
		} else {
			r.create(j)
		}
	}
}

// overlaps reports whether the document may be in flight together with others.
func (r *run) overlaps(d *Document) bool {
	return d.generated && r.config.Overlap && r.config.DryRun == NoDryRun
}

// wait waits for what is in flight, but not for what lingers.
func (r *run) wait() {
	for r.inFlight > 0 {
		r.take(<-r.reports)
	}
}

// settle waits for everything, and creates what was put aside.
func (r *run) settle() {
	for r.inFlight+r.lingering+len(r.aside) > 0 {
		r.takeNext()
		r.resume()
	}
}

// takeNext waits for the next report, if there is anything to wait for.
func (r *run) takeNext() {
	if r.inFlight+r.lingering > 0 {
		r.take(<-r.reports)
	}
}

// takeReady takes the reports that are there, without waiting.
func (r *run) takeReady() {
	for {
		select {
		case report := <-r.reports:
			r.take(report)
		default:
			return
		}
	}
}

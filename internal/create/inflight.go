package create

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// pending is an object that was sent or is about to be, and whose outcome the caller has not handled yet.
type pending struct {
	// outcome is Unknown until the create has ended, with the name that was sent last, or unsentName. The name is empty
	// if the server picks it.
	outcome Outcome
	counted bool // in the tally
}

// uncounted are the copies of a task that are not in the tally.
type uncounted struct {
	task   *task
	copies int
}

// inFlight has the objects in flight by the number of their job, and the tally of all that have ended.
type inFlight struct {
	mu        sync.Mutex
	pending   map[int]pending
	tally     Tally
	uncounted map[int]uncounted // by the number of the document
	documents int
	abandoned bool // the tally is final
}

// expect numbers the task of the next document of the input, and records its copies.
func (f *inFlight) expect(t *task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.documents++
	t.number = f.documents
	f.uncounted[t.number] = uncounted{t, t.copies}
}

func (f *inFlight) drop(t *task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.uncounted, t.number)
}

// begin records an object that is sent, under its first name.
func (f *inFlight) begin(number int, t *task, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := t.outcome(protocol.Unknown)
	o.Job, o.Name = number, name
	f.pending[number] = pending{outcome: o}
}

// count counts the outcome of an object. number is 0 if the object has no job.
func (f *inFlight) count(number int, c Config, o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(c, o)
	if p, is := f.pending[number]; is {
		p.counted = true
		f.pending[number] = p
	}
}

func (f *inFlight) add(c Config, o Outcome) {
	if f.abandoned {
		return
	}
	f.tally.Add(c, o)
	of := f.uncounted[o.Number]
	if of.copies -= o.Copies; of.copies <= 0 {
		delete(f.uncounted, o.Number)
	} else {
		f.uncounted[o.Number] = of
	}
}

func (f *inFlight) rename(number int, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, is := f.pending[number]; is {
		p.outcome.Name = name
		f.pending[number] = p
	}
}

// finish records the outcome of a create, which the run counts and prints later.
func (f *inFlight) finish(number int, o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, is := f.pending[number]; is {
		o.Job = number
		p.outcome = o
		f.pending[number] = p
	}
}

// end removes an object whose outcome was handled.
func (f *inFlight) end(number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pending, number)
}

// InFlight returns the outcomes that the caller has not handled yet, in the order of the input. A create in progress is
// unknown. Any goroutine can call it, also while the run hangs.
func (s *Session) InFlight() []Outcome {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	return s.inFlight.outcomes()
}

func (f *inFlight) outcomes() (all []Outcome) {
	for _, number := range slices.Sorted(maps.Keys(f.pending)) {
		all = append(all, f.pending[number].outcome)
	}
	return inOrder(all)
}

func inOrder(all []Outcome) []Outcome {
	slices.SortStableFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// Abandon returns the summary of a run that hangs. Its Unseen are the outcomes of InFlight. For each
// document that was read, Unseen also has the copies that were not started, as not attempted. Any goroutine
// can call it. The run counts nothing afterwards.
func (s *Session) Abandon() Summary {
	f := &s.inFlight
	unread := s.readRest()
	f.mu.Lock()
	defer f.mu.Unlock()
	unseen := f.outcomes()
	for _, o := range unseen {
		if !f.pending[o.Job].counted {
			f.add(s.config, o)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(f.uncounted)) {
		o := f.uncounted[number].task.outcome(NotAttempted)
		o.Copies = f.uncounted[number].copies
		f.add(s.config, o)
		unseen = append(unseen, o)
	}
	f.abandoned = true
	return Summary{Tally: f.tally, Documents: f.documents, Unread: unread, Unseen: inOrder(unseen)}
}

// readRest reads the documents that a hanging run has not read yet, so that they count as not attempted. unread is true
// if reading takes too long, has not begun, or ended before the input.
func (s *Session) readRest() (unread bool) {
	for over := time.After(readGrace); ; {
		select {
		case next, more := <-s.reader.documents:
			switch {
			case !more:
				return unread
			case errors.Is(next.Err, ErrUnread):
				unread = true
			case next.Document != nil:
				s.inFlight.expect(newTask(next.Document, s.config))
			}
		case <-over:
			return true
		}
	}
}

// Totals counts the outcomes up to now.
func (s *Session) Totals() Totals {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	return maps.Clone(s.inFlight.tally.Totals)
}

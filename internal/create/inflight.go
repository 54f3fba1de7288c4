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

// Sent is an object that was sent or is about to be, and whose outcome the caller has not handled yet.
type Sent struct {
	Document *Document
	Name     string // the name that was sent last, or unsentName; empty if the server picks it
	Stored   bool   // the object exists

	task    *task
	outcome *Outcome // outcome of the create, nil until it has ended
	counted bool     // in the tally
}

// left are the copies of a task that are not in the tally.
type left struct {
	task   *task
	copies int
}

// inFlight has the objects in flight by the number of their job, and the tally of all that have ended. Its
// zero value is ready for use.
type inFlight struct {
	mu        sync.Mutex
	sent      map[int]Sent
	tally     Tally
	left      map[int]left // what is not in the tally yet, by the number of the document
	documents int
	abandoned bool // the tally is final
}

// expect numbers the task of the next document of the input, and records its copies.
func (f *inFlight) expect(t *task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == nil {
		f.left = map[int]left{}
	}
	f.documents++
	t.number = f.documents
	f.left[t.number] = left{t, t.copies}
}

func (f *inFlight) drop(t *task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.left, t.number)
}

// begin records an object that is sent, under its first name.
func (f *inFlight) begin(number int, t *task, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[int]Sent{}
	}
	f.sent[number] = Sent{Document: t.Document, Name: name, task: t}
}

// count counts the outcome of an object. number is 0 if it has no job.
func (f *inFlight) count(number int, c Config, o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(c, o)
	if sent, is := f.sent[number]; is {
		sent.counted = true
		f.sent[number] = sent
	}
}

func (f *inFlight) add(c Config, o Outcome) {
	if f.abandoned {
		return
	}
	f.tally.Add(c, o)
	of := f.left[o.Number]
	if of.copies -= o.Copies; of.copies <= 0 {
		delete(f.left, o.Number)
	} else {
		f.left[o.Number] = of
	}
}

func (f *inFlight) rename(number int, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sent, is := f.sent[number]; is {
		sent.Name = name
		f.sent[number] = sent
	}
}

// finish records the outcome of a create, which the run counts and prints later.
func (f *inFlight) finish(number int, o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sent, is := f.sent[number]; is {
		sent.outcome = &o
		sent.Stored = o.Outcome == protocol.Created || o.Outcome == protocol.Found || o.Outcome == Renamed
		switch {
		case sent.Stored && o.Object != nil:
			sent.Name = o.Object.GetName()
		case sent.Stored:
			sent.Name = o.Name
		}
		f.sent[number] = sent
	}
}

// end removes an object whose outcome was handled.
func (f *inFlight) end(number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sent, number)
}

// InFlight returns the objects that exist or may exist, and whose outcome the caller has not handled yet, in
// the order of the input. Any goroutine can call it, also while the run hangs.
func (s *Session) InFlight() []Sent {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	return s.inFlight.objects()
}

func (f *inFlight) objects() (all []Sent) {
	for _, sent := range f.sent {
		if sent.Stored || sent.outcome == nil || sent.outcome.Outcome == protocol.Unknown {
			all = append(all, sent)
		}
	}
	slices.SortFunc(all, func(a, b Sent) int {
		return cmp.Or(cmp.Compare(a.task.number, b.task.number), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Abandon returns the summary of a run that hangs, and the objects of InFlight. Creates in progress count as
// unknown. Copies that were not started, of documents that were read, count as not attempted. Any goroutine can
// call it. The run counts nothing afterwards.
func (s *Session) Abandon() ([]Sent, Summary) {
	f := &s.inFlight
	unread := s.readRest()
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.objects()
	for _, sent := range f.sent {
		o := sent.task.outcome(protocol.Unknown)
		o.Name = sent.Name
		if sent.outcome != nil {
			o = *sent.outcome
		}
		if !sent.counted {
			f.add(s.config, o)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(f.left)) {
		o := f.left[number].task.outcome(NotAttempted)
		o.Copies = f.left[number].copies
		f.add(s.config, o)
	}
	f.abandoned = true
	return all, Summary{Tally: f.tally, Documents: f.documents, Unread: unread}
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

package create

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// Sent is an object that was sent, and whose outcome the caller has not handled yet.
type Sent struct {
	Document *Document
	Name     string // the name that was sent last; empty if the server picks it
	Stored   bool   // the object exists

	counted bool // in the tally
}

// inFlight has the objects in flight by the number of their job, and the tally of all that have ended. Its
// zero value is ready for use.
type inFlight struct {
	mu    sync.Mutex
	sent  map[int]Sent
	tally Tally
}

// begin records an object that is sent, under its first name.
func (f *inFlight) begin(number int, d *Document, id exactlyonce.ID) {
	name := d.Object.GetName()
	if name == "" && id.String() != "" {
		name = id.Name(d.Object.GetGenerateName(), 0)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[int]Sent{}
	}
	f.sent[number] = Sent{Document: d, Name: name}
}

// count counts the outcome of an object. number is 0 if it has no job.
func (f *inFlight) count(number int, c Config, o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tally.Add(c, o)
	if sent, is := f.sent[number]; is {
		sent.counted = true
		f.sent[number] = sent
	}
}

// rename records the name of the next attempt, or of the stored object.
func (f *inFlight) rename(number int, name string, stored bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sent, is := f.sent[number]; is {
		sent.Name, sent.Stored = name, stored
		f.sent[number] = sent
	}
}

// end removes an object whose outcome was handled, or that was not stored.
func (f *inFlight) end(number int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sent, number)
}

// InFlight returns the objects in flight in the order of the input, and the totals with them. Any goroutine
// can call it, also while the run hangs.
func (s *Session) InFlight() (all []Sent, totals Totals) {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	totals = s.inFlight.tally.Totals
	for _, sent := range s.inFlight.sent {
		all = append(all, sent)
		switch {
		case sent.counted:
		case sent.Stored:
			totals.Created++
		default:
			totals.Unknown++
		}
	}
	slices.SortFunc(all, func(a, b Sent) int {
		return cmp.Or(cmp.Compare(a.Document.Number, b.Document.Number), cmp.Compare(a.Name, b.Name))
	})
	return all, totals
}

// Totals counts the outcomes up to now.
func (s *Session) Totals() Totals {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	return s.inFlight.tally.Totals
}

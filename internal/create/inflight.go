package create

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Sent is an object that was sent, and whose outcome the caller has not handled yet.
type Sent struct {
	Document *Document
	Name     string // the name that was sent last; empty if the server picks it
	Stored   bool   // the object exists
}

// inFlight has the objects in flight by the number of their job. Its zero value is ready for use.
type inFlight struct {
	mu   sync.Mutex
	sent map[int]Sent
}

// begin records an object that is sent, under its first name.
func (f *inFlight) begin(number int, d *Document, id exactlyonce.ID) {
	name := d.Object.GetName()
	if name == "" && id.String() != "" {
		name = names.Candidate(d.Object.GetGenerateName(), id.String(), 0, names.SuffixLength)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[int]Sent{}
	}
	f.sent[number] = Sent{Document: d, Name: name}
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

// InFlight returns the objects in flight in the order of the input. Any goroutine can call it, also while
// the run hangs.
func (s *Session) InFlight() []Sent {
	s.inFlight.mu.Lock()
	defer s.inFlight.mu.Unlock()
	var all []Sent
	for _, sent := range s.inFlight.sent {
		all = append(all, sent)
	}
	slices.SortFunc(all, func(a, b Sent) int {
		return cmp.Or(cmp.Compare(a.Document.Number, b.Document.Number), cmp.Compare(a.Name, b.Name))
	})
	return all
}

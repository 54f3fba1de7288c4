package create

import "iter"

const (
	// readAhead is the number of documents that are read in advance. readAhead is small because each document can be as
	// large as the server accepts.
	readAhead = 16
	// readAtOnce is the number of documents that must be taken before the reader continues. Waking the
	// reader for each document would cost about as much as reading the document.
	readAtOnce = 8
)

// reader reads the input in its own goroutine. If reading hangs, documents stays empty.
type reader struct {
	documents chan Step
	room      chan struct{} // there is room for readAtOnce
	abandoned chan struct{}
}

// Step is a document of the input, or an error of reading.
type Step struct {
	Document *Document
	Err      error
}

func read(input iter.Seq2[*Document, error]) *reader {
	r := &reader{documents: make(chan Step, readAhead), room: make(chan struct{}, 1), abandoned: make(chan struct{})}
	go func() {
		defer close(r.documents)
		for document, err := range input {
			if !r.hand(Step{document, err}) {
				return
			}
		}
	}()
	return r
}

// hand passes on a step, and reports whether the run wants another one. If documents is full, it waits for
// room for readAtOnce steps.
func (r *reader) hand(s Step) bool {
	if len(r.documents) == readAhead {
		select {
		case <-r.room:
		case <-r.abandoned:
		}
	}
	select {
	case r.documents <- s:
		return true
	case <-r.abandoned:
		return false
	}
}

// taken must be called after each step that is taken from documents.
func (r *reader) taken() {
	if len(r.documents) == readAhead-readAtOnce {
		select {
		case r.room <- struct{}{}:
		default:
		}
	}
}

// abandon ends the reading at the next document, if any.
func (r *reader) abandon() { close(r.abandoned) }

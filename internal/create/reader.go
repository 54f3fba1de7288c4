package create

import (
	"iter"
	"time"
)

const (
	// readAhead is the number of documents that are read in advance. readAhead is small because each document can be as
	// large as the server accepts.
	readAhead = 16
	// readGrace is how long reading continues after an interrupt, so that the run can count the objects
	// that it did not attempt.
	readGrace = time.Second
)

// reader reads the input in its own goroutine. If reading hangs, documents stays empty.
type reader struct {
	documents chan Step
	flushes   chan chan<- struct{} // calls of flush; each returns when the session closes its channel
	abandoned chan struct{}
}

// Step is a document of the input, or an error of reading.
type Step struct {
	Document *Document
	Err      error
}

func newReader() *reader {
	return &reader{make(chan Step, readAhead), make(chan chan<- struct{}), make(chan struct{})}
}

func (r *reader) start(input iter.Seq2[*Document, error]) {
	go func() {
		defer close(r.documents)
		for document, err := range input {
			select {
			case r.documents <- Step{document, err}:
			case <-r.abandoned:
				return
			}
		}
	}()
}

// flush waits until the session has created all documents. flush returns false if the session takes no more.
func (r *reader) flush() bool {
	flushed := make(chan struct{})
	select {
	case r.flushes <- flushed:
		<-flushed
		return true
	case <-r.abandoned:
		return false
	}
}

// waiting returns the calls of flush if the session has taken all documents, and nil otherwise.
func (r *reader) waiting() <-chan chan<- struct{} {
	if len(r.documents) > 0 {
		return nil
	}
	return r.flushes
}

// abandon ends the reading at the next document, if any.
func (r *reader) abandon() { close(r.abandoned) }

package create

import "iter"

// readAhead is the number of documents that are read before their turn.
const readAhead = 64

// reader reads the input in a goroutine of its own, which may hang: then there
// is nothing in items.
type reader struct {
	items     chan step
	abandoned chan struct{}
}

// step is an item of the input, or an error of reading.
type step struct {
	item Item
	err  error
}

func read(input iter.Seq2[Item, error]) *reader {
	r := &reader{items: make(chan step, readAhead), abandoned: make(chan struct{})}
	go func() {
		defer close(r.items)
		for item, err := range input {
			select {
			case r.items <- step{item, err}:
			case <-r.abandoned:
				return
			}
		}
	}()
	return r
}

// abandon ends the reading at the next item, if one ever comes.
func (r *reader) abandon() { close(r.abandoned) }

package create

import "iter"

const (
	// readAhead is the number of documents that are read before their turn. They
	// may be as long as a server takes them, so there are few.
	readAhead = 16
	// readAtOnce is how many of them are read when some were taken: to wake the
	// reader for each would cost about as much as to read it.
	readAtOnce = 8
)

// reader reads the input in a goroutine of its own, which may hang: then there
// is nothing in items.
type reader struct {
	items     chan step
	room      chan struct{} // there is room for readAtOnce
	abandoned chan struct{}
}

// step is an item of the input, or an error of reading.
type step struct {
	item Item
	err  error
}

func read(input iter.Seq2[Item, error]) *reader {
	r := &reader{items: make(chan step, readAhead), room: make(chan struct{}, 1), abandoned: make(chan struct{})}
	go func() {
		defer close(r.items)
		for item, err := range input {
			if !r.hand(step{item, err}) {
				return
			}
		}
	}()
	return r
}

// hand hands over a step, and reports whether another one is wanted. Where there is
// no room for it, it waits until there is for some.
func (r *reader) hand(s step) bool {
	if len(r.items) == readAhead {
		select {
		case <-r.room:
		case <-r.abandoned:
		}
	}
	select {
	case r.items <- s:
		return true
	case <-r.abandoned:
		return false
	}
}

// taken is called after each step that is taken from items.
func (r *reader) taken() {
	if len(r.items) == readAhead-readAtOnce {
		select {
		case r.room <- struct{}{}:
		default:
		}
	}
}

// abandon ends the reading at the next item, if one ever comes.
func (r *reader) abandon() { close(r.abandoned) }

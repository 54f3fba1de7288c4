package create

// queue returns the two ends of a channel without a limit. A sender never waits for the receiver, which can
// be the reader of a pipe.
func queue[T any]() (chan<- T, <-chan T) {
	in, out := make(chan T), make(chan T)
	go func() {
		defer close(out)
		var held []T
		for source := in; source != nil || len(held) > 0; {
			var first T
			var sink chan T
			if len(held) > 0 {
				first, sink = held[0], out
			}
			select {
			case value, more := <-source:
				if !more {
					source = nil
					continue
				}
				held = append(held, value)
			case sink <- first:
				held = held[1:]
			}
		}
	}()
	return in, out
}

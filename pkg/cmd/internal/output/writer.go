package output

import "io"

// CheckedWriter keeps the first error, because not every printer of kubectl returns it. A lost
// result is a failure.
type CheckedWriter struct {
	io.Writer
	err error
}

func (w *CheckedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Err returns the first error of a write.
func (w *CheckedWriter) Err() error { return w.err }

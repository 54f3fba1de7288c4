package output

import "io"

// CheckedWriter remembers the first error, because not every printer of
// kubectl's returns it: a result that is lost is no success.
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

package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	// loggedEvery is the interval of lines in a pipe. A CI system ends a job that prints nothing for minutes.
	loggedEvery = 30 * time.Second
	// progressWidth is the maximum width of the line. progressWidth leaves the last of 80 columns free, so that no
	// terminal begins another line.
	progressWidth = 79
)

// Voice is the only writer of a command's stderr. It writes permanent lines, and on a terminal a line of progress below
// them. Any goroutine can write. ShowProgress, LogProgress, End and Flush belong to one goroutine. No goroutine calls
// Queue during Flush.
type Voice struct {
	out io.Writer

	// Without a lock, because the reader of stderr can keep the holder of mu waiting.
	text   atomic.Pointer[string]
	silent atomic.Bool

	mu    sync.Mutex // guards shown, and the order of writes
	shown bool

	ended   chan struct{} // closed to erase the progress; nil if none is shown
	stopped sync.WaitGroup

	waiting sync.Mutex // guards queue
	queue   []string   // with the line that is being written
	queued  sync.WaitGroup
}

// NewVoice returns the writer of stderr.
func NewVoice(out io.Writer) *Voice { return &Voice{out: out} }

// Line writes a permanent line above the progress, and waits for the reader of stderr. On a terminal, it breaks a line
// that is too wide.
func (v *Voice) Line(text string) { v.Verbatim(Wrap(text, 0, TextWidth(v.out))) }

// Verbatim is Line for text of another program, like a log. It stays as it is.
func (v *Voice) Verbatim(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.silent.Load() {
		return
	}
	v.erase()
	fmt.Fprintln(v.out, text)
}

// Write writes whole lines.
func (v *Voice) Write(lines []byte) (int, error) {
	v.Line(strings.TrimSuffix(string(lines), "\n"))
	return len(lines), nil
}

// LineWithin is Line, but doesn't wait longer than limit.
func (v *Voice) LineWithin(limit time.Duration, text string) {
	Within(limit, func() { v.Line(text) })
}

// Within reports whether a function ends within limit. Otherwise the function goes on.
func Within(limit time.Duration, do func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// Queue writes a line after the earlier lines of the queue, and doesn't wait.
func (v *Voice) Queue(text string) {
	v.waiting.Lock()
	defer v.waiting.Unlock()
	if v.queue = append(v.queue, text); len(v.queue) == 1 {
		v.queued.Go(func() { v.writeQueue(text) })
	}
}

func (v *Voice) writeQueue(first string) {
	for more := true; more; {
		v.Line(first)
		v.waiting.Lock()
		v.queue = v.queue[1:]
		if more = len(v.queue) > 0; more {
			first = v.queue[0]
		}
		v.waiting.Unlock()
	}
}

// Flush waits until the lines of the queue are written.
func (v *Voice) Flush() { v.queued.Wait() }

// Silence drops all further lines, also those that wait for the reader.
func (v *Voice) Silence() { v.silent.Store(true) }

// ShowProgress begins to show the text of SetText after a second, if stderr is a terminal.
func (v *Voice) ShowProgress() {
	v.End()
	v.SetText("")
	if IsTerminal(v.out) {
		v.show()
	}
}

func (v *Voice) show() {
	ended := make(chan struct{})
	v.ended = ended
	v.stopped.Go(func() { v.refresh(ended) })
}

// LogProgress is ShowProgress. But if stderr is no terminal, it writes the text as a line every 30 s.
func (v *Voice) LogProgress() {
	if v.ShowProgress(); v.ended != nil {
		return
	}
	ended := make(chan struct{})
	v.ended = ended
	v.stopped.Go(func() {
		ticker := time.NewTicker(loggedEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				if text := *v.text.Load(); text != "" {
					v.Line(OneLine(text))
				}
			}
		}
	})
}

// ShowsProgress reports whether a terminal shows the text of SetText.
func (v *Voice) ShowsProgress() bool { return v.ended != nil }

// SetText sets the text of the progress.
func (v *Voice) SetText(text string) { v.text.Store(&text) }

// End erases the progress, so that it doesn't stand before text that is written later.
func (v *Voice) End() {
	if v.ended != nil {
		close(v.ended)
		v.ended = nil
	}
	v.stopped.Wait()
}

func (v *Voice) refresh(ended <-chan struct{}) {
	for wait := progressAfter; ; wait = progressEvery {
		select {
		case <-ended:
			v.mu.Lock()
			defer v.mu.Unlock()
			v.erase()
			v.shown = false
			return
		case <-time.After(wait):
			v.mu.Lock()
			v.rewrite(*v.text.Load())
			v.shown = true
			v.mu.Unlock()
		}
	}
}

// erase erases the progress if it is shown. The caller holds mu.
func (v *Voice) erase() {
	if v.shown {
		v.rewrite("")
		fmt.Fprint(v.out, "\r")
	}
}

func (v *Voice) rewrite(text string) {
	width := min(progressWidth, Width(v.out)-1)
	fmt.Fprintf(v.out, "\r%-*.*s", width, width, OneLine(text))
}

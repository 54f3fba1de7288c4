package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/width"
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

// Stderr is the only writer of a command's stderr. It writes permanent lines, and on a terminal a line of progress
// below them. Any goroutine can write. ShowProgress, LogProgress and End belong to one goroutine.
type Stderr struct {
	// Reaching are flags that each command to copy gets, so that it reaches the same cluster.
	Reaching string

	out io.Writer

	// Without a lock, because the reader of stderr can keep the holder of mu waiting.
	text  atomic.Pointer[string]
	muted atomic.Bool

	mu    sync.Mutex // guards shown, and the order of writes
	shown bool

	ended   chan struct{} // closed to erase the progress; nil if none is shown
	stopped sync.WaitGroup

	waiting sync.Mutex    // guards queue and written
	queue   []string      // includes the line that is being written
	written chan struct{} // closed when the queue is empty again
}

// NewStderr returns the writer of stderr.
func NewStderr(out io.Writer) *Stderr { return &Stderr{out: out} }

// Line writes a permanent line above the progress, and waits for the reader of stderr. On a terminal, it breaks a line
// that is too wide.
func (s *Stderr) Line(text string) { s.Verbatim(Wrap(s.Commands(text), 0, TextWidth(s.out))) }

// Commands returns the text with the flags of Reaching in the lines that are commands to copy (Hint).
func (s *Stderr) Commands(text string) string {
	if s.Reaching == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  kubectl ") {
			command, _, _ := strings.Cut(line, " -- ")
			command, _, _ = strings.Cut(command, "  # ")
			lines[i] = command + " " + s.Reaching + line[len(command):]
		}
	}
	return strings.Join(lines, "\n")
}

// Verbatim is Line for text of another program, like a log. Verbatim doesn't change the text.
func (s *Stderr) Verbatim(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.muted.Load() {
		return
	}
	s.erase()
	fmt.Fprintln(s.out, text)
}

// Write writes whole lines.
func (s *Stderr) Write(lines []byte) (int, error) {
	s.Line(strings.TrimSuffix(string(lines), "\n"))
	return len(lines), nil
}

// LineWithin is Line, but doesn't wait longer than limit.
func (s *Stderr) LineWithin(limit time.Duration, text string) {
	Within(limit, func() { s.Line(text) })
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
func (s *Stderr) Queue(text string) {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	if s.queue = append(s.queue, text); len(s.queue) == 1 {
		s.written = make(chan struct{})
		go s.writeQueue(text)
	}
}

func (s *Stderr) writeQueue(first string) {
	for more := true; more; {
		s.Line(first)
		s.waiting.Lock()
		s.queue = s.queue[1:]
		if more = len(s.queue) > 0; more {
			first = s.queue[0]
		} else {
			close(s.written)
		}
		s.waiting.Unlock()
	}
}

// Flush waits until the lines of the queue are written.
func (s *Stderr) Flush() {
	s.waiting.Lock()
	empty, written := len(s.queue) == 0, s.written
	s.waiting.Unlock()
	if !empty {
		<-written
	}
}

// Mute drops all further lines, also those that wait for the reader.
func (s *Stderr) Mute() { s.muted.Store(true) }

// ShowProgress begins to show the text of SetText after a second, if stderr is a terminal.
func (s *Stderr) ShowProgress() {
	s.End()
	s.SetText("")
	if IsTerminal(s.out) {
		s.show()
	}
}

func (s *Stderr) show() {
	ended := make(chan struct{})
	s.ended = ended
	s.stopped.Go(func() { s.refresh(ended) })
}

// LogProgress does the same as ShowProgress. If stderr is no terminal, it also writes the text as a line every 30 s.
func (s *Stderr) LogProgress() {
	if s.ShowProgress(); s.ended != nil {
		return
	}
	ended := make(chan struct{})
	s.ended = ended
	s.stopped.Go(func() {
		ticker := time.NewTicker(loggedEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				if text := *s.text.Load(); text != "" {
					s.Line(OneLine(text))
				}
			}
		}
	})
}

// ShowsProgress reports whether a terminal shows the text of SetText.
func (s *Stderr) ShowsProgress() bool { return s.ended != nil }

// SetText sets the text of the progress.
func (s *Stderr) SetText(text string) { s.text.Store(&text) }

// End erases the progress, so that it doesn't stand before text that is written later.
func (s *Stderr) End() {
	if s.ended != nil {
		close(s.ended)
		s.ended = nil
	}
	s.stopped.Wait()
}

func (s *Stderr) refresh(ended <-chan struct{}) {
	for wait := progressAfter; ; wait = progressEvery {
		select {
		case <-ended:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.erase()
			s.shown = false
			return
		case <-time.After(wait):
			s.mu.Lock()
			s.rewrite(*s.text.Load())
			s.shown = true
			s.mu.Unlock()
		}
	}
}

// erase erases the progress if it is shown. The caller must hold mu.
func (s *Stderr) erase() {
	if s.shown {
		s.rewrite("")
		fmt.Fprint(s.out, "\r")
	}
}

func (s *Stderr) rewrite(text string) {
	fmt.Fprint(s.out, "\r", fitted(OneLine(text), min(progressWidth, Width(s.out)-1)))
}

// fitted returns a text that is cut or padded to a number of columns. East Asian characters have two.
func fitted(text string, columns int) string {
	for i, r := range text {
		of := 1
		if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			of = 2
		}
		if of > columns {
			text = text[:i]
			break
		}
		columns -= of
	}
	return text + strings.Repeat(" ", columns)
}

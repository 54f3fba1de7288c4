package terminal

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	// progressWidth is the maximum width of the line. progressWidth leaves the last of 80 columns free, so that no
	// terminal begins another line.
	progressWidth = 79
)

// Progress shows the progress of long work on a terminal. Progress updates one line, and erases it at the end.
// Without a terminal, it shows nothing.
type Progress struct {
	out     io.Writer
	ended   chan struct{}
	stopped sync.WaitGroup

	text atomic.Pointer[string] // without a lock, because the terminal can be stopped

	mu    sync.Mutex // guards shown, and the terminal
	shown bool
}

// StartProgress starts to show the text of SetText after a second, if out is a terminal.
func StartProgress(out io.Writer) *Progress {
	p := &Progress{out: out, ended: make(chan struct{})}
	p.SetText("")
	if IsTerminal(out) {
		p.stopped.Go(p.show)
	}
	return p
}

// SetText sets the text of the line.
func (p *Progress) SetText(text string) { p.text.Store(&text) }

// Line writes a permanent line above the progress line.
func (p *Progress) Line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintln(p.out, text)
}

// End erases the line, so that it doesn't stand before text that is written later.
func (p *Progress) End() {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
	p.stopped.Wait()
}

// show writes the text every now and then, until the end.
func (p *Progress) show() {
	for wait := progressAfter; ; wait = progressEvery {
		select {
		case <-p.ended:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.erase()
			p.shown = false
			return
		case <-time.After(wait):
			p.mu.Lock()
			p.rewrite(*p.text.Load())
			p.shown = true
			p.mu.Unlock()
		}
	}
}

// erase erases the line if it is shown. The caller holds mu.
func (p *Progress) erase() {
	if p.shown {
		p.rewrite("")
		fmt.Fprint(p.out, "\r")
	}
}

// rewrite fills the line with text.
func (p *Progress) rewrite(text string) {
	width := min(progressWidth, Width(p.out)-1)
	fmt.Fprintf(p.out, "\r%-*.*s", width, width, OneLine(text))
}

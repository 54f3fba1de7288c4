package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
	// progressWidth leaves the last of 80 columns free, so that no terminal
	// begins another line.
	progressWidth = 79
)

// progress shows on a terminal how far long work is, in one line that is
// written again and again, and erased at the end. Elsewhere it shows nothing.
type progress struct {
	out     io.Writer
	ended   chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex // guards what follows, and the terminal
	text  string
	shown bool
}

func startProgress(out io.Writer) *progress {
	p := &progress{out: out, ended: make(chan struct{})}
	if isTerminal(out) {
		p.stopped.Go(p.show)
	}
	return p
}

// say sets what is shown.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// line writes a line of its own above what is shown.
func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.rewrite("")
		fmt.Fprint(p.out, "\r")
	}
	fmt.Fprintln(p.out, text)
}

// scan says how far a scan is.
func (p *progress) scan(at census.Progress) {
	text := fmt.Sprintf("%d of %s, %s", at.Done, count(at.Types, "type"), count(at.Objects, "object"))
	if at.Objects > 0 {
		text += ": " + at.Current.GroupResource().String()
	}
	p.say(text)
}

// end erases the line. What is written after it is alone on the terminal.
func (p *progress) end() {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
	p.stopped.Wait()
}

func (p *progress) show() {
	for wait := progressAfter; ; wait = progressEvery {
		select {
		case <-p.ended:
			if wait == progressEvery {
				p.rewrite("")
				fmt.Fprint(p.out, "\r")
			}
			return
		case <-time.After(wait):
			p.mu.Lock()
			p.rewrite(p.text)
			p.shown = true
			p.mu.Unlock()
		}
	}
}

// rewrite fills the line with text.
func (p *progress) rewrite(text string) {
	fmt.Fprintf(p.out, "\r%-*.*s", progressWidth, progressWidth, oneLine(text))
}

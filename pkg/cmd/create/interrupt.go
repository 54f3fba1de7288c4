package create

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const (
	// maxStopping is the time limit of the command after an interrupt. maxStopping has the grace period of the objects
	// in progress, and time to print their results.
	maxStopping = exactlyonce.Grace + 4*time.Second
	// sameInterrupt is the time in which further signals count as the first one. A CI runner can send a signal to
	// a process and to its group.
	sameInterrupt = time.Second
	// maxPrinting is the time limit for printing the last lines. The program that reads them might have stopped.
	maxPrinting = 500 * time.Millisecond
)

// interruptible runs the command. interruptible ends maxStopping after an interrupt, or at a second interrupt, even
// if something hangs. A credential plugin and a pipe without a reader take no context. Such a hanging call ends only
// with the process.
func (o *options) interruptible(ctx context.Context, run func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, exitcode.Signals()...)
	defer signal.Stop(again)
	limit := maxStopping
	if o.flags.deletes {
		limit += follow.MaxDeleting
	}
	began, over := time.Now(), time.After(limit)
	o.printInProgress()
	for {
		select {
		case err := <-done:
			return err
		case <-over:
			return o.giveUp("interrupted, but something does not respond, such as the server, a credential plugin or " +
				"the reader of the output")
		case <-again:
			if time.Since(began) > sameInterrupt {
				return o.giveUp("interrupted again")
			}
		}
	}
}

// printInProgress names the objects that the command waits for after an interrupt.
func (o *options) printInProgress() {
	run := o.running.Load()
	if run == nil {
		return
	}
	if unknown, stored := objectsOf(run.session.InFlight()); len(unknown)+len(stored) > 0 {
		text := fmt.Sprintf("Interrupted. Waiting up to %s for the responses of these creates. "+
			"To stop now, interrupt again:", maxStopping)
		o.stderr.LineWithin(maxPrinting, text+"\n  "+strings.Join(append(unknown, stored...), "\n  "))
	}
}

// objectsOf returns the objects whose outcome is unknown, and those that exist, as arguments of kubectl.
func objectsOf(outcomes []create.Outcome) (unknown, stored []string) {
	for _, o := range outcomes {
		switch argument := o.Document.Argument(likelyName(o)); o.Outcome {
		case protocol.Unknown:
			unknown = append(unknown, argument)
		case protocol.Created, protocol.Found, create.Renamed:
			stored = append(stored, argument)
		}
	}
	return unknown, stored
}

// giveUp ends the command while something hangs. giveUp prints the known state of the objects in progress, and the
// failures that were not printed.
func (o *options) giveUp(why string) error {
	e := &ending{flags: &o.flags, dryRun: o.DryRunStrategy, interrupted: true, hangs: why}
	if run := o.running.Load(); run != nil {
		isOurs := run.printer.takeLines()
		e.Summary = run.session.Abandon()
		e.Incomplete = e.Unread && o.flags.keys.Key != ""
		e.followed, e.left = run.follower.State(), run.follower.Ours()
		ends := e.followed.Failures
		for _, o := range e.followed.Objects {
			ends = append(ends, wait.Ended{Object: o, Result: wait.Interrupted})
		}
		e.areInLines = isOurs && run.printer.printUnseen(e.Unseen, ends)
	}
	o.stderr.LineWithin(maxPrinting, strings.Join(e.lastLines(), "\n"))
	o.stderr.Mute()
	return &exitcode.Error{Code: e.code()}
}

func (e *ending) lastLines() (lines []string) {
	for _, failed := range e.followed.Failures {
		lines = append(lines, terminal.Message(endOf(failed)))
	}
	slices.Sort(lines)
	lines = lines[:min(len(lines), maxShown)]
	unknown, stored := objectsOf(e.Unseen)
	for _, object := range stored {
		if !e.areInLines {
			lines = append(lines, terminal.Errorf(textNotPrinted, object, textInterrupted))
		}
	}
	for _, object := range unknown {
		lines = append(lines, terminal.Errorf(textOutcomeUnknown, object, textInterrupted))
	}
	if lines = append(lines, e.closing()...); !e.followed.Began.IsZero() {
		lines = append(lines, e.aboutWaitingAgain()...)
	}
	return append(lines, e.aboutStopping()...)
}

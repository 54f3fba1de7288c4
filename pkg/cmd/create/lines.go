package create

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// formatLines is the value of -o that prints a line of JSON for each object. kubectl doesn't have it.
const formatLines = "jsonl"

var outcomesInLines = map[protocol.Outcome]v1alpha1.CreateOutcome{
	protocol.Created:    v1alpha1.CreateCreated,
	protocol.Found:      v1alpha1.CreateExists,
	protocol.Failed:     v1alpha1.CreateFailed,
	protocol.Unknown:    v1alpha1.CreateUnknown,
	create.Renamed:      v1alpha1.CreateRenamed,
	create.NotAttempted: v1alpha1.CreateNotAttempted,
	create.Shown:        v1alpha1.CreateDryRun,
}

var resultsInLines = map[wait.Outcome]v1alpha1.CreateResult{
	wait.Succeeded:   v1alpha1.CreateSucceeded,
	wait.Failed:      v1alpha1.CreateHasFailed,
	wait.OutOfTime:   v1alpha1.CreateUnfinished,
	wait.Interrupted: v1alpha1.CreateUnfinished,
	wait.Deleted:     v1alpha1.CreateDeleted,
	wait.Replaced:    v1alpha1.CreateDeleted,
	wait.Abandoned:   v1alpha1.CreateUnread,
}

// printOutcome prints the line of an outcome. err is what stderr has about the object.
func (r *results) printOutcome(o create.Outcome, err error) error {
	line := lineOf(o, r.dryRun, err)
	if err := r.printer.printLines(o, line); err != nil {
		return ownError(fmt.Sprintf("the outcome of %s can't be printed: %v", o.Document.Argument(line.Name), err))
	}
	return nil
}

func lineOf(o create.Outcome, dryRun cmdutil.DryRunStrategy, err error) v1alpha1.CreateLine {
	line := v1alpha1.CreateLine{
		Outcome: outcomesInLines[o.Outcome], Namespace: o.Document.Namespace,
		Name:         cmp.Or(likelyName(o), o.Document.Object.GetName()),
		GenerateName: o.Document.Object.GetGenerateName(),
	}
	line.APIVersion, line.Kind = o.Document.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	switch {
	case dryRun == cmdutil.DryRunNone:
	case o.Outcome == protocol.Created:
		line.Outcome = v1alpha1.CreateDryRun
	case o.Outcome == protocol.Unknown: // nothing exists
		line.Outcome = v1alpha1.CreateFailed
	}
	switch o.Outcome {
	case protocol.Created, protocol.Found, create.Renamed:
		if o.Object != nil && dryRun == cmdutil.DryRunNone {
			line.UID = string(o.Object.GetUID())
		}
	}
	if err == nil && o.Err != nil {
		err = apistatus.Brief(o.Err)
	}
	if err != nil {
		line.Error = terminal.OneLine(err.Error())
	}
	return line
}

// printResult prints the line of an object whose wait has ended.
func (r *results) printResult(e follow.Ended) {
	line := v1alpha1.CreateLine{
		Result: resultsInLines[e.Outcome], Namespace: e.Object.Namespace, Name: e.Object.Name,
		UID: string(e.Object.UID),
	}
	line.APIVersion, line.Kind = e.Object.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	switch {
	case e.Err != nil:
		line.Error = terminal.OneLine(apistatus.Brief(e.Err).Error())
	case e.Outcome == wait.Failed:
		line.Error = strings.TrimLeft(why(wait.Ended(e)), " :")
	}
	if err := r.printer.printLines(create.Outcome{}, line); err != nil {
		err = ownError(fmt.Sprintf("the result of %s can't be printed: %v", nameOf(e.Object), err))
		r.errs = append(r.errs, placed{atEnd, err})
	}
}

// printLines prints the line of an outcome, or a line for each copy that was not attempted.
func (p *printer) printLines(of create.Outcome, line v1alpha1.CreateLine) error {
	p.inLines.Lock()
	defer p.inLines.Unlock()
	if p.taken {
		return nil
	}
	p.job = of.Job
	return p.checked(p.writeLines(of, line))
}

// writeLines writes text in which no string can write to a terminal or is a command for a CI system.
func (p *printer) writeLines(of create.Outcome, line v1alpha1.CreateLine) error {
	text, err := json.Marshal(line)
	for range max(1, of.Copies) {
		if err == nil {
			_, err = fmt.Fprintln(p.out, terminal.Escaped(string(text)))
		}
	}
	return err
}

// takeLines ends the lines of the run, which hangs. takeLines returns false if the run has no lines, or if stdout keeps
// one of them back.
func (p *printer) takeLines() bool {
	return p.format == formatLines && inTime(func() {
		p.inLines.Lock()
		defer p.inLines.Unlock()
		p.taken = true
	})
}

// printUnseen prints the lines of a run that was abandoned after takeLines, and reports whether it has printed all.
func (p *printer) printUnseen(unseen []create.Outcome, dryRun cmdutil.DryRunStrategy) bool {
	isWritten := true
	return inTime(func() {
		for _, o := range unseen {
			if o.Job != 0 && o.Job == p.job { // the run has not handled more than its line
				continue
			}
			var err error
			if o.Outcome == protocol.Unknown && o.Err == nil {
				err = errors.New(textInterrupted)
			}
			isWritten = p.writeLines(o, lineOf(o, dryRun, err)) == nil && isWritten
		}
	}) && isWritten
}

// inTime reports whether a function ends within maxPrinting. Otherwise the function goes on.
func inTime(do func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	select {
	case <-ended:
		return true
	case <-time.After(maxPrinting):
		return false
	}
}

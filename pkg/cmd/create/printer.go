package create

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// errNotWritten is the reason for the end of a run that can't write its results.
var errNotWritten = errors.New("the results cannot be written")

// disableCommands makes whole objects print no command for a CI system. Others can have changed an object that exists.
func (o *options) disableCommands() error {
	switch *o.PrintFlags.OutputFormat {
	case "json":
		if !terminal.IsTerminal(o.Out) {
			o.Out = &output.CheckedWriter{Writer: output.InertJSON(o.Out)}
		}
	case "yaml", "kyaml":
		kubectls, err := o.PrintFlags.ToPrinter()
		if err != nil {
			return err
		}
		printer := output.InertYAML(kubectls)
		o.PrintObj = func(object runtime.Object) error { return printer.PrintObj(object, o.Out) }
	}
	return nil
}

// printer prints objects on stdout in the format that the user asked for.
type printer struct {
	out        io.Writer
	lines      genericclioptions.NamePrintFlags // for output without -o
	format     string                           // of -o
	fullObject bool                             // the format shows more of an object than its name
	operation  string                           // "created", or "created (dry run)"
	dryRun     cmdutil.DryRunStrategy
	kubectls   func(runtime.Object) error
	stop       context.CancelCauseFunc

	inLines sync.Mutex      // held while lines of -o jsonl are written; guards the fields below
	job     int             // of the last line
	ended   map[string]bool // the UIDs of the objects whose results have lines
	taken   bool            // only giveUp may write the last lines
}

func (o *options) newPrinter(stop context.CancelCauseFunc) *printer {
	flags := o.PrintFlags
	return &printer{
		out: o.Out, lines: *flags.NamePrintFlags, format: *flags.OutputFormat, fullObject: showsObject(flags),
		operation: flags.NamePrintFlags.Operation, dryRun: o.DryRunStrategy, kubectls: o.PrintObj, stop: stop,
	}
}

// showsObject reports whether the format shows more of an object than its name.
func showsObject(flags *genericclioptions.PrintFlags) bool {
	switch *flags.OutputFormat {
	case "":
		return *flags.TemplatePrinterFlags.TemplateArgument != ""
	case "name", formatLines:
		return false
	}
	return true
}

// print prints an object, except in lines. After stdout is closed, the run creates nothing more.
func (p *printer) print(object runtime.Object, operation string) error {
	if p.format == formatLines {
		return nil
	}
	return p.checked(p.write(object, operation))
}

func (p *printer) checked(err error) error {
	if out, ok := p.out.(*output.CheckedWriter); ok && out.Err() != nil {
		err = out.Err()
		p.stop(errNotWritten)
	}
	return err
}

// write refuses for -o name a name that could write to a terminal, or that would be two lines, because readers of -o
// name take the name as it is. A line without -o is as kubectl's, with control characters escaped. Names can come from
// a cluster.
func (p *printer) write(object runtime.Object, operation string) error {
	switch metadata, err := meta.Accessor(object); {
	case p.fullObject:
		return p.kubectls(object)
	case p.format == "":
	case err == nil && terminal.Escaped(metadata.GetName()) != metadata.GetName():
		return errors.New("its name has control characters, which -o name doesn't escape. Use -o json")
	default:
		return p.kubectls(object)
	}
	p.lines.Operation = operation
	named, err := p.lines.ToPrinter("")
	if err != nil {
		return err
	}
	var line strings.Builder
	if err := named.PrintObj(object, &line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, terminal.Escaped(strings.TrimSuffix(line.String(), "\n")))
	return err
}

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

var resultsInLines = map[wait.Result]v1alpha1.CreateResult{
	wait.Succeeded:   v1alpha1.CreateSucceeded,
	wait.Failed:      v1alpha1.CreateHasFailed,
	wait.OutOfTime:   v1alpha1.CreateUnfinished,
	wait.Interrupted: v1alpha1.CreateUnfinished,
	wait.Deleted:     v1alpha1.CreateDeleted,
	wait.Replaced:    v1alpha1.CreateDeleted,
	wait.Abandoned:   v1alpha1.CreateUnread,
}

// outcomeLine prints the line of an outcome. failure is what stderr has about the object.
func (p *printer) outcomeLine(o create.Outcome, failure error) error {
	if p.format != formatLines {
		return nil
	}
	line := p.lineOf(o, failure)
	if err := p.printLines(o, line); err != nil {
		return ownErrorf("the outcome of %s can't be printed: %v", o.Document.Argument(line.Name), err)
	}
	return nil
}

func (p *printer) lineOf(o create.Outcome, failure error) v1alpha1.CreateLine {
	line := v1alpha1.CreateLine{
		Outcome: outcomesInLines[o.Outcome], Namespace: o.Document.Namespace,
		Name:         cmp.Or(likelyName(o), o.Document.Object.GetName()),
		GenerateName: o.Document.Object.GetGenerateName(),
	}
	line.APIVersion, line.Kind = o.Document.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	switch {
	case p.dryRun != cmdutil.DryRunNone && o.Outcome == protocol.Created:
		line.Outcome = v1alpha1.CreateDryRun
	case p.dryRun != cmdutil.DryRunNone && o.Outcome == protocol.Unknown: // nothing exists
		line.Outcome = v1alpha1.CreateFailed
	case p.dryRun != cmdutil.DryRunNone, o.Object == nil:
	case o.Outcome == protocol.Created, o.Outcome == protocol.Found, o.Outcome == create.Renamed:
		line.UID = string(o.Object.GetUID())
	}
	if failure == nil && o.Err != nil {
		failure = apistatus.Brief(o.Err)
	}
	if failure != nil {
		line.Error = terminal.OneLine(failure.Error())
	}
	return line
}

// resultLine prints the line of an object whose wait has ended.
func (p *printer) resultLine(e wait.Ended) error {
	if p.format != formatLines {
		return nil
	}
	if err := p.printLines(create.Outcome{}, resultOf(e)); err != nil {
		return ownErrorf("the result of %s can't be printed: %v", nameOf(e.Object), err)
	}
	return nil
}

func resultOf(e wait.Ended) v1alpha1.CreateLine {
	line := v1alpha1.CreateLine{
		Result: resultsInLines[e.Result], Namespace: e.Object.Namespace, Name: e.Object.Name,
		UID: string(e.Object.UID),
	}
	line.APIVersion, line.Kind = e.Object.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	switch {
	case e.Err != nil:
		line.Error = terminal.OneLine(apistatus.Brief(e.Err).Error())
	case e.Result == wait.Failed && e.Status.State == finished.Succeeded: // this reason is about the success
		line.Error = "succeeded without meeting --for"
	case e.Result == wait.Failed:
		line.Error = strings.TrimLeft(why(e), " :")
	}
	return line
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
	if line.Result != "" {
		if p.ended == nil {
			p.ended = map[string]bool{}
		}
		p.ended[line.UID] = true
	}
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
	return p.format == formatLines && terminal.Within(maxPrinting, func() {
		p.inLines.Lock()
		defer p.inLines.Unlock()
		p.taken = true
	})
}

// printUnseen prints the lines of a run that was abandoned after takeLines, and reports whether it has printed all.
// ends are the results of objects that might have no line yet.
func (p *printer) printUnseen(unseen []create.Outcome, ends []wait.Ended) bool {
	isWritten := true
	return terminal.Within(maxPrinting, func() {
		for _, o := range unseen {
			if o.Job != 0 && o.Job == p.job { // the run has only printed the line of this outcome
				continue
			}
			var err error
			if o.Outcome == protocol.Unknown && o.Err == nil {
				err = errors.New(textInterrupted)
			}
			isWritten = p.writeLines(o, p.lineOf(o, err)) == nil && isWritten
		}
		for _, e := range ends {
			if !p.ended[string(e.Object.UID)] {
				isWritten = p.writeLines(create.Outcome{}, resultOf(e)) == nil && isWritten
			}
		}
	}) && isWritten
}

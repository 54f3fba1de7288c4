package create

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// errNotWritten is why a run is stopped that nobody would see the results of.
var errNotWritten = errors.New("the results cannot be written")

// results prints what becomes of the objects of a run, and counts them. One
// goroutine has it.
type results struct {
	*options
	ctx  context.Context
	stop context.CancelCauseFunc

	printer  printer
	progress *terminal.Progress // on a terminal that does not show the results themselves

	totals totals
	end    create.End
	errs   []error
	said   map[*create.Document]bool // why one of its copies failed
	unsaid bool                      // copies failed in the same way as another one
	warned map[string]bool
}

func (o *options) newResults(ctx context.Context, stop context.CancelCauseFunc) (*results, error) {
	printer, err := o.newPrinter()
	if err != nil {
		return nil, err
	}
	r := &results{
		options: o, ctx: ctx, stop: stop, printer: printer,
		said: map[*create.Document]bool{}, warned: map[string]bool{},
	}
	if !terminal.IsTerminal(o.Out) {
		r.progress = terminal.StartProgress(o.ErrOut)
	}
	if o.flags.suffixLength != names.SuffixLength {
		r.warn(fmt.Sprintf("names will end in %d random characters: whatever takes a generated name apart "+
			"by its last 5, kubectl genname audit too, does not know them", o.flags.suffixLength))
	}
	return r, nil
}

// take prints one event and counts it.
func (r *results) take(event create.Event) {
	switch e := event.(type) {
	case create.Created:
		r.totals.created++
		r.collect(e.Document, r.print(e.Document, e.Result.Object))
	case create.Unchanged:
		r.totals.unchanged++
		r.collect(e.Document, r.printUnchanged(e))
	case create.Shown:
		r.collect(e.Document, r.printer.created(e.Object))
	case create.Failed:
		r.totals.failed++
		r.collect(e.Document, r.print(e.Document, e.Result.Object), r.failure(e.Document, e.Err))
	case create.Unknown:
		r.collect(e.Document, r.print(e.Document, e.Result.Object), r.unknown(e))
	case create.NotAttempted:
		r.totals.notAttempted += e.Copies
	case create.Retry:
		r.say(terminal.OneLine(fmt.Sprintf("%s: %v; %s",
			e.Document.Reference(e.Retry.Name), apistatus.Brief(e.Retry.Reason), e.Retry.What())))
	case create.Warning:
		r.warn(e.Text)
	case create.Problem:
		r.fail(explainStrangers(e.Err))
	case create.End:
		r.end = e
	}
	if r.progress != nil {
		r.progress.Say(r.totals.String())
	}
}

// fail remembers an error for the end.
func (r *results) fail(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// collect remembers the first errors of the document's copies: those of the
// others differ in their names only.
func (r *results) collect(d *create.Document, errs ...error) {
	err := utilerrors.NewAggregate(errs) // of those that are not nil
	switch {
	case err == nil:
	case r.said[d]:
		r.unsaid = true
	default:
		r.said[d] = true
		r.errs = append(r.errs, utilerrors.Flatten(err).Errors()...) // listed as documents' are
	}
}

// say writes a line on stderr.
func (r *results) say(text string) {
	if r.progress != nil {
		r.progress.Line(text)
		return
	}
	fmt.Fprintln(r.ErrOut, text)
}

// warn writes a warning on stderr, once.
func (r *results) warn(text string) {
	if !r.warned[text] {
		r.warned[text] = true
		r.say("Warning: " + terminal.Printable(text))
	}
}

// print prints the object that the server stored, if it said. One that cannot
// be printed is named in the error, for it is there. When stdout is gone,
// nothing more is created, for nobody would see it.
func (r *results) print(d *create.Document, object *unstructured.Unstructured) error {
	if object == nil {
		return nil
	}
	err := r.printer.created(object)
	if out, ok := r.Out.(*output.CheckedWriter); ok && out.Err() != nil {
		err = out.Err()
		r.stop(errNotWritten)
	}
	if err != nil && !r.flags.kubectlsWords() {
		err = fmt.Errorf("%s was created, but cannot be printed: %w", d.Reference(object.GetName()), err)
	}
	return err
}

func (r *results) printUnchanged(e create.Unchanged) error {
	if e.Err != nil {
		return fmt.Errorf("%s is there, but cannot be shown: %w", e.Document.Reference(e.Name), e.Err)
	}
	return r.printer.unchanged(e.Object)
}

// failure is the error of an object that failed, in kubectl's words.
func (r *results) failure(d *create.Document, err error) error {
	if !r.flags.kubectlsWords() {
		err = explainBoth(err, d.Object)
	}
	return cmdutil.AddSourceToErr("creating", d.Source, err)
}

// explainBoth corrects the server's words for a conflict of an object with a
// name and a generateName, which say that a name could not be generated.
func explainBoth(err error, object *unstructured.Unstructured) error {
	if object.GetGenerateName() == "" || object.GetName() == "" || !apierrors.IsAlreadyExists(err) {
		return err
	}
	return apistatus.Explain(err,
		" (the object has a name and a generateName: the name wins, and generateName is ignored)")
}

// unknown says the line of an object whose outcome is not known, at once: a
// run that is killed must not keep it. For a dry run it is a failure; and who
// asked for kubectl's words gets those.
func (r *results) unknown(e create.Unknown) error {
	if r.DryRunStrategy == cmdutil.DryRunServer {
		r.totals.failed++
		return r.failure(e.Document, e.Err)
	}
	r.totals.unknown++
	if r.flags.kubectlsWords() {
		return r.failure(e.Document, e.Err)
	}
	r.say(terminal.OneLine(fmt.Sprintf("%s: outcome unknown: %v",
		e.Document.Argument(e.Result.Name), apistatus.Brief(e.Err))))
	return nil
}

// printer prints objects in the format that the user asked for.
type printer struct {
	created   func(runtime.Object) error
	unchanged func(runtime.Object) error
}

// showsWhole reports whether the format shows more of an object than its name.
func (o *options) showsWhole() bool {
	format := *o.PrintFlags.OutputFormat
	return format != "" && format != "name" || *o.PrintFlags.TemplatePrinterFlags.TemplateArgument != ""
}

func (o *options) newPrinter() (printer, error) {
	p := printer{created: o.PrintObj, unchanged: o.PrintObj}
	if *o.PrintFlags.OutputFormat != "" || o.showsWhole() {
		return p, nil
	}
	flags := *o.PrintFlags.NamePrintFlags
	flags.Operation = "unchanged"
	unchanged, err := flags.ToPrinter("")
	p.unchanged = func(object runtime.Object) error { return unchanged.PrintObj(object, o.Out) }
	return p, err
}
